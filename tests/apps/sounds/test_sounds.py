"""Sounds that are made up: the same for a seed, however they are cut, and with events where they say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from australis.apps.sounds.sounds import KINDS, Sound
from australis.errors import SchemaError

EACH = [Sound(kind, 8_000, 2, seed=3) for kind in KINDS]
LONG = 60_000
WHOLE = {sound: sound.frames(0, LONG) for sound in EACH}


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(EACH), st.integers(0, LONG), st.integers(0, 9_000))
def test_any_stretch_is_that_of_the_whole(sound: Sound, begin: int, length: int) -> None:
    end = min(LONG, begin + length)
    assert np.array_equal(sound.frames(begin, end), WHOLE[sound][begin:end])
    inner = [event for event in sound.events(0, LONG).tolist() if begin <= event[0] < end]
    assert sound.events(begin, end).tolist() == inner


@pytest.mark.parametrize("sound", EACH, ids=lambda each: each.kind)
def test_another_seed_is_another_sound(sound: Sound) -> None:
    other = replace(sound, seed=4)
    assert not np.array_equal(other.frames(0, 9_000), WHOLE[sound][:9_000])
    assert KINDS[sound.kind].event is None or other.events(0, LONG).tolist() != sound.events(0, LONG).tolist()


@pytest.mark.parametrize("kind", ["speech", "calls"])
def test_events_are_louder_than_what_lies_between(kind: str) -> None:
    sound = Sound(kind, 48_000, 4)
    frames = np.abs(sound.frames(0, 600_000).astype(np.float64))
    events = sound.events(0, 600_000)
    loud = np.zeros(len(frames), bool)
    for first, last in events:
        loud[first : last + 1] = True
    assert len(events) in (12.5 // KINDS[kind].every, 12.5 // KINDS[kind].every + 1)
    assert (frames[loud].mean(axis=0) > 2 * frames[~loud].mean(axis=0)).all()


def test_channels_hear_a_call_a_few_samples_apart() -> None:
    sound = Sound("calls", channels=3, seed=2)
    (first, last), *_ = sound.events(0, 400_000)
    heard = sound.frames(int(first), int(last)).astype(np.float64)
    lags = [int(np.correlate(heard[:, at], heard[:, 0], "full").argmax()) - len(heard) + 1 for at in range(3)]
    assert lags[0] == 0
    assert 0 < abs(lags[1]) <= 7
    assert abs(lags[2] - 2 * lags[1]) <= 1


def test_a_pipe_that_leaks_is_sooner_still() -> None:
    """Blows come every half second; about half of them are leaks, which are its events."""
    sound = Sound("pipes", 48_000)
    heard = np.abs(sound.frames(0, 600_000)[:, 0].astype(np.float64))
    leaks = {int(first) for first, _ in sound.events(0, 600_000)}
    blows = [int(first) for first, *_ in sound._turns(0, 600_000) if first < 600_000]
    assert len(blows) == 25
    assert leaks < set(blows)
    assert 5 < len(leaks) < 20
    for first in blows:
        assert heard[first : first + 128].max() > 4000
        assert (heard[first + 512 : first + 640].max() < 400) == (first in leaks)


def test_a_sound_that_is_not_there_is_told() -> None:
    with pytest.raises(SchemaError, match=r"there is no sound `speach`.*did you mean.*speech"):
        Sound("speach")
