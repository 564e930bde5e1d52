def loop(kept, counts, column0, column1, made0, made1, made2, made3):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # made0 is plus
    # made1 is minus
    # made2 is back
    # made3 is size
    filled = passed0 = 0
    for row in range(len(kept)):
        # plus = n + i
        if (((column1[row] + 0) > 0 and column0[row] > 9223372036854775807 - (column1[row] + 0)) or ((column1[row] + 0) < 0 and column0[row] < -9223372036854775808 - (column1[row] + 0))):
            return row
        value0 = column0[row] + (column1[row] + 0)
        # minus = n - 7
        if ((7 < 0 and column0[row] > 9223372036854775807 + 7) or (7 > 0 and column0[row] < -9223372036854775808 + 7)):
            return row
        value1 = column0[row] - 7
        # back = -i
        if ((column1[row] + 0) < -9223372036854775807):
            return row
        value2 = -(column1[row] + 0)
        # size = abs(n)
        if (column0[row] < -9223372036854775807):
            return row
        value3 = abs(column0[row])
        passed0 += 1
        made0[filled] = value0
        made1[filled] = value1
        made2[filled] = value2
        made3[filled] = value3
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
