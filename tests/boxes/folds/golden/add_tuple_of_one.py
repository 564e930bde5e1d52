def add(slots, rows, valid, n, state0, argument0):
    # Adds tuples to windows with weighted, but for those in no slot or with a null argument.
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        if n[slot] == 0:
            state0[slot], = init()
        state0[slot], = incr((state0[slot],), argument0[row])
        n[slot] += 1
