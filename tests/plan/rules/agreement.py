"""Networks before and after a rule must agree: on outputs and their order, on losses, and through plans."""

import random
import re
from collections import Counter
from functools import partial
from itertools import count

import pyarrow as pa
from hypothesis import settings

import australis as au
from australis.connectors.source import Clock
from australis.engine.local import Local, exhaust
from australis.engine.local_run import run_local
from australis.engine.losses import unwired
from australis.errors import RunError
from australis.model.network import Network
from australis.model.qos.costs import BoxCost, Costs
from australis.plan import plan
from australis.testing import rows as rows_of
from tests.planned import Step, check

NONE = Costs()
Inputs = dict[str, pa.RecordBatch]
SCHEMA = "time int, vid int, mph int, big bigint, x double, name string"
A, B = au.stream("a", SCHEMA), au.stream("b", SCHEMA)
CARS = au.static("cars", "vid int, plate string, class int")
NAN, INF, BIG = float("nan"), float("inf"), 2**63 - 1
COUNT = 25
COLUMNS = {
    "time": [0, 1, 2, 3, 5, 8, 9, 9, 12, 20, None, -(2**31)],
    "vid": [0, 1, 2, 3, None],
    "mph": [0, 1, 30, 70, -1, 2**31 - 1, -(2**31), None],
    "big": [0, 1, -1, 7, 50, 2**40, None],
    "x": [0.0, -0.0, 1.5, -2.0, NAN, INF, -INF, 5e-324, 1e308, None],
    "name": ["", "a", "Ab", "é", "7", None],
}


def tuples(seed: int, count: int = COUNT, ordered: bool = False, **columns: list[object]) -> pa.RecordBatch:
    """Tuples that are full of extremes; with `ordered`, the times ascend."""
    draw = random.Random(seed)
    values = {name: [draw.choice(some) for _ in range(count)] for name, some in {**COLUMNS, **columns}.items()}
    if ordered:
        values["time"] = sorted(draw.randrange(50) for _ in range(count))
    return pa.RecordBatch.from_pydict(values, schema=A.schema)


CLASSES = pa.RecordBatch.from_pydict(
    {"vid": [0, 1, 1, None], "plate": ["A", "B", "C", "D"], "class": [1, 2, 3, None]}, schema=CARS.schema
)


def given(network: Network, seed: int = 1, **options: object) -> Inputs:
    """Tuples for each input of a network."""
    streams = {"a": partial(tuples, seed), "b": partial(tuples, seed + 1)}
    return {
        each.name: CLASSES if each.static else _fitting(streams[each.name](**options), each.schema)  # type: ignore[arg-type]
        for each in network.inputs
    }


def _fitting(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a schema, without the tuples in which one is null that must not be."""
    for field in schema:
        batch = batch if field.nullable else batch.filter(batch[field.name].is_valid())
    return pa.RecordBatch.from_arrays([batch[name] for name in schema.names], schema=schema)


def outcome(network: Network, inputs: Inputs, train: int = 7, clock: Clock | None = None) -> dict[str, object] | None:
    """The tuples of each output in order, its columns, and what was lost or reported; None if the run fails."""
    try:
        results = run_local(network, inputs, train=train, clock=clock, optimize=False)
    except RunError:
        return None
    found: dict[str, object] = {name: list(map(repr, table.to_pylist())) for name, table in results.items()}
    reported = Counter[str]()
    for arrow in unwired(network, network.named):
        reported[arrow.source] += results.counts[arrow.source].given[arrow.port]
    return {
        **found,
        "columns": {output.name: str(network.schema(output.arrow)) for output in network.outputs},
        "late": results.late,
        "refused": results.refused,
        "reported": dict(+reported),
        "letters": {each.input: list(map(repr, each.letters)) for each in results.letters},
    }


def differ(one: dict[str, object] | None, two: dict[str, object] | None) -> bool:
    """Whether two outcomes of runs that did not fail are different."""
    return one is not None and two is not None and one != two


def agree(
    before: Network, after: Network, inputs: Inputs, train: int = 7, gone: bool = False, ticks: int | None = None
) -> None:
    """Assert that two networks give the same. With `gone`, boxes of the first may be missing, with their losses.

    With `ticks`, so much time goes by between any two looks at the clock.
    """
    clocks = [None if ticks is None else partial(next, count(0, ticks)) for _ in range(2)]
    one, two = (outcome(each, inputs, train, clock) for each, clock in zip((before, after), clocks, strict=True))
    if one is None:  # the other may fail for fewer tuples
        return
    assert two is not None, "only the changed network fails"
    for losses in ("late", "reported") if gone else ():
        one[losses] = {name: tuples for name, tuples in one[losses].items() if name in after.named}  # type: ignore[attr-defined]
    assert two == one


def agree_when_planned(before: Network, after: Network, inputs: Inputs, partitions: int) -> None:
    """Assert that the changed network in partitions gives what the other does in one process."""
    statics = [each.name for each in before.inputs if each.static]
    streams = {name: batch for name, batch in inputs.items() if name not in statics}
    steps = [Step({name: inputs[name]}) for name in statics]
    steps += [Step({name: batch[at : at + 17] for name, batch in streams.items()}) for at in range(0, COUNT, 17)]
    steps.append(Step(end=True))
    run = Local(before)
    try:
        expected = [exhaust(run.steps(step.given, ts=0, end=step.end)) for step in steps]
    except RunError:
        return
    found = check(after, plan(after), steps, partitions)
    for name, rows in found.items():
        assert Counter(map(repr, rows)) == Counter(repr(row) for step in expected for row in rows_of(step[name]))


def compare(before: Network, after: Network, seed: int, gone: bool = False) -> None:
    """Assert that two networks agree on tuples of a seed: alone, however cut, and now and then in partitions."""
    agree(before, after, given(before, seed), (5, 17, 100)[seed % 3], gone)
    if seed % 3 == 1:
        agree_when_planned(before, after, given(before, seed, x=[0.0, 1.5, -2.0, None]), 2 + seed % 2)


def even(network: Network) -> Costs:
    """Costs by which all boxes let everything through, so that no order of them is better than another."""
    return Costs({node.name: BoxCost(1e-8, dict.fromkeys(network.schemas[node.name], 1.0)) for node in network.nodes})


def many() -> int:
    """How often a rule must fire in a test over random networks: 100 times in the profile dev.

    A few examples, as in the profile quick, may be of networks in which there is nothing to do.
    """
    examples = settings().max_examples
    return 2 * examples if examples >= 50 else 0


def net(boxes: str, **outputs: str) -> Network:
    """A network of lines such as `f: a -> filter: mph > 30`, with the inputs and the table that they name."""
    lines = [line.strip() for line in boxes.strip().splitlines()]
    parts = [re.fullmatch(r"(\w+): ([\w., ]+) -> (.*)", line) for line in lines]
    written = [f"  {each[1]}: {{{each[3]}, from: [{each[2]}]}}" for each in parts if each]
    assert len(written) == len(lines), boxes
    taken = {name for each in parts for name in re.split(", ", each[2])} | set(outputs.values())
    inputs = {"a": SCHEMA, "b": SCHEMA, "cars": '{static: "vid int, plate string, class int"}'}
    text = ["australis: 2", "inputs:", *(f"  {name}: {spec}" for name, spec in inputs.items() if name in taken)]
    text += ['tables: {seen: {schema: "vid int, most int", key: vid}}'] if " seen" in boxes else []
    text += ["boxes:", *written, "outputs:", *(f"  {name}: {arrow}" for name, arrow in outputs.items())]
    return au.loads("\n".join(text))
