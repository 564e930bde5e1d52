def loop(kept, counts, column0):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    filled = passed0 = 0
    for row in range(len(kept)):
        # where n < 1000 and n * n > 100
        value0 = column0[row] < 1000
        if (abs(float(column0[row]) * float(column0[row])) > 9.2e18 and ((column0[row] < -9223372036854775807 and column0[row] != 1) or (column0[row] < -9223372036854775807 and column0[row] != 1) or abs(column0[row]) > 9223372036854775807 // abs(column0[row]))) and not (not value0):
            return row
        value1 = column0[row] * column0[row]
        value2 = value1 > 100
        value3 = value0 and value2
        if not (value3):
            continue
        passed0 += 1
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
