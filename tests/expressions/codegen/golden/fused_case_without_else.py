def loop(kept, counts, column0, column1, column2, made0, made0_valid):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # column2 is up
    # made0 is a
    filled = passed0 = 0
    for row in range(len(kept)):
        # a = case when n // i > 3 then n when up then i end
        if (column0[row] < -9223372036854775807 or (column1[row] + 0) < -9223372036854775807) and (column1[row] + 0) != 0:
            return row
        valid0 = (column1[row] + 0) != 0
        value0 = abs(column0[row]) // abs((column1[row] + 0)) if valid0 else 0
        valid1 = (column1[row] + 0) != 0
        value1 = -value0 if (column0[row] < 0) != ((column1[row] + 0) < 0) else value0
        valid2 = valid1
        value2 = value1 > 3
        valid3 = True if (column2[row]) else False
        value3 = (column1[row] + 0) if (column2[row]) else 0
        valid4 = True if (valid2 and value2) else valid3
        value4 = column0[row] if (valid2 and value2) else value3
        passed0 += 1
        made0[filled] = value4 if valid4 else 0
        made0_valid[filled] = valid4
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
