def loop(kept, counts, column0, column1, made0, made1):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is x
    # column1 is f
    # made0 is high
    # made1 is low
    filled = passed0 = 0
    for row in range(len(kept)):
        # high = greatest(x, f, 0.5)
        value0 = (column1[row] * 1.0) if ((column1[row] * 1.0) > column0[row] or (column1[row] * 1.0) != (column1[row] * 1.0)) else column0[row]
        value1 = 0.5 if (0.5 > value0 or 0.5 != 0.5) else value0
        # low = least(x, f)
        value2 = (column1[row] * 1.0) if ((column1[row] * 1.0) < column0[row] or column0[row] != column0[row]) else column0[row]
        passed0 += 1
        made0[filled] = value1
        made1[filled] = value2
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
