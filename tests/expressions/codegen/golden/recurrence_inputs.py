def loop(slots, state0, state0_valid, state1, state1_valid, input0, input0_valid, input1, input1_valid, after0,
        after0_valid, after1, after1_valid):
    # A row in each slot, set one after another; returns -1, or the row of a number that does not fit.
    # old0 is old.total
    # old1 is old.m
    # input0 is length(s)
    # input1 is cast(price as double)
    for row in range(len(slots)):
        slot = slots[row]
        old0 = state0[slot]
        old0_valid = state0_valid[slot]
        old1 = state1[slot]
        old1_valid = state1_valid[slot]
        # old.total = old.total + length(s)
        if (((input0[row] + 0) > 0 and old0 > 9223372036854775807 - (input0[row] + 0)) or ((input0[row] + 0) < 0 and old0 < -9223372036854775808 - (input0[row] + 0))) and old0_valid and input0_valid[row]:
            return row
        valid0 = old0_valid and input0_valid[row]
        value0 = old0 + (input0[row] + 0)
        # old.m = old.m + cast(price as double)
        valid1 = old1_valid and input1_valid[row]
        value1 = old1 + input1[row]
        state0[slot] = value0 if valid0 else 0
        state0_valid[slot] = valid0
        state1[slot] = value1 if valid1 else 0
        state1_valid[slot] = valid1
        after0[row] = state0[slot]
        after0_valid[row] = state0_valid[slot]
        after1[row] = state1[slot]
        after1_valid[row] = state1_valid[slot]
    return -1
