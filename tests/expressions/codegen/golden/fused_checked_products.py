def loop(kept, counts, column0, column1, made0, made1):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # made0 is times
    # made1 is square
    filled = passed0 = 0
    for row in range(len(kept)):
        # times = n * i
        if (abs(float(column0[row]) * float((column1[row] + 0))) > 9.2e18 and ((column0[row] < -9223372036854775807 and (column1[row] + 0) != 1) or ((column1[row] + 0) < -9223372036854775807 and column0[row] != 1) or abs(column0[row]) > 9223372036854775807 // abs((column1[row] + 0)))):
            return row
        value0 = column0[row] * (column1[row] + 0)
        # square = n * n
        if (abs(float(column0[row]) * float(column0[row])) > 9.2e18 and ((column0[row] < -9223372036854775807 and column0[row] != 1) or (column0[row] < -9223372036854775807 and column0[row] != 1) or abs(column0[row]) > 9223372036854775807 // abs(column0[row]))):
            return row
        value1 = column0[row] * column0[row]
        passed0 += 1
        made0[filled] = value0
        made1[filled] = value1
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
