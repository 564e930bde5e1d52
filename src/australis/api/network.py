"""Networks that can be run: built from streams, or read from files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from australis.api.stream import DrawnBox, Outlet, Stream
from australis.arguments import check_arguments
from australis.errors import NetworkError
from australis.model import network as model
from australis.model.network import Arrow, Input, Node, Output
from australis.model.qos import QoS
from australis.model.table import Keyed

if TYPE_CHECKING:
    from australis.connectors.dead_letters import Letters
    from australis.connectors.source import Clock
    from australis.engine.local_run import LocalResults
    from australis.engine.spark.run import Run

Sunk = Stream | Outlet


class RunnableNetwork(model.Network):
    """A network, and what can be done with it: run, explain and draw it."""

    def run_local(
        self,
        given: Mapping[str, object] | None = None,
        /,
        *,
        train: int = 65536,
        clock: Clock | None = None,
        strict: bool = False,
        unread: list[Letters] | None = None,
        optimize: bool = True,
        **more: object,
    ) -> LocalResults:
        """Run to the end of the inputs in this process; see `australis.engine.local_run.run_local`."""
        from australis.engine.local_run import run_local

        return run_local(self, given, train=train, clock=clock, strict=strict, unread=unread, optimize=optimize, **more)

    def start(self, given: Mapping[str, Any] | None = None, /, **more: Any) -> Run:
        """Start on Spark, and return while it runs; see `australis.engine.spark.start.start`."""
        from australis.engine.spark.start import start

        return start(self, given, **more)

    def run(self, given: Mapping[str, Any] | None = None, /, **more: Any) -> Run:
        """Run on Spark to the end of the inputs; see `australis.engine.spark.start.start`."""
        run = self.start(given, **more)
        try:
            run.wait()
        finally:
            run.stop()
        return run

    @check_arguments()
    def explain(self, *, plan: bool = False) -> str:
        """What the network is and what it can hold, as text; with `plan` the stages that it runs in too."""
        from australis.drawing.explain import explain

        return explain(self, plan=plan)

    def svg(self) -> str:
        """A picture of the network."""
        from australis.drawing.picture import svg

        return svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()


Network = RunnableNetwork
"""What people call it."""


def network(*given: Mapping[str, Sunk] | Stream, **outputs: Sunk) -> Network:
    """The network that leads to these outputs: `au.network(jams=jams.output(latency={2: 1.0, 10: 0.0}))`.

    A mapping gives outputs whose names are no Python names. A stream without a name ends in the table it writes.
    """
    named: dict[str, Sunk] = {}
    ends: list[Stream] = []
    for part in given:
        if isinstance(part, Stream):
            if not isinstance(part.origin, DrawnBox) or part.origin.box.writes is None:
                raise NetworkError(f"{part!r} has no name: only one that writes a table goes without; name the others")
            ends.append(part)
        elif isinstance(part, Mapping):
            named.update(part)
        else:
            raise NetworkError(f"a network is made of streams, not of {type(part).__name__}")
    named.update(outputs)
    outlets = {name: _outlet(name, sunk) for name, sunk in named.items()}
    origins = _origins([outlet.stream for outlet in outlets.values()] + ends)
    names = _names(origins)
    return Network(
        inputs=_inputs(origins),
        nodes=tuple(
            Node(names[id(drawn)], drawn.box, tuple(_arrow(source, names) for source in drawn.sources), drawn.group)
            for drawn in origins
            if isinstance(drawn, DrawnBox)
        ),
        outputs=tuple(Output(name, _arrow(outlet.stream, names), outlet.qos) for name, outlet in outlets.items()),
        tables=_tables(origins),
    )


def _outlet(name: str, sunk: object) -> Outlet:
    if isinstance(sunk, Stream):
        return Outlet(sunk, QoS())
    if isinstance(sunk, Outlet):
        return sunk
    raise NetworkError(f"output {name}: a stream or its `.output(...)` goes here, not {type(sunk).__name__}")


def _origins(streams: Iterable[Stream]) -> list[Input | DrawnBox]:
    """Everything upstream, each once, sources before what they feed; without recursion, since networks are long."""
    found: dict[int, Input | DrawnBox] = {}
    for stream in streams:
        stack = [(stream.origin, False)]
        while stack:
            origin, ready = stack.pop()
            if id(origin) in found:
                continue
            if ready or isinstance(origin, Input):
                found[id(origin)] = origin
                continue
            stack.append((origin, True))
            stack.extend((source.origin, False) for source in reversed(origin.sources))
    return list(found.values())


def _names(origins: Iterable[Input | DrawnBox]) -> dict[int, str]:
    """The names given, and for boxes without one their kind and a number that is free."""
    names = {id(origin): origin.name for origin in origins if origin.name is not None}
    taken = set(names.values())
    counts: Counter[str] = Counter()
    for origin in origins:
        if isinstance(origin, DrawnBox) and origin.name is None:
            kind = origin.box.kind
            counts[kind] += 1
            while f"{kind}_{counts[kind]}" in taken:
                counts[kind] += 1
            names[id(origin)] = f"{kind}_{counts[kind]}"
    return names


def _arrow(stream: Stream, names: Mapping[int, str]) -> Arrow:
    return Arrow(names[id(stream.origin)], stream.at)


def _inputs(origins: Iterable[Input | DrawnBox]) -> tuple[Input, ...]:
    """Inputs declared twice in the same way are one."""
    return tuple(dict.fromkeys(origin for origin in origins if isinstance(origin, Input)))


def _tables(origins: Iterable[Input | DrawnBox]) -> tuple[Keyed, ...]:
    boxes = [origin.box for origin in origins if isinstance(origin, DrawnBox)]
    return tuple(dict.fromkeys(box.keyed for box in boxes if box.keyed is not None))


@check_arguments()
def load(path: str | Path) -> Network:
    """The network in a file."""
    from australis.netfile import netfile

    return Network.of(netfile.load(path))


@check_arguments()
def loads(text: str, name: str = "network") -> Network:
    """The network in a text; `name` is what errors call it."""
    from australis.netfile import netfile

    return Network.of(netfile.loads(text, name))
