"""Whether a planned stream comes in the order that a window or a join relies on."""

import australis as au
from australis.queries.order import disorder

REPORTS = au.stream("reports", "time int, vid int, mph int")


def test_an_input_ascends_and_so_does_what_copies_it() -> None:
    assert disorder(REPORTS, "time") is None
    assert disorder(REPORTS.filter("mph > 60"), "time") is None
    assert disorder(REPORTS.map(at="time"), "at") is None


def test_a_computed_column_may_not_and_slack_is_advised() -> None:
    why = disorder(REPORTS.map(at="time % 60"), "at")
    assert why is not None
    assert why.startswith("`at` is computed, so that it need not ascend; say how many tuples late")


def test_windows_by_a_key_ascend_on_their_start_in_each_group() -> None:
    stats = REPORTS.aggregate(on="time", size=60, by="vid", n="count(*)")
    assert disorder(stats, "time", ["vid"]) is None
    assert disorder(stats.filter("n > 1"), "n") is not None
