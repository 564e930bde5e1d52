"""A network of a road, and made-up traffic on it, the same every time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.api.network import Network, load

_SEGMENTS, _CARS_EACH, _MINUTES = 3, 60, 6
_JAMMED, _JAM_STARTS, _JAM_ENDS = 1, 2, 4


def network() -> Network:
    """The network of `traffic.yaml`."""
    return load(Path(__file__).with_suffix(".yaml"))


def reports() -> pa.Table:
    """Two reports a minute of every car; in the middle segment they crawl for two minutes."""
    chance = np.random.default_rng(7)
    cars, turns = _SEGMENTS * _CARS_EACH, 2 * _MINUTES
    vid = np.tile(np.arange(cars), turns)
    time = np.sort(np.repeat(np.arange(turns) * 30, cars) + np.tile(np.arange(cars) % 30, turns))
    order = np.lexsort((vid, vid % 30, np.repeat(np.arange(turns), cars)))
    vid = vid[order]
    seg = vid // _CARS_EACH
    minute = time // 60
    jammed = (seg == _JAMMED) & (minute >= _JAM_STARTS) & (minute < _JAM_ENDS)
    mph = np.where(jammed, chance.integers(5, 35, len(vid)), chance.normal(62, 9, len(vid)).round())
    columns = {"time": time, "vid": vid, "mph": mph, "xway": np.zeros(len(vid)), "seg": seg}
    return pa.table({name: pa.array(values.astype(np.int32)) for name, values in columns.items()})


def owners() -> pa.Table:
    """Who owns which car."""
    vid = np.arange(_SEGMENTS * _CARS_EACH, dtype=np.int32)
    names = np.array(["Ada", "Ben", "Cleo", "Dan", "Edith", "Femi", "Grace"])
    return pa.table({"vid": vid, "owner": pa.array(names[vid % len(names)])})
