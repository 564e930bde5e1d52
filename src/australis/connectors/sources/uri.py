"""The text form of a source, for the command line and for short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from australis.arguments import check_arguments
from australis.arrow.schema import Spec
from australis.arrow.schema import schema as schema_of
from australis.connectors.push.spool import LIMIT
from australis.connectors.source import Source, parts
from australis.connectors.sources import folder
from australis.connectors.sources.files import Files
from australis.connectors.sources.form import SOUNDS
from australis.connectors.sources.load_curve import load_curve
from australis.connectors.sources.push import LARGEST, LOOPBACK, Push
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.replay import Replay
from australis.connectors.sources.samples import Samples
from australis.connectors.sources.segmented import Cutting
from australis.disk.paths import place as path_of
from australis.errors import RunError, listing, near

FORMS = (
    "a file, glob or folder (`reports/*.csv`, `reports/?follow=true`)",
    "`replay:FILES?on=COLUMN&speed=10`",
    "`rate:A_SECOND?limit=TUPLES&COLUMN=EXPRESSION`, or a load curve (`rate:500,5000@10,500@30`)",
    "`push:[HOST:]PORT?spool=FOLDER`",
    "`samples:FILES?rate=48000`, files of samples that go on together",
)
_MOST = 1e12  # a speed that waits for nothing, and more than any source counts
_OPTIONS = re.compile(r"(.*?)\?(\w+=.*)", re.DOTALL)
_CUTTING = ("size", "rate", "channels")
_FILES = ("follow", "order", "strict", "header", "delimiter", "null", "joined", *_CUTTING)


@check_arguments(RunError)
def source(text: str | Path, schema: Spec) -> Source:
    """A source of the tuples of a schema, from its text form.

    Options come after a question mark, `name=value` joined by `&`. As in web addresses, %25 is a percent sign.

    >>> source("reports/*.csv?follow=true", "time int, mph int").follow
    True
    >>> source("rate:1000?vid=n %25 50", "time timestamptz, vid int").columns
    (('vid', 'n % 50'),)
    """
    spelled, columns = str(text), schema_of(schema)
    match = _OPTIONS.fullmatch(spelled)
    place, options = (match[1], _options(spelled, match[2])) if match else (spelled, {})
    kind, colon, rest = place.partition(":")
    if not colon or len(kind) < 2 or kind.lower() == "file" or _there(place):
        return _files(spelled, place, columns, options)
    if kind == "replay":
        _check(spelled, options, ("on", "speed", "began", *_FILES))
        if "on" not in options:
            raise RunError(f"{spelled}: say which column is the time, such as {place}?on=time")
        timing = {name: _number(spelled, name, options.pop(name)) for name in ("speed", "began") if name in options}
        began = timing.pop("began", None)
        on = options.pop("on")
        files = _files(spelled, rest, columns, options)
        return Replay(files, on, timing.get("speed", 1.0), None if began is None else round(began * 1e6))
    if kind == "rate":
        own = {name: options.pop(name) for name in ("limit", "began") if name in options and name not in columns.names}
        _check(spelled, options, (*columns.names, "limit", "began"))
        limit = _count(spelled, "limit", own["limit"], 0) if "limit" in own else None
        began = _number(spelled, "began", own["began"]) if "began" in own else None
        return Rate(
            columns,
            load_curve(rest) if "," in rest else _number(spelled, "the rate", rest),
            tuple(options.items()),
            limit,
            None if began is None else round(began * 1e6),
        )
    if kind == "push":
        return _push(spelled, rest, columns, options)
    if kind == "samples":
        return _samples(spelled, rest, columns, options)
    hint = near(kind, ("replay", "rate", "push", "samples"))
    raise RunError(f"there is no source `{spelled}`{hint}; a source is {'; or '.join(FORMS)}")


def read(text: str | Path, schema: Spec) -> Iterator[pa.RecordBatch]:
    """The tuples that a source has now; what does not read is an error."""
    for part in parts(source(text, schema)):
        if part.letters:
            raise RunError(f"{part.letters[0]}; correct it")
        yield part.tuples


def _there(place: str) -> bool:
    try:
        return Path(place).exists()
    except (OSError, ValueError):  # no name that a file can have
        return False


def _files(spelled: str, place: str, columns: Any, options: dict[str, str]) -> Files:
    _check(spelled, options, _FILES)
    order = options.get("order", "name")
    if order not in ("name", "time"):
        raise RunError(f"{spelled}: the order of files is `name` or `time`, not `{order}`")
    nulls = ("", options["null"]) if "null" in options else ("",)
    return Files(
        str(path_of(place).expanduser()),
        columns,
        follow=_truth(spelled, "follow", options.get("follow", "false")),
        order=order,  # type: ignore[arg-type]
        strict=_truth(spelled, "strict", options.get("strict", "false")),
        header=_truth(spelled, "header", options.get("header", "true")),
        delimiter=options.get("delimiter", ","),
        nulls=nulls,
        cutting=_cutting(spelled, options),
    )


def _samples(spelled: str, place: str, columns: Any, options: dict[str, str]) -> Samples:
    _check(spelled, options, (*_CUTTING, "times"))
    how, times = _cutting(spelled, options), _count(spelled, "times", options.get("times", "1"), 0)
    paths = [path for _, path in folder.files(str(path_of(place).expanduser()), "name", sounds=True)]
    if not paths:
        raise RunError(f"{spelled}: no file matches {place}; names end in one of {listing(SOUNDS)}")
    return Samples(columns, tuple(paths), how.rate, how.size, how.channels, times)


def _cutting(spelled: str, options: dict[str, str]) -> Cutting:
    known = Cutting()
    size = _count(spelled, "size", options["size"], 0) if "size" in options else known.size
    channels = tuple(_count(spelled, "a channel", each) for each in options.get("channels", "").split(",") if each)
    return Cutting(size, options.get("rate", ""), channels, _truth(spelled, "joined", options.get("joined", "false")))


def _push(spelled: str, place: str, columns: Any, options: dict[str, str]) -> Push:
    _check(spelled, options, ("spool", "limit", "largest"))
    host, _, port = place.rpartition(":")
    if not port.isascii() or not port.isdigit() or len(port) > 9:
        raise RunError(f"{spelled}: `{port}` is no port; write push:8080, or push:HOST:8080 for more than this machine")
    folder = str(path_of(options["spool"]).expanduser()) if options.get("spool") else ""
    limit, largest = (
        _count(spelled, name, options[name]) if name in options else default
        for name, default in (("limit", LIMIT), ("largest", LARGEST))
    )
    return Push(host.strip("[]") or LOOPBACK, int(port), columns, folder, limit, largest)


def _options(spelled: str, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split("&"):
        name, equals, value = part.partition("=")
        if not equals:
            raise RunError(f"{spelled}: `{part}` is no option; write name=value, joined by `&`")
        found[name] = unquote(value)
    return found


def _check(spelled: str, options: dict[str, str], known: tuple[str, ...]) -> None:
    for name in options:
        if name not in known:
            raise RunError(f"{spelled}: there is no option {name}; there are {listing(known)}{near(name, known)}")


def _truth(spelled: str, name: str, value: str) -> bool:
    if value.lower() not in ("true", "false"):
        raise RunError(f"{spelled}: {name} is true or false, not `{value}`")
    return value.lower() == "true"


def _number(spelled: str, name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError as error:
        raise RunError(f"{spelled}: {name} is a number, not `{value}`") from error
    if not abs(number) <= _MOST:  # nor is NaN
        raise RunError(f"{spelled}: {name} is a number up to {_MOST:g}, not `{value}`")
    return number


def _count(spelled: str, name: str, value: str, least: int = 1) -> int:
    number = _number(spelled, name, value)
    if number != int(number) or number < least:
        raise RunError(f"{spelled}: {name} is a whole number, {least} or more, not `{value}`")
    return int(number)
