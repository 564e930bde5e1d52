"""Starting a run: its sources and sinks by name, its session, its checkpoint, and the job that it begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from australis.arguments import check_arguments
from australis.arrow.durations import microseconds
from australis.connectors.binding import bind_sinks, bind_sources, check_names, is_frame, place_sources, unordered
from australis.connectors.sink import Sink
from australis.connectors.source import Opened, Source
from australis.disk.temporary import TemporaryFolder
from australis.engine.checkpoint import Checkpoint
from australis.engine.job import Job
from australis.engine.merging import merging
from australis.engine.optimizing import follow
from australis.engine.outlet import outlet
from australis.engine.selecting import selecting, selections
from australis.engine.spark.frame_source import Frame, FrameFeed
from australis.engine.spark.run import Run
from australis.engine.spark.session import Ending, session
from australis.engine.succession import losses, planned
from australis.errors import ArgumentPlace, AustralisError, RunError, Subject, listing
from australis.model.network import Network
from australis.plan.drawn import optimized
from australis.qos.load import HEADROOM

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST_PARTITIONS = 1 << 16
_LONGEST_WAIT = 366 * 86_400 * 10**6
_MOST = 16  # partitions that are not asked for


@check_arguments(RunError)
def start(
    network: Network,
    given: Mapping[str, Any] | None = None,
    /,
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    checkpoint: str | Path | None = None,
    partitions: int | None = None,
    train: int | None = None,
    trigger: str | float | None = None,
    strict: bool = False,
    change: bool = False,
    shed: bool = True,
    headroom: float = HEADROOM,
    optimize: bool = True,
    **more: Any,
) -> Run:
    """Start a network on Spark, and return while it runs.

    Every input is given a source by its name, and outputs may be given sinks: texts such as `reports/*.csv` (see
    docs/sources_and_sinks.md), tuples in memory, or values. With a `checkpoint` folder the run can be stopped or killed
    at any moment and goes on from there when it is started again; `change` lets it go on with another network even
    where state is lost. `train` is the most tuples of an input in a batch, and `trigger` the least time between two
    batches; without them batches follow each other, and are as long as they can be done in about a second. `strict`
    stops at the first line that does not read.

    Where outputs say what they are worth and tuples come by the clock, batches are as long as latency graphs allow, and
    what is too much for the `headroom` of the machine is left out, unless `shed` is false.

    Rules change the network to one that gives the same for less, at the start and by what boxes are measured to cost,
    unless `optimize` is false; see docs/planning.md. A run that goes on has the network that it had.
    """
    named = {**(given or {}), **more}
    check_names(network, named)
    frames = {name: value for name, value in named.items() if is_frame(value)}
    spools = {input.name: Frame(input.schema, "") for input in network.inputs if input.name in frames}
    return start_bound(
        network,
        bind_sources(network, named | spools),
        bind_sinks(network, named),
        lambda: session(spark or next((frame.sparkSession for frame in frames.values()), None), master),
        checkpoint=checkpoint,
        partitions=partitions,
        train=train,
        trigger=trigger,
        strict=strict,
        change=change,
        shed=shed,
        headroom=headroom,
        optimize=optimize,
        frames=frames,
    )


def start_bound(
    network: Network,
    sources: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    find_session: Callable[[], tuple[SparkSession, bool]],
    *,
    checkpoint: str | Path | None = None,
    partitions: int | None = None,
    train: int | None = None,
    trigger: str | float | None = None,
    strict: bool = False,
    change: bool = False,
    shed: bool = True,
    headroom: float = HEADROOM,
    optimize: bool = True,
    frames: Mapping[str, Any] | None = None,
) -> Run:
    """Start a network from sources to sinks. Spark's session is looked for once all else is known to be right.

    The session is stopped with the run where `find_session` says that it is ours. `frames` are those of Spark that flow
    in the spools of inputs.
    """
    _check_options(partitions, train, trigger)
    if not 0 < headroom <= 1:
        raise RunError(
            f"`headroom` is the part of the machine that a run may always use, above 0 and up to 1, not {headroom:g}",
            Subject("start"),
            ArgumentPlace("headroom", silent=True),
        )
    with ExitStack() as stack:
        temporary = checkpoint is None
        if checkpoint is None:
            checkpoint = stack.enter_context(TemporaryFolder())
        folder = Checkpoint(checkpoint, lasting=not temporary)
        if not folder.fresh and partitions not in (None, folder.partitions):
            raise RunError(
                f"{folder.path}: the run has {folder.partitions} partitions, and cannot go on with {partitions};"
                " leave that out, or start again with an empty checkpoint folder"
            )
        sources = place_sources(sources, folder.path)
        network = merging(network, unordered(sources))
        stack.enter_context(folder.begin())
        folder.log.mend()
        folder.check_sources(sources)
        outlets = {}
        for output in network.outputs:
            if output.name in sinks:
                schema = network.schema(output.arrow)
                outlets[output.name] = outlet(output.name, sinks[output.name], schema, folder)
                stack.callback(outlets[output.name].writer.close)
        spark, ours = find_session()
        if ours:
            stack.enter_context(Ending(spark))
        if folder.fresh:
            folder.divide(partitions or min(spark.sparkContext.defaultParallelism, _MOST))
        jobs, current = _jobs(folder, network, sources, strict, change, optimize)
        folder.keep(jobs[current])
        for source in sources.values():
            if isinstance(source, Opened):
                stack.callback(source.open().close)
        feeds = _feeds(frames or {}, sources, folder, stack)
        local = str(spark.sparkContext.master).startswith("local")
        closing = stack.pop_all()
    try:
        return Run(
            spark, folder, jobs, outlets, current=current, train=train, trigger=_trigger(trigger), local=local,
            shed=shed, headroom=headroom, optimize=optimize, feeds=feeds, closing=closing,
        )  # fmt: skip
    except BaseException as error:
        closing.__exit__(type(error), error, error.__traceback__)
        raise


def _check_options(partitions: int | None, train: int | None, trigger: str | float | None) -> None:
    """Refuse numbers that no run can have, before Spark is started."""
    if partitions is not None and not 1 <= partitions <= _MOST_PARTITIONS:
        raise RunError(
            f"`partitions` is a number of tasks from 1 to {_MOST_PARTITIONS:,}, not {partitions}",
            Subject("start"),
            ArgumentPlace("partitions", silent=True),
        )
    if train is not None and train < 1:
        raise RunError(
            f"`train` is the most tuples of an input in a batch, 1 or more, not {train}",
            Subject("start"),
            ArgumentPlace("train", silent=True),
        )
    try:
        wait = 0 if trigger is None else microseconds(trigger)
    except AustralisError as error:
        raise RunError.of(error).put(Subject("start"), ArgumentPlace("trigger")) from error
    if not 0 <= wait <= _LONGEST_WAIT:
        raise RunError(
            f"`trigger` is a time between two batches, from 0 up to a year, not {trigger}",
            Subject("start"),
            ArgumentPlace("trigger", silent=True),
        )


def _feeds(
    frames: Mapping[str, Any], sources: Mapping[str, Source], folder: Checkpoint, stack: ExitStack
) -> list[FrameFeed]:
    """Let Spark's frames flow in the spools of their inputs."""
    feeds = []
    for name, frame in frames.items():
        source = sources[name]
        assert isinstance(source, Frame)
        feeds.append(FrameFeed(name, frame, source, folder.path / "frames" / name))
        stack.callback(feeds[-1].close)
    return feeds


