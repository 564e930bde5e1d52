"""Random numbers inside kernels, from a state of one word (splitmix64), so that a seed determines all of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from australis.kernels.jit import inner

Chance = npt.NDArray[np.uint64]
STEP = np.uint64(0x9E3779B97F4A7C15)
"""From one state to the next."""
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def chance(seed: int, stream: int) -> Chance:
    """The first state of a stream of random numbers; the streams of a seed are independent."""
    return np.random.SeedSequence((seed, stream)).generate_state(1, np.uint64).astype(np.uint64)


@inner
def uniform(state: Chance) -> float:
    """A number from 0 up to 1."""
    state[0] += STEP
    return uniform_at(state[0])


@inner
def uniform_at(state: np.uint64) -> float:
    """The number from 0 up to 1 that a state gives."""
    z = (state ^ (state >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 2.0**53


@inner
def below(state: Chance, end: int) -> int:
    """A whole number from 0 up to an end."""
    return int(uniform(state) * end)


@inner
def normal(state: Chance, mean: float, deviation: float) -> float:
    """A number from a normal distribution."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
    return mean + deviation * radius * math.cos(2.0 * math.pi * uniform(state))


@inner
def poisson(state: Chance, mean: float) -> int:
    """A count from a Poisson distribution, for means of up to some hundreds."""
    floor, product, count = math.exp(-mean), uniform(state), 0
    while product > floor:
        product *= uniform(state)
        count += 1
    return count
