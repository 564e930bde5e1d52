def loop(kept, counts, column0, column1, column2, column3, made0, made1):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # column2 is x
    # column3 is f
    # made0 is high
    # made1 is low
    filled = passed0 = 0
    for row in range(len(kept)):
        # high = greatest(n // i, n, i)
        if (column0[row] < -9223372036854775807 or (column1[row] + 0) < -9223372036854775807) and (column1[row] + 0) != 0:
            return row
        valid0 = (column1[row] + 0) != 0
        value0 = abs(column0[row]) // abs((column1[row] + 0)) if valid0 else 0
        valid1 = (column1[row] + 0) != 0
        value1 = -value0 if (column0[row] < 0) != ((column1[row] + 0) < 0) else value0
        value2 = column0[row] if (not valid1 or (column0[row] > value1 or column0[row] != column0[row])) else value1
        value3 = (column1[row] + 0) if ((column1[row] + 0) > value2 or (column1[row] + 0) != (column1[row] + 0)) else value2
        # low = least(x / f, x)
        valid4 = (column3[row] * 1.0) != 0
        value4 = column2[row] / (column3[row] * 1.0) if valid4 else 0.0
        value5 = column2[row] if (not valid4 or (column2[row] < value4 or value4 != value4)) else value4
        passed0 += 1
        made0[filled] = value3
        made1[filled] = value5
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
