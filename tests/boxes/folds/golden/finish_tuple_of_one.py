def finish(n, state0, out):
    # The results of weighted for windows that have tuples.
    for slot in range(len(n)):
        if n[slot]:
            out[slot] = final((state0[slot],))
