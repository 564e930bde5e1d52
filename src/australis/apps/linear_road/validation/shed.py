"""Shed: how many answers of each kind a run says it has left out."""

from __future__ import annotations

import json
from pathlib import Path

from australis.apps.linear_road.validation.verdict import NAMES
from australis.errors import RunError, listing, near


def read_shed(path: Path) -> dict[int, int | None]:
    """The answers that a run has left out, by type, from a file such as `{"travel times": 120}`; null is some."""
    try:
        noted = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: cannot be read ({error}); give the file that `run` wrote beside its answers") from None
    if not isinstance(noted, dict):
        raise RunError(f'{path}: is no object; write it as {{"travel times": 120}}')
    types = {name: kind for kind, name in NAMES.items()}
    for name, count in noted.items():
        if name not in types:
            raise RunError(f"{path}: there are no `{name}`; there are {listing(types)}{near(name, types)}")
        if count is not None and (type(count) is not int or count < 0):
            raise RunError(f"{path}: {name}: give a number of answers, or null for some, not {json.dumps(count)}")
    return {types[name]: count for name, count in noted.items()}
