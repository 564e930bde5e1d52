"""Arguments of commands as a run takes them: sources and sinks by name, a speed, a trigger, a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from australis.api.network import Network
from australis.arrow.durations import seconds
from australis.connectors.binding import bind_source
from australis.connectors.sink import Sink, sink
from australis.connectors.sinks.console import Console
from australis.connectors.source import Source
from australis.connectors.sources.replay import FASTEST, Replay
from australis.errors import RunError, Subject, listing, near, placed
from australis.model.network import Input

_MASTERS = ("local", "spark://", "yarn", "k8s://")
_EXAMPLES = {"--source": "reports=reports.csv", "--sink": "jams=jams.csv"}


def by_name(option: str, texts: Iterable[str] | None) -> dict[str, str]:
    """The texts of an option by name.

    >>> by_name("--source", ["reports=reports/*.csv?follow=true"])
    {'reports': 'reports/*.csv?follow=true'}
    """
    texts_by_name: dict[str, str] = {}
    for each in texts or ():
        name, sign, text = each.partition("=")
        if not (name and sign and text):
            raise RunError(f"{option} {each}: write it as NAME=TEXT, such as {option} {_EXAMPLES[option]}")
        if name in texts_by_name:
            raise RunError(f"{option} {each}: {name} is given already; a glob or a folder names several files at once")
        texts_by_name[name] = text
    return texts_by_name


def sources(network: Network, texts: Mapping[str, str], speed: str | None = None) -> dict[str, Source]:
    """The sources of all inputs. `speed` is set on every replay among them."""
    inputs = {input.name: input for input in network.inputs}
    for name in texts:
        check_name(name, inputs, "input", "--source")
    for name in inputs:
        if name not in texts:
            raise RunError(f"input {name} has no source: give it one, such as --source {name}={name}.csv")
    sources_by_name = {name: _source(inputs[name], text) for name, text in texts.items()}
    return sources_by_name if speed is None else _at_speed(sources_by_name, texts, speed)


def sinks(network: Network, texts: Mapping[str, str], printed: bool = True) -> dict[str, Sink]:
    """The sinks of the outputs. Outputs without one are printed to the console, unless `printed` is false."""
    outputs = [output.name for output in network.outputs]
    for name in texts:
        check_name(name, outputs, "output", "--sink")
    sinks_by_name: dict[str, Sink] = {name: Console(name=name) for name in outputs if printed}
    for name, text in texts.items():
        with placed(Subject("--sink", f"{name}={text}")):
            sinks_by_name[name] = Console(name=name) if text == "console" else sink(text)
    return sinks_by_name


def trigger(text: str | None) -> float | None:
    """The least time between two batches in seconds."""
    with placed(Subject("--trigger", text)):
        return None if text is None else seconds(text)


def master(text: str | None) -> str | None:
    """The address of a Spark cluster. Raises if it cannot be one."""
    if text is not None and not text.startswith(_MASTERS):
        raise RunError(f"--master {text}: is no Spark cluster; write for example spark://HOST:7077, yarn or local[2]")
    return text


def pace(text: str) -> float:
    """A speed: how many times as fast as the clock. `max` never waits."""
    try:
        times = FASTEST if text == "max" else float(text)
    except ValueError as error:
        raise RunError(f"--speed {text}: give a number, such as 10, or `max`") from error
    if not 0 < times < float("inf"):
        raise RunError(f"--speed {text}: give a number above zero, such as 10, or `max`")
    return times


def check_name(name: str, names: Iterable[str], what: str, option: str) -> None:
    if name not in names:
        raise RunError(f"{option} {name}: there is no {what} {name}; there are {listing(names)}{near(name, names)}")


def _source(input: Input, text: str) -> Source:
    with placed(Subject("--source", input.name)):
        return bind_source(input, text)


def _at_speed(sources_by_name: Mapping[str, Source], texts: Mapping[str, str], speed: str) -> dict[str, Source]:
    times = pace(speed)
    if not any(isinstance(source, Replay) for source in sources_by_name.values()):
        name, text = next(iter(texts.items()))
        raise RunError(
            f"--speed {speed}: no source is a replay; write one with the column that has the times, such as"
            f" --source '{name}=replay:{text.partition('?')[0]}?on=time'"
        )
    return {
        name: replace(source, speed=times) if isinstance(source, Replay) else source
        for name, source in sources_by_name.items()
    }
