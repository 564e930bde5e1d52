"""The example of quality of service under load, as its page tells it."""

import re
from pathlib import Path

import pytest

import australis as au
from australis.bench.service import COSTS, INPUT, LOADS, USUAL, model, network, trial
from australis.bench.service_trial import CATCHES_UP, SHEDS, WAITS, ServiceTrial
from australis.model.qos import read_costs
from australis.qos.road_map import road_map
from tests.cli.commands import told

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "quality_of_service.md").read_text()


def block(name: str) -> str:
    """What the page puts into a file."""
    found = re.search(rf"^```\w+ {re.escape(name)}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    for name in ("jams.yaml", "costs.json"):
        (tmp_path / name).write_text(block(name))
    return tmp_path


@pytest.fixture(scope="module")
def trials() -> dict[str, ServiceTrial]:
    return {name: trial(load) for name, load in LOADS.items()}


def test_the_network_and_its_costs_are_those_of_the_page(files: Path) -> None:
    assert network() == au.load(files / "jams.yaml")
    assert read_costs(files / "costs.json") == COSTS


@pytest.mark.parametrize(("rate", "more", "code", "begin"), [
    (1_000_000, (), 0, "jams.yaml: valid"), (2_000_000, ("--headroom", "1", "--shed"), 1, "does NOT fit"),
])  # fmt: skip
def test_the_page_shows_what_check_says(files: Path, rate: int, more: tuple[str, ...], code: int, begin: str) -> None:
    asked = ("check", "jams.yaml", "--rates", f"reports={rate}", "--costs", "costs.json", "--cores", "2", *more)
    assert " ".join(("australis", *asked)) in PAGE
    answer = told(*asked, code=code).stdout
    assert answer[answer.index(begin) :] in PAGE


def test_the_page_has_the_pictures_that_are_drawn() -> None:
    names = re.findall(r"!\[[^\]]+\]\((quality_of_service_\w+\.png)\)", PAGE)
    assert len(names) == 3
    assert {path.name for path in DOCS.glob("quality_of_service_*.png")} == set(names)


def test_in_a_burst_the_branch_waits_that_can_and_nothing_is_shed(trials: dict[str, ServiceTrial]) -> None:
    burst = trials["burst"]
    assert [phase.name for phase in burst.phases] == [WAITS, CATCHES_UP]
    assert min(burst.kept("fast").values) == 1
    assert 9 < max(burst.delay("fast").values) < 10
    assert max(burst.delay("jams").values) < 2.2
    assert max(burst.delay("jams", steered=False).values) > 5


def test_under_a_load_that_lasts_as_much_is_shed_as_the_analysis_says(trials: dict[str, ServiceTrial]) -> None:
    overload, truth = trials["overload"], model()
    plan = road_map(truth, {INPUT: 2 * USUAL}).at(truth.most)
    assert [phase.name for phase in overload.phases] == [WAITS, SHEDS, CATCHES_UP]
    assert min(overload.kept("fast").values) == pytest.approx(plan.kept["fast"], abs=0.005)
    assert set(overload.kept("jams").values) == {1}
    assert max(overload.delay("jams").values) < 2.2
    assert min(overload.utility(network()).values) > 0.98
    assert min(overload.utility(network(), steered=False).values) < 0.25


@pytest.mark.slow
def test_the_command_tells_and_draws(tmp_path: Path) -> None:
    lines = told("bench", "service", "--plots", str(tmp_path)).stdout.splitlines()
    rows = [line.split() for line in lines if line.startswith("  for ")]
    assert [row[-2:] for row in rows] == [["100%", "0.99"], ["100%", "0.69"], ["35%", "0.99"], ["100%", "0.21"]]
    drawn = [Path(line.removeprefix("drawn: ")) for line in lines if line.startswith("drawn: ")]
    assert len(drawn) == 3
    assert all(path.parent == tmp_path and path.exists() for path in drawn)


def test_without_a_folder_nothing_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "drawn" not in told("bench", "service").stdout
    assert not list(tmp_path.iterdir())
