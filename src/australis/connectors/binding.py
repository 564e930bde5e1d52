"""Binding: the sources of a network's inputs and the sinks of its outputs, from what they are given by name.

This is the one place where texts, tuples in memory and functions become sources and sinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from australis.connectors import intake
from australis.connectors.sink import Sink, sink
from australis.connectors.source import Placed, Source
from australis.connectors.sources import uri
from australis.connectors.sources.iterated import Iterated
from australis.connectors.sources.memory import MemorySource
from australis.errors import RunError, Subject, listing, near, placed
from australis.model.network import Input, Network


def check_names(network: Network, given: Mapping[str, Any]) -> None:
    """Refuse a source or a sink that no input and no output is named by."""
    known = [*(input.name for input in network.inputs), *(output.name for output in network.outputs)]
    for name in given:
        if name not in known:
            raise RunError(f"there is no input or output {name}; there are {listing(known)}{near(name, known)}")


def bind_sources(
    network: Network, given: Mapping[str, Any], known: Mapping[str, Source] | None = None
) -> dict[str, Source]:
    """The sources of all inputs: those given by name, and else those known."""
    known = known or {}
    names = [input.name for input in network.inputs]
    missing = [name for name in names if name not in given and name not in known]
    if missing:
        raise RunError(f"input {listing(missing)}: not given; give each input a source by its name")
    return {
        input.name: bind_source(input, given[input.name]) if input.name in given else known[input.name]
        for input in network.inputs
    }


def bind_sinks(network: Network, given: Mapping[str, Any]) -> dict[str, Sink]:
    """The sinks of the outputs that are given one."""
    return {
        output.name: bind_sink(output.name, given[output.name]) for output in network.outputs if output.name in given
    }


def bind_source(input: Input, given: Any) -> Source:
    """The source of an input: from a text, a source as it is, tuples in memory, or an iterable of parts of them.

    >>> from australis.arrow.schema import schema
    >>> bind_source(Input("cars", schema("vid int")), [{"vid": 7}]).batches[0].to_pydict()
    {'vid': [7]}
    """
    if isinstance(given, str | Path):
        return uri.source(given, input.schema)
    if hasattr(given, "latest") and hasattr(given, "splits"):
        source: Source = given
        if not source.schema.equals(input.schema):
            raise RunError(f"its source gives {source.schema}, not {input.schema}", Subject("input", input.name))
        return source
    if is_frame(given):
        if given.isStreaming:
            message = "a streaming frame of Spark is read on Spark alone; use `start` or `run`"
            raise RunError(message, Subject("input", input.name))
        given = given.toArrow()
    if _is_parted(given):
        return Iterated(input.name, input.schema, given)
    return MemorySource((intake.batch(input.name, input.schema, given),))


def bind_sink(output: str, given: object) -> Sink:
    """The sink of an output: from a text, a function, an object of the user's own, or a sink as it is."""
    with placed(Subject("output", output)):
        return sink(given)


def place_sources(sources: Mapping[str, Source], folder: Path) -> dict[str, Source]:
    """Sources for any process, wherever it was started; what they take in they keep below a folder."""
    return {
        name: source.placed(folder / "spool" / name) if isinstance(source, Placed) else source
        for name, source in sources.items()
    }


def unordered(sources: Mapping[str, Source]) -> set[str]:
    """The inputs whose tuples have no order of arrival among them: all of them are there from the beginning."""
    return {name for name, source in sources.items() if source.finite and not source.timed}


def is_frame(given: object) -> bool:
    """Whether a value is a frame of Spark."""
    return hasattr(given, "sparkSession") and hasattr(given, "isStreaming")


def _is_parted(given: Any) -> bool:
    """Whether a value is an iterable of parts rather than tuples."""
    if isinstance(given, list | tuple):
        return bool(given) and not isinstance(given[0], Mapping)
    arrow = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return isinstance(given, Iterable) and not isinstance(given, Mapping) and not arrow and not hasattr(given, "iloc")
