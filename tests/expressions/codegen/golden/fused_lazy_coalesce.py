def loop(kept, counts, column0, column1, made0, made1):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # made0 is a
    # made1 is none
    filled = passed0 = 0
    for row in range(len(kept)):
        # a = coalesce(n // i, n * n, 0)
        if (column0[row] < -9223372036854775807 or (column1[row] + 0) < -9223372036854775807) and (column1[row] + 0) != 0:
            return row
        valid0 = (column1[row] + 0) != 0
        value0 = abs(column0[row]) // abs((column1[row] + 0)) if valid0 else 0
        valid1 = (column1[row] + 0) != 0
        value1 = -value0 if (column0[row] < 0) != ((column1[row] + 0) < 0) else value0
        if (abs(float(column0[row]) * float(column0[row])) > 9.2e18 and ((column0[row] < -9223372036854775807 and column0[row] != 1) or (column0[row] < -9223372036854775807 and column0[row] != 1) or abs(column0[row]) > 9223372036854775807 // abs(column0[row]))) and not valid1:
            return row
        value2 = column0[row] * column0[row]
        value3 = value1 if valid1 else value2
        value4 = value3 if True else 0
        # none = n // i is null
        if (column0[row] < -9223372036854775807 or (column1[row] + 0) < -9223372036854775807) and (column1[row] + 0) != 0:
            return row
        valid5 = (column1[row] + 0) != 0
        value5 = abs(column0[row]) // abs((column1[row] + 0)) if valid5 else 0
        valid6 = (column1[row] + 0) != 0
        value6 = -value5 if (column0[row] < 0) != ((column1[row] + 0) < 0) else value5
        value7 = not valid6
        passed0 += 1
        made0[filled] = value4
        made1[filled] = value7
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
