def loop(kept, counts, column0, column1, column2, column3, column4):
    # Steps over rows without nulls; returns -1, or the row of a number that does not fit.
    # column0 is n
    # column1 is i
    # column2 is x
    # column3 is f
    # column4 is up
    filled = passed0 = 0
    for row in range(len(kept)):
        # where n // i > 2 or x / f > 1 or not up
        if (column0[row] < -9223372036854775807 or (column1[row] + 0) < -9223372036854775807) and (column1[row] + 0) != 0:
            return row
        valid0 = (column1[row] + 0) != 0
        value0 = abs(column0[row]) // abs((column1[row] + 0)) if valid0 else 0
        valid1 = (column1[row] + 0) != 0
        value1 = -value0 if (column0[row] < 0) != ((column1[row] + 0) < 0) else value0
        valid2 = valid1
        value2 = value1 > 2
        valid3 = (column3[row] * 1.0) != 0
        value3 = column2[row] / (column3[row] * 1.0) if valid3 else 0.0
        valid4 = valid3
        value4 = value3 > 1
        valid5 = (valid2 and valid4) or ((valid2 and value2) or (valid4 and value4))
        value5 = ((valid2 and value2) or (valid4 and value4))
        value6 = not column4[row]
        valid7 = (valid5) or ((valid5 and value5) or (value6))
        value7 = ((valid5 and value5) or (value6))
        if not (valid7 and value7):
            continue
        passed0 += 1
        kept[row] = True
        filled += 1
    counts[0] = passed0
    return -1
