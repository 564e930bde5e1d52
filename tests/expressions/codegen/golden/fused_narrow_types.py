def loop(kept, counts, column0, column1, column2, column3, made0, made2):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is up
    # column1 is b
    # column2 is i
    # column3 is f
    # made0 is b
    # made2 is f
    filled = passed0 = 0
    for row in range(len(kept)):
        # b = case when up then b else i end
        value0 = (column1[row] + 0) if (column0[row]) else (column2[row] + 0)
        if (not (-2147483648 <= value0 <= 2147483647)):
            return row
        # f = f * 2
        value1 = (column3[row] * 1.0) * 2
        passed0 += 1
        made0[filled] = value0
        made2[filled] = value1
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