def _jobs(
    folder: Checkpoint, network: Network, sources: Mapping[str, Source], strict: bool, change: bool, optimize: bool
) -> tuple[dict[int, Job], int]:
    """The jobs by the number of their network, and the number to go on with.

    A batch that was planned and not finished is run under the network that it was planned for.
    """
    last, partitions = folder.log.last(), folder.partitions
    assert partitions is not None
    if last is None:
        running, made = optimized(network) if optimize else (network, None)
        plan = planned(running, sources, partitions)
        fired = () if made is None else made.firings
        first = Job(running, plan, sources, str(folder.path), partitions, strict=strict, drawn=made, firings=fired)
        return {1: selecting(first, {}) if optimize else first}, 1
    kept = folder.network(last.network)
    before, drawn = kept.network(), kept.drawing()
    lost = list(losses(before if drawn is None else drawn.network, network))
    if lost and not change:
        raise RunError(
            f"{folder.path}: is the checkpoint of another network: {listing(lost, most=3)}; choose another folder, or"
            " let the run go on without what is lost (`change`)"
        )
    there = {name: source for name, source in sources.items() if name in {input.name for input in before.inputs}}
    if len(there) < len(before.inputs):
        raise RunError(
            f"{folder.path}: there was an input {listing(i.name for i in before.inputs if i.name not in there)},"
            " which the network no longer has; change the network while it runs, or choose another folder"
        )
    plan = planned(before, there, partitions, kept.layouts)
    job = Job(
        before,
        plan,
        there,
        str(folder.path),
        partitions,
        kept.number,
        kept.starts,
        kept.lineages,
        kept.owners,
        strict=strict,
        layouts=kept.layouts,
        unchanged=frozenset(kept.unchanged),
        drawn=drawn,
        predicates=selections(before, there) if optimize else {},
        firings=kept.firings,
    )
    if job.drawn_network == network:
        same = replace(job, network=network) if drawn is None else replace(job, drawn=replace(drawn, network=network))
        return {job.number: replace(same, sources=sources)}, job.number
    after = follow(job, last.began, network, sources, folder.last_number() + 1, rules=optimize, lossy=change)
    return {job.number: job, after.number: after}, after.number


def _trigger(given: str | float | None) -> str | None:
    """A trigger as Spark takes it."""
    if given is None:
        return None
    return f"{microseconds(given) // 1000} milliseconds"
