def loop(slots, state0, state0_valid, state1, state1_valid, input0, input0_valid, input1, input1_valid, input2,
        input2_valid, after0, after0_valid, after1, after1_valid):
    # A row in each slot, set one after another; returns -1, or the row of a number that does not fit.
    # old0 is old.total
    # old1 is old.n
    # input0 is 0
    # input1 is v
    # input2 is 1
    for row in range(len(slots)):
        slot = slots[row]
        old0 = state0[slot]
        old0_valid = state0_valid[slot]
        old1 = state1[slot]
        old1_valid = state1_valid[slot]
        # old.total = coalesce(old.total, 0) + v
        valid0 = (old0_valid or input0_valid[row])
        value0 = old0 if old0_valid else input0[row]
        if (((input1[row] + 0) > 0 and value0 > 9223372036854775807 - (input1[row] + 0)) or ((input1[row] + 0) < 0 and value0 < -9223372036854775808 - (input1[row] + 0))) and valid0 and input1_valid[row]:
            return row
        valid1 = valid0 and input1_valid[row]
        value1 = value0 + (input1[row] + 0)
        # old.n = coalesce(old.n, 0) + 1
        valid2 = (old1_valid or input0_valid[row])
        value2 = (old1 + 0) if old1_valid else input0[row]
        if ((input2[row] > 0 and value2 > 9223372036854775807 - input2[row]) or (input2[row] < 0 and value2 < -9223372036854775808 - input2[row])) and valid2 and input2_valid[row]:
            return row
        valid3 = valid2 and input2_valid[row]
        value3 = value2 + input2[row]
        if (not (-2147483648 <= value3 <= 2147483647)) and valid3:
            return row
        state0[slot] = value1 if valid1 else 0
        state0_valid[slot] = valid1
        state1[slot] = value3 if valid3 else 0
        state1_valid[slot] = valid3
        after0[row] = state0[slot]
        after0_valid[row] = state0_valid[slot]
        after1[row] = state1[slot]
        after1_valid[row] = state1_valid[slot]
    return -1
