def loop(kept, counts, column0, column1, column2, column3):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is x
    # column2 is f
    # column3 is i
    filled = passed0 = passed1 = passed2 = passed3 = 0
    for row in range(len(kept)):
        # where n > 40
        value0 = column0[row] > 40
        if not (value0):
            continue
        passed0 += 1
        # where x <= f
        value1 = column1[row] <= (column2[row] * 1.0)
        if not (value1):
            continue
        passed1 += 1
        # where n = 3.0
        value2 = column0[row] == 3
        if not (value2):
            continue
        passed2 += 1
        # where i != 2.5
        value3 = (column3[row] + 0) != 2.5
        if not (value3):
            continue
        passed3 += 1
        kept[row] = True
        filled += 1
    counts[0] = passed0
    counts[1] = passed1
    counts[2] = passed2
    counts[3] = passed3
    return -1
