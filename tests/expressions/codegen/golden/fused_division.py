def loop(kept, counts, column0, column1, column2, column3, made0, made0_valid, made1, made2, made2_valid,
        made3):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # column2 is x
    # column3 is f
    # made0 is whole
    # made1 is rest
    # made2 is real
    # made3 is half
    filled = passed0 = 0
    for row in range(len(kept)):
        # whole = n // i
        if (column0[row] < -9223372036854775807 or (column1[row] + 0) < -9223372036854775807) and (column1[row] + 0) != 0:
            return row
        valid0 = (column1[row] + 0) != 0
        value0 = abs(column0[row]) // abs((column1[row] + 0)) if valid0 else 0
        valid1 = (column1[row] + 0) != 0
        value1 = -value0 if (column0[row] < 0) != ((column1[row] + 0) < 0) else value0
        # rest = n % 10
        if (column0[row] < -9223372036854775807):
            return row
        value2 = abs(column0[row]) % abs(10)
        value3 = -value2 if column0[row] < 0 else value2
        # real = x / f
        valid4 = (column3[row] * 1.0) != 0
        value4 = column2[row] / (column3[row] * 1.0) if valid4 else 0.0
        # half = n / 2
        value5 = column0[row] / 2
        passed0 += 1
        made0[filled] = value1 if valid1 else 0
        made0_valid[filled] = valid1
        made1[filled] = value3
        made2[filled] = value4 if valid4 else 0
        made2_valid[filled] = valid4
        made3[filled] = value5
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
