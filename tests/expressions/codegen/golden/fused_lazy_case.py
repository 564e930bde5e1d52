def loop(kept, counts, column0, column1, column2, made0):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is up
    # column2 is i
    # made0 is a
    filled = passed0 = 0
    for row in range(len(kept)):
        # a = case when n < 1000 then n * n when up then n + 1 else i end
        value0 = column0[row] < 1000
        if (abs(float(column0[row]) * float(column0[row])) > 9.2e18 and ((column0[row] < -9223372036854775807 and column0[row] != 1) or (column0[row] < -9223372036854775807 and column0[row] != 1) or abs(column0[row]) > 9223372036854775807 // abs(column0[row]))) and (value0):
            return row
        value1 = column0[row] * column0[row]
        if ((1 > 0 and column0[row] > 9223372036854775807 - 1) or (1 < 0 and column0[row] < -9223372036854775808 - 1)) and not (value0) and (column1[row]):
            return row
        value2 = column0[row] + 1
        value3 = value2 if (column1[row]) else (column2[row] + 0)
        value4 = value1 if (value0) else value3
        passed0 += 1
        made0[filled] = value4
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
