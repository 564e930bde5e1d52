def add(slots, rows, valid, n, state0, state1, state2, argument0, argument1):
    # Adds tuples to windows with weighted, but for those in no slot or with a null argument.
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        if n[slot] == 0:
            state0[slot], state1[slot], state2[slot], = init()
        state0[slot], state1[slot], state2[slot], = incr((state0[slot], state1[slot], state2[slot],), argument0[row], argument1[row])
        n[slot] += 1
