def loop(kept, counts, column0, column1, column2, made2, made3, made3_valid):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is up
    # column1 is n
    # column2 is i
    # made2 is n
    # made3 is half
    filled = passed0 = passed1 = passed2 = passed3 = 0
    for row in range(len(kept)):
        # where up
        if not (column0[row]):
            continue
        passed0 += 1
        # n = n + i
        if (((column2[row] + 0) > 0 and column1[row] > 9223372036854775807 - (column2[row] + 0)) or ((column2[row] + 0) < 0 and column1[row] < -9223372036854775808 - (column2[row] + 0))):
            return row
        value0 = column1[row] + (column2[row] + 0)
        passed1 += 1
        # n = n * 2
        if (abs(float(value0) * float(2)) > 9.2e18 and ((value0 < -9223372036854775807 and 2 != 1) or (2 < -9223372036854775807 and value0 != 1) or abs(value0) > 9223372036854775807 // abs(2))):
            return row
        value1 = value0 * 2
        # half = n / i
        valid2 = (column2[row] + 0) != 0
        value2 = value0 / (column2[row] + 0) if valid2 else 0.0
        passed2 += 1
        # where n > 10 or half < 0.5
        value3 = value1 > 10
        valid4 = valid2
        value4 = value2 < 0.5
        valid5 = (valid4) or ((value3) or (valid4 and value4))
        value5 = ((value3) or (valid4 and value4))
        if not (valid5 and value5):
            continue
        passed3 += 1
        made2[filled] = value1
        made3[filled] = value2 if valid2 else 0
        made3_valid[filled] = valid2
        kept[row] = True
        filled += 1
    counts[0] = passed0
    counts[1] = passed1
    counts[2] = passed2
    counts[3] = passed3
    return -1
