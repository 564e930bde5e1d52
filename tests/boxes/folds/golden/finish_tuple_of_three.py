def finish(n, state0, state1, state2, out):
    # The results of weighted for windows that have tuples.
    for slot in range(len(n)):
        if n[slot]:
            out[slot] = final((state0[slot], state1[slot], state2[slot],))
