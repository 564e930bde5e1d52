"""The catalog: every exported box is found by its kind."""

from australis.boxes.catalog import FAMILIES, MOVING, SIGNALS, SQUAL, boxes, kinds
from australis.boxes.filter import Filter
from australis.boxes.moving import Watch
from australis.boxes.signals import Sync


def test_each_family_has_its_own_boxes() -> None:
    for family, box in ((SQUAL, Filter), (SIGNALS, Sync), (MOVING, Watch)):
        assert [other for other in FAMILIES if box in boxes(other)] == [family]


def test_no_kind_hides_another() -> None:
    every = [box for family in FAMILIES for box in boxes(family)]
    assert len(kinds()) == len(every)
    assert all(kinds()[box.kind] is box for box in every)
