"""Local runs: a network in this process, from its sources to its sinks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from australis.arguments import check_arguments
from australis.connectors.binding import bind_sinks, bind_sources, check_names, unordered
from australis.connectors.dead_letters import SCHEMA, Letters, table, tell
from australis.connectors.sink import Sink, Writer
from australis.connectors.source import Clock, Opened, Placed, Source, selected
from australis.disk.temporary import TemporaryFolder
from australis.engine.feeds import Feeds
from australis.engine.local import Counts, Local
from australis.engine.losses import losses, summed
from australis.engine.merging import merging
from australis.engine.selecting import selection_firings, selections
from australis.errors import AustralisError, RunError, Subject, listing, placed
from australis.expressions import Expr
from australis.model.box import LATE, REFUSED
from australis.model.network import OUT, Network
from australis.plan.drawn import optimized
from australis.plan.rules import Firing

TRAIN = 1 << 16
"""How many tuples of an input a step takes at most, if not told otherwise."""


class LocalResults(dict[str, pa.Table]):
    """The tables of outputs by their names, and beside them what was counted on the way.

    `counts` has what each input and box took and gave. `letters` are the dead letters of inputs, and of boxes that
    refused tuples which nothing takes. `optimized` is the network that ran, and `firings` are the rules of the
    optimizer that made it of the one that was drawn: counts have the names of its boxes. `skipped` has the tuples of
    inputs that were left unread, since they matter to nobody; the counts of inputs have them, too.
    """

    def __init__(
        self,
        tables: Mapping[str, pa.Table],
        network: Network,
        counts: Mapping[str, Counts],
        letters: Collection[Letters] = (),
        firings: Collection[Firing] = (),
        skipped: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(tables)
        self.optimized, self.counts, self.firings = network, dict(counts), list(firings)
        self.skipped = dict(skipped or {})
        for name, tuples in self.skipped.items():
            self.counts[name] = Counts([], {OUT: self.counts[name].given[OUT] + tuples})
        self.letters = [each for each in letters if each.count]

    @property
    def given(self) -> dict[str, int]:
        """How many tuples each output was given."""
        arrows = {output.name: output.arrow for output in self.optimized.outputs}
        return {name: self.counts[arrow.source].given[arrow.port] for name, arrow in arrows.items()}

    @property
    def dead_letters(self) -> pa.Table:
        """The first thousand letters of each input and box, as a table; a local run has no batches."""
        rows = [table(each.input, each.letters, 0) for each in self.letters]
        return pa.Table.from_batches(rows, SCHEMA).drop_columns(["batch"])

    @property
    def late(self) -> dict[str, int]:
        """How many tuples each box found late."""
        return summed(self._ports, LATE)

    @property
    def refused(self) -> dict[str, int]:
        """How many tuples each box refused."""
        return summed(self._ports, REFUSED)

    def losses(self, slack: str = "") -> list[str]:
        """What was late or refused and nothing took, in words, and what to do; `slack` says how people give slack."""
        return losses(self.optimized, self._ports, slack, letters=True)

    @property
    def _ports(self) -> dict[str, dict[str, int]]:
        return {name: counts.given for name, counts in self.counts.items()}


@check_arguments(RunError)
def run_local(
    network: Network,
    given: Mapping[str, object] | None = None,
    /,
    *,
    train: int = TRAIN,
    clock: Clock | None = None,
    strict: bool = False,
    unread: list[Letters] | None = None,
    optimize: bool = True,
    **more: object,
) -> LocalResults:
    """Run a network in this process to the end of its inputs, and give the tables of its outputs, and what was counted.

    Every input is given a source by its name, and outputs may be given sinks, as for a run on Spark (see `start`). The
    parts of an iterable are trains as they are. Streams take turns, a train of at most `train` tuples each; those of a
    union before a box that goes by order are merged by that order. `clock` lets windows time out. Without it all tuples
    enter at one moment, so that none do, and results do not depend on how fast the machine is.

    Where a source never ends, the run goes on until it is interrupted, by the machine's clock. Every output needs a
    sink then, and there are no tables.

    Lines that do not read are left out: they are added to `unread`, by input, or else a warning tells of them. With
    `strict` the first one is an error.

    Rules that need no measurements make a network first that gives the same for less, unless `optimize` is false.
    """
    named = {**(given or {}), **more}
    check_names(network, named)
    sources, sinks = bind_sources(network, named), bind_sinks(network, named)
    outputs = [output.name for output in network.outputs]
    endless = endless_streams(network, sources)
    if endless and (lost := [name for name in outputs if name not in sinks]):
        raise RunError(
            f"output {listing(lost)}: give it a sink, since input {listing(endless)} never ends, and no table would be"
            " whole"
        )
    kept = () if endless else outputs
    found = run_bound(network, sources, sinks, kept, train=train, clock=clock, strict=strict, optimize=optimize)
    inputs = {input.name for input in network.inputs}
    lines = [each for each in found.letters if each.input in inputs]
    if unread is not None:
        unread.extend(lines)
    elif lines:
        warnings.warn(f"{tell(lines)}; with `unread=[]` or `strict=True` there is no warning", stacklevel=4)
    return found


def endless_streams(network: Network, sources: Mapping[str, Source]) -> list[str]:
    """The inputs that never end, as far as is known. Of a static one only what is there at the start is read."""
    return [input.name for input in network.inputs if not input.static and not sources[input.name].finite]


def run_bound(
    network: Network,
    sources: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    kept: Collection[str],
    *,
    train: int = TRAIN,
    clock: Clock | None = None,
    strict: bool = False,
    stop: Callable[[], bool] = lambda: False,
    optimize: bool = True,
) -> LocalResults:
    """Run a network from sources to sinks, to their end or as soon as `stop` is true; tables are of the outputs `kept`.

    A step that gives tuples to an output is a batch of its sink. Without a checkpoint a sink begins anew.
    """
    if train < 1:
        raise RunError(f"run_local: `train` is the most tuples of a train, 1 or more, not {train}")
    network = merging(network, unordered(sources))
    firings: list[Firing] = []
    predicates: dict[str, Expr] = {}
    if optimize:
        network, drawn = optimized(network)
        predicates = selections(network, sources)
        firings += () if drawn is None else drawn.firings
        firings += selection_firings(network, predicates, {})
    run = Local(network)
    tables: dict[str, list[pa.RecordBatch]] = {name: [] for name in kept}
    with ExitStack() as stack:
        writers = _open_sinks(network, sinks, stack)
        opened = _open_sources(sources, stack).items()
        read = {name: selected(source, predicates.get(name)) for name, source in opened}
        feeds = Feeds(run, read, train, strict, clock, stop)
        stack.callback(feeds.close)
        for batch, results in enumerate(feeds.results(), 1):
            for name, tuples in results.items():
                if name in tables:
                    tables[name].append(tuples)
                if name in writers and tuples.num_rows:
                    _write(name, writers[name], batch, tuples)
    schemas = {output.name: network.schema(output.arrow) for output in network.outputs}
    whole = {
        name: pa.Table.from_batches([tuples for tuples in batches if tuples.num_rows], schemas[name])
        for name, batches in tables.items()
    }
    letters = [*(feed.letters for feed in feeds.streams), *run.refused.values()]
    skipped = {feed.input.name: feed.skipped for feed in feeds.streams if feed.skipped}
    return LocalResults(whole, network, run.counts, letters, firings, skipped)


def _write(output: str, writer: Writer, batch: int, tuples: pa.RecordBatch) -> None:
    """Give a batch to a sink; what a sink of the user's own raises is told with the output."""
    with placed(Subject("output", output)):
        try:
            writer.write(batch, [tuples])
        except (AustralisError, OSError):
            raise
        except Exception as error:
            raise RunError(f"its sink failed: {type(error).__name__}: {error}") from error


def _open_sinks(network: Network, sinks: Mapping[str, Sink], stack: ExitStack) -> dict[str, Writer]:
    writers, this = {}, uuid4().hex
    for output in network.outputs:
        if output.name in sinks:
            try:
                writer = sinks[output.name].open(network.schema(output.arrow), this, replace=True)
            except RunError as error:
                raise RunError(f"output {output.name}: {error}") from error
            stack.callback(writer.close)
            writers[output.name] = writer
    return writers


def _open_sources(sources: Mapping[str, Source], stack: ExitStack) -> dict[str, Source]:
    """Let sources take in what comes. What they keep goes with the run, unless they have a folder of their own."""
    opened = dict(sources)
    for name, source in sources.items():
        if isinstance(source, Opened):
            if isinstance(source, Placed):
                opened[name] = source.placed(Path(stack.enter_context(TemporaryFolder())) / name)
            stack.callback(opened[name].open().close)  # type: ignore[attr-defined]
    return opened
