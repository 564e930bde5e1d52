"""Sequence: signals that nobody told apart are found, in every box that follows signals."""

from typing import Any

import numpy as np
import pytest

from australis.boxes.signals.cfar import Cfar
from australis.boxes.signals.lfilter import Lfilter
from australis.boxes.signals.rerate import Rerate
from australis.boxes.signals.rewindow import Rewindow
from australis.boxes.signals.segments import segment
from australis.boxes.signals.sync import Sync
from australis.boxes.signals.timebases import Timebase, timebase
from australis.boxes.signals.trigger import Trigger
from australis.boxes.signals.zip import Zip
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, run

SLOW, FAST, SHIFTED = timebase(8), timebase(16), timebase(8, "1/3")
BOXES = [
    Rewindow(10), Rewindow(10, -3), Lfilter((0.5, 0.5)), Rerate(1, 2), Trigger(5), Trigger(5, on="site"), Cfar("site"),
]  # fmt: skip


def two_sites(one: Timebase, two: Timebase) -> Any:
    """Chunks of two sites in turn, which begin at one time."""
    sounds = [segment(np.arange(40, dtype=np.int16), base) for base in (one, two)]
    chunks = [(site, sound[at : at + 10]) for at in range(0, 40, 10) for site, sound in enumerate(sounds)]
    return signal("site int, audio segment<int16>", site=[site for site, _ in chunks], audio=[a for _, a in chunks])


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("other", [SLOW, FAST])
def test_a_second_site_is_late_where_sites_are_not_told_apart(box: Any, other: Timebase) -> None:
    mixed = two_sites(SLOW, other)
    _, late = run(box, [mixed], SINGLY)
    assert [site for (site, _), *_ in late] == [1] * 4
    assert (_, late) == run(box, [mixed])


def test_a_site_that_began_a_little_later_is_late_too() -> None:
    assert [site for (site, _), *_ in run(Rewindow(4), [two_sites(SLOW, SHIFTED)])[1]] == [1] * 4


def test_sync_and_zip_tell_the_signal() -> None:
    mixed = two_sites(SLOW, SLOW)
    ranges = signal("start bigint, end bigint", start=[5], end=[15])
    _, late = run(Sync(1), [ranges, mixed])
    assert [site for (site, _), *_ in late] == [1] * 4
    clean = signal("other segment<int16>", other=[segment(np.arange(40, dtype=np.int16), SLOW)])
    _, first, second = run(Zip(), [clean, mixed])
    assert (first, [site for (site, _), *_ in second]) == ([], [1] * 4)


@pytest.mark.parametrize("box", BOXES)
def test_windows_that_overlap_and_another_rate_from_then_on_are_in_order(box: Any) -> None:
    sound = segment(np.arange(40, dtype=np.int16), SLOW)
    windows = [sound[at : at + 8] for at in range(0, 32, 3)]
    after = segment(np.arange(40, dtype=np.int16), FAST, 2 * 40)
    audio = [*windows, sound[38:], after]
    given = signal("site int, audio segment<int16>", site=[0] * len(audio), audio=audio)
    assert run(box, [given], SINGLY)[1] == []
