"""The sounds that applications are run on. What they find is in the tests of sounds."""

from pathlib import Path

import numpy as np
import pytest

from australis.bench.applications import APPLICATIONS, SOUNDS, record


@pytest.mark.parametrize("name", ["statfilter", "detectaudio"])
def test_recordings_have_their_samples_and_are_made_once(name: str, tmp_path: Path) -> None:
    paths = record(tmp_path, name, 5000)
    channels = SOUNDS[name].channels
    sites = [np.fromfile(path, np.int16).reshape(-1, channels) for path in paths]
    assert [len(site) for site in sites] == [5000, 5000]
    assert not np.array_equal(*sites)
    Path(paths[0]).write_bytes(b"")
    assert record(tmp_path, name, 5000) == paths
    assert Path(paths[0]).read_bytes() == b""


def test_each_has_a_sound() -> None:
    assert APPLICATIONS.keys() == SOUNDS.keys()
