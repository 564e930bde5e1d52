"""The arithmetic of applications alone."""

from pathlib import Path

import numpy as np
import pytest

from australis.bench.applications import APPLICATIONS, SOUNDS, record
from australis.bench.signal_kernels import KERNELS, Noise, bare, scores, windows
from australis.connectors.sources.samples import Samples


def test_windows_follow_one_another() -> None:
    found = windows(np.arange(10, dtype=np.int16), 3)
    assert [np.asarray(each).tolist() for each in found.values()] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert found.start.tolist() == [0, 3, 6]
    assert len(windows(np.arange(2, dtype=np.int16), 3)) == 0


def test_scores_are_two_bins_of_each_window() -> None:
    samples = np.random.default_rng(1).integers(-1000, 1000, 300).astype(np.int16)
    shape = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(32) / 32)
    wanted = [np.abs(np.fft.rfft(samples[at : at + 32] * shape)[3:5]).sum() for at in range(0, 300 - 31, 128)]
    np.testing.assert_allclose(scores(samples), wanted, rtol=1e-4)


def test_loud_windows_are_a_range() -> None:
    score = np.random.default_rng(1).uniform(0.9, 1.1, 600)
    score[500:503] = 50.0
    noise = Noise()
    found = noise.ranges(score, np.arange(600) * 128) + noise.rest()
    ((first, last),) = found
    assert first <= 500 * 128 <= 502 * 128 <= last < 600 * 128


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_comes_to_its_end(name: str, tmp_path: Path) -> None:
    schema = APPLICATIONS[name]().inputs[0].schema
    assert bare(name, Samples(schema, record(tmp_path, name, 20_000), SOUNDS[name].rate)) > 0
