"""Query load shedding: smaller caches, then smaller regions."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from australis.testing import Cut, cuts, rows
from tests.boxes.moving.test_shedding import ACCURACIES, RANGES, Watched, box, streams
from tests.boxes.moving.test_watch import CONDITIONS
from tests.oracles.moving import Ledger, World, steps, told


@given(RANGES, ACCURACIES, cuts(), st.booleans(), st.integers(1, 4))
def test_queries_that_shrink_keep_their_accuracy_too(world, accuracies, cut: Cut, restart: bool, budget: int) -> None:
    shrinking = replace(box(budget), shed="queries")
    everything, ledger, parts = World(CONDITIONS), Ledger(), {}
    for (reports, wanted), (updates, _, _, changes), tables in steps(
        shrinking, streams(world, accuracies), cut, restart
    ):
        for _, row in told(reports):
            everything.report(row)
        for _, row in told(wanted):
            everything.ask(row)
            if row["action"] == "remove":
                parts.pop(row["query"], None)
        ledger.add(updates)
        parts.update(dict(rows(changes)))
        now = Watched(tables, everything)
        answers = ledger.answers(everything.queries)
        for name, answer in answers.items():
            full = now.full[name]
            assert answer == full & now.kept
            assert len(answer) >= now.wanted[name] * len(full) - 1e-9
            assert abs(parts.get(name, 1.0) - (len(answer) / len(full) if full else 1.0)) < 1e-9
        assert now.kept <= now.led.union(*answers.values()), "what nobody sees is not kept"
        if all(not accuracy for accuracy in now.wanted.values()):
            assert len(now.kept) <= max(budget, len(now.led & now.kept) + centred(everything))


def centred(world: World) -> int:
    """How many objects lie in the middle of a region, which cannot shrink to less."""
    places = [place for place in map(world.place, world.queries.values()) if place is not None]
    return sum(any(world.apart(place, each) == 0 for place in places) for each in world.known().values())
