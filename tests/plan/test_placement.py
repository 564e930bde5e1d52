"""Placement: in one partition or in many, and what is exchanged for it."""

import australis as au
from australis.model.box import EVERYWHERE, Key
from australis.model.network import Arrow
from australis.plan.partitioning import TOGETHER, Partitioning
from australis.plan.placement import Intake, KeyLayout, Placement

REPORTS = au.stream("reports", "time int, vid int, xway int, seg int")
CARS = au.static("cars", "vid int, plate string")


def counted(stream: au.Stream, by: str | list[str], box: str) -> au.Stream:
    return stream.aggregate(on="time", size=60, by=by, n="count(*)", box=box)


def placed(*, sources: dict[str, Key | None] | None = None, **outputs: au.Stream) -> Placement:
    return Placement(au.network(**outputs), sources or {})


def test_a_box_without_a_key_runs_in_one_partition_and_takes_everything() -> None:
    placement = placed(out=counted(REPORTS, [], "all"))
    assert placement.one == {"all": True}
    assert placement.intakes["all", 0].by == ()
    assert placement.partitionings[Arrow("all", "out")] == TOGETHER
    assert placed(out=counted(REPORTS, [], "all"), sources={"reports": ()}).intakes["all", 0].by is None


def test_a_key_is_exchanged_by_unless_the_source_is_partitioned_by_some_of_it() -> None:
    segs = counted(REPORTS, ["xway", "seg"], "segs")
    exchanged = placed(out=segs)
    assert (exchanged.one, exchanged.intakes["segs", 0].by) == ({"segs": False}, ("xway", "seg"))
    assert exchanged.layouts == {"segs": (0, 1)}
    as_it_comes = placed(out=segs, sources={"reports": ("seg",)})
    assert as_it_comes.intakes["segs", 0].by is None
    assert as_it_comes.partitionings[Arrow("segs", "out")] == Partitioning(("seg",), "reports")
    assert as_it_comes.layouts == {}
    assert placed(out=segs, sources={"reports": ("seg", "vid")}).intakes["segs", 0].by == ("xway", "seg")


def test_what_must_run_in_one_partition_or_as_before_does() -> None:
    net = au.network(out=counted(REPORTS, ["xway", "seg"], "segs"))
    assert Placement(net, {}, single={"segs"}).one == {"segs": True}
    assert Placement(net, {}, previous={"segs": (1,)}).intakes["segs", 0].by == ("seg",)


def test_boxes_over_static_inputs_are_copied() -> None:
    plates = CARS.filter("plate <> ''", box="plates")
    placement = placed(out=REPORTS.join(plates, "left.vid = right.vid", box="named"))
    assert placement.tables == {"cars"}
    assert placement.static == {"cars", "plates"}
    assert placement.copied == {"plates"}
    assert placement.copies(placement.network.named["named"]) == ["plates"]


def test_an_intake_that_is_exchanged_or_kept_apart_comes_later() -> None:
    arrow = Arrow("reports", "out")
    assert not Intake(arrow).later
    assert Intake(arrow, ()).later
    assert Intake(arrow, EVERYWHERE).later
    assert Intake(arrow, apart=True).later
    assert not Intake(arrow, ("vid",), apart=True, static=True).later


def test_a_layout_is_positions_of_a_key() -> None:
    assert KeyLayout((1, 0)).columns(("a", "b", "c")) == ("b", "a")
