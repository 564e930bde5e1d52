def loop(slots, state0, state0_valid, state1, state1_valid, after0, after0_valid, after1, after1_valid):
    # A row in each slot, set one after another; returns -1, or the row of a number that does not fit.
    # old0 is old.total
    # old1 is old.up
    for row in range(len(slots)):
        slot = slots[row]
        old0 = state0[slot]
        old0_valid = state0_valid[slot]
        old1 = state1[slot]
        old1_valid = state1_valid[slot]
        # old.up = not old.up
        valid0 = old1_valid
        value0 = not old1
        state1[slot] = value0 if valid0 else 0
        state1_valid[slot] = valid0
        after0[row] = state0[slot]
        after0_valid[row] = state0_valid[slot]
        after1[row] = state1[slot]
        after1_valid[row] = state1_valid[slot]
    return -1
