"""Places: files and folders as people write them, and addresses that are none."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from australis.errors import RunError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)  # a longer word than the letter of a drive
_CLEANED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)  # as a path has it: a slash of two
_FILE = "file"


def place(given: str | Path) -> Path:
    """The path of a file or a folder. `file:///path` is one too; other addresses are refused, as nothing opens them.

    >>> place("file:///data/my%20road").as_posix(), place("road").as_posix()
    ('/data/my road', 'road')
    >>> place("s3://bucket/road")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    australis.errors.RunError: s3://bucket/road: is an address, not a path; mount it as a folder and give that, or ...
    """
    spelled = str(given)
    found = (_CLEANED if isinstance(given, Path) else _ADDRESS).fullmatch(spelled)
    if found is None and not spelled.startswith(f"{_FILE}:/"):
        return Path(given)
    scheme, rest = (found[1], found[2]) if found else (_FILE, spelled.removeprefix(f"{_FILE}:"))
    if scheme.lower() == _FILE:
        rest = rest.removeprefix("localhost") if rest.startswith("localhost/") else rest
        if rest.startswith("/"):
            return Path(unquote(rest))
        raise RunError(f"{spelled}: names a machine; write three slashes before a path, as in file:///{rest}")
    raise RunError(
        f"{scheme}://{rest.lstrip('/')}: is an address, not a path; mount it as a folder and give that, or choose a"
        " path of this machine (file:///path is one)"
    )
