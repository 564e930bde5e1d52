def loop(slots, state0, state0_valid, input0, input0_valid, input1, input1_valid, input2, input2_valid, after0,
        after0_valid):
    # A row in each slot, set one after another; returns -1, or the row of a number that does not fit.
    # old0 is old.total
    # input0 is v
    # input1 is v is null
    # input2 is 0
    for row in range(len(slots)):
        slot = slots[row]
        old0 = state0[slot]
        old0_valid = state0_valid[slot]
        # old.total = case when old.total > v then old.total * v when v is null then 0 end
        valid0 = old0_valid and input0_valid[row]
        value0 = old0 > (input0[row] + 0)
        if (abs(float(old0) * float((input0[row] + 0))) > 9.2e18 and ((old0 < -9223372036854775807 and (input0[row] + 0) != 1) or ((input0[row] + 0) < -9223372036854775807 and old0 != 1) or abs(old0) > 9223372036854775807 // abs((input0[row] + 0)))) and (valid0 and value0) and old0_valid and input0_valid[row]:
            return row
        valid1 = old0_valid and input0_valid[row]
        value1 = old0 * (input0[row] + 0)
        valid2 = input2_valid[row] if (input1_valid[row] and input1[row]) else False
        value2 = input2[row] if (input1_valid[row] and input1[row]) else 0
        valid3 = valid1 if (valid0 and value0) else valid2
        value3 = value1 if (valid0 and value0) else value2
        state0[slot] = value3 if valid3 else 0
        state0_valid[slot] = valid3
        after0[row] = state0[slot]
        after0_valid[row] = state0_valid[slot]
    return -1
