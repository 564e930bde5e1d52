def loop(slots, state0, state0_valid, input0, input0_valid, input1, input1_valid, after0, after0_valid,
        returned0, returned0_valid, returned1, returned1_valid, returned2, returned2_valid):
    # A row in each slot, set one after another; returns -1, or the row of a number that does not fit.
    # old0 is old.total
    # input0 is v
    # input1 is old.up
    for row in range(len(slots)):
        slot = slots[row]
        old0 = state0[slot]
        old0_valid = state0_valid[slot]
        # returned: old.total - v
        if (((input0[row] + 0) < 0 and old0 > 9223372036854775807 + (input0[row] + 0)) or ((input0[row] + 0) > 0 and old0 < -9223372036854775808 + (input0[row] + 0))) and old0_valid and input0_valid[row]:
            return row
        valid0 = old0_valid and input0_valid[row]
        value0 = old0 - (input0[row] + 0)
        # returned: old.total is null
        value1 = not old0_valid
        # returned: old.up
        # old.total = v
        returned0[row] = value0 if valid0 else 0
        returned0_valid[row] = valid0
        returned1[row] = value1 if True else 0
        returned1_valid[row] = True
        returned2[row] = input1[row] if input1_valid[row] else 0
        returned2_valid[row] = input1_valid[row]
        state0[slot] = (input0[row] + 0) if input0_valid[row] else 0
        state0_valid[slot] = input0_valid[row]
        after0[row] = state0[slot]
        after0_valid[row] = state0_valid[slot]
    return -1
