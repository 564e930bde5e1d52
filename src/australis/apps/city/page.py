"""Page: frames of a city in one HTML file that replays them and needs no other."""

from __future__ import annotations

import json
from base64 import b64encode
from importlib.resources import files
from typing import Any

import numpy as np

from australis.apps.city.frames import CityFrames
from australis.apps.city.roads import Longs, Reals

_TEMPLATE = "page.html"
_FULL, _NOWHERE = 65534, 65535
"""Positions are 16 bits over the space; the last number stands for no position."""


def page(frames: CityFrames) -> str:
    """The page as text."""
    template = files("australis.apps.city").joinpath(_TEMPLATE).read_text(encoding="utf-8")
    # `</` would end the script that contains the data.
    return template.replace("__CITY__", json.dumps(_data(frames)).replace("</", "<\\/"))


def _data(frames: CityFrames) -> dict[str, Any]:
    roads, (x1, y1, x2, y2) = frames.roads, frames.roads.space
    once = roads.begins < roads.ends
    lines = np.column_stack(
        [
            _scale(roads.x[roads.begins[once]], x1, x2),
            _scale(roads.y[roads.begins[once]], y1, y2),
            _scale(roads.x[roads.ends[once]], x1, x2),
            _scale(roads.y[roads.ends[once]], y1, y2),
            roads.kind[once],
        ]
    )
    city = frames.note["city"]
    return {
        "space": [x1, y1, x2, y2],
        "classes": frames.note["classes"],
        "whole": {"objects": frames.whole.tolist(), "queries": city["mix"]["count"]},
        "times": frames.times.tolist(),
        "roads": _pack(lines),
        "objects": frames.objects.tolist(),
        "kinds": frames.kinds.tolist(),
        "x": _pack(_scale(frames.x, x1, x2)),
        "y": _pack(_scale(frames.y, y1, y2)),
        "queries": frames.queries.tolist(),
        "regions": frames.regions.round(1).tolist(),
        "neighbours": frames.neighbours.tolist(),
        "focal": frames.focal.tolist(),
        "lives": frames.lives.tolist(),
        "changes": _pack(_with_sign_bits(frames.changes)) if len(frames.changes) else "",
        "sizes": frames.sizes.tolist(),
        "reaches": [
            [None if far != far or far == np.inf else round(far, 1) for far in row] for row in frames.reaches.tolist()
        ],
    }


def _scale(values: Reals, low: float, high: float) -> Longs:
    part = np.clip((values - low) / max(high - low, 1e-9), 0, 1) * _FULL
    return np.where(np.isnan(part), _NOWHERE, np.nan_to_num(part).round()).astype(np.int64)


def _with_sign_bits(changes: Longs) -> Longs:
    """Changes in order of time, with signs as 0 and 1."""
    ordered = changes[np.argsort(changes[:, 0], kind="stable")]
    ordered[:, 3] = ordered[:, 3] > 0
    return ordered


def _pack(values: Longs) -> str:
    return b64encode(values.astype("<u2").tobytes()).decode("ascii")
