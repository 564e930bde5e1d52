def loop(slots, state0, state0_valid, state1, state1_valid, input0, input0_valid, input1, input1_valid, after0,
        after0_valid, after1, after1_valid):
    # A row in each slot, set one after another; returns -1, or the row of a number that does not fit.
    # old0 is old.m
    # old1 is old.n
    # input0 is x
    # input1 is v
    for row in range(len(slots)):
        slot = slots[row]
        old0 = state0[slot]
        old0_valid = state0_valid[slot]
        old1 = state1[slot]
        old1_valid = state1_valid[slot]
        # old.m = greatest(old.m, x)
        valid0 = (old0_valid or input0_valid[row])
        value0 = input0[row] if input0_valid[row] and (not old0_valid or (input0[row] > old0 or input0[row] != input0[row])) else old0
        # old.n = least(old.n, v)
        valid1 = (old1_valid or input1_valid[row])
        value1 = (input1[row] + 0) if input1_valid[row] and (not old1_valid or ((input1[row] + 0) < (old1 + 0) or (old1 + 0) != (old1 + 0))) else (old1 + 0)
        if (not (-2147483648 <= value1 <= 2147483647)) and valid1:
            return row
        state0[slot] = value0 if valid0 else 0
        state0_valid[slot] = valid0
        state1[slot] = value1 if valid1 else 0
        state1_valid[slot] = valid1
        after0[row] = state0[slot]
        after0_valid[row] = state0_valid[slot]
        after1[row] = state1[slot]
        after1_valid[row] = state1_valid[slot]
    return -1
