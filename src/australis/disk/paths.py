"""Paths of files and folders as people write them; other addresses are refused."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from australis.errors import RunError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(.*)", re.DOTALL)  # two letters or more, so that it is no drive
_CLEANED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)  # as in a Path, which drops one of the slashes
_FILE = "file"


def place(location: str | Path) -> Path:
    """The path of a file or a folder, also from `file:///path`. Raises for other addresses, which nothing opens.

    >>> place("file:///data/my%20road").as_posix(), place("road").as_posix()
    ('/data/my road', 'road')
    >>> place("s3://bucket/road")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    australis.errors.RunError: s3://bucket/road: is an address, not a path; mount it as a folder and give that, or ...
    """
    text = str(location)
    address = (_CLEANED if isinstance(location, Path) else _ADDRESS).fullmatch(text)
    if address is None and not text.startswith(f"{_FILE}:/"):
        return Path(location)
    scheme, rest = (address[1], address[2]) if address else (_FILE, text.removeprefix(f"{_FILE}:"))
    if scheme.lower() == _FILE:
        rest = rest.removeprefix("localhost") if rest.startswith("localhost/") else rest
        if rest.startswith("/"):
            return Path(unquote(rest))
        raise RunError(f"{text}: names a machine; write three slashes before a path, as in file:///{rest}")
    raise RunError(
        f"{scheme}://{rest.lstrip('/')}: is an address, not a path; mount it as a folder and give that, or choose a"
        " path of this machine (file:///path is one)"
    )
