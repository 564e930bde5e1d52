"""Facts: what is known of merged signals."""

from fractions import Fraction

from australis.model.facts import NOTHING, Facts, SignalGroup, common, without

MIC, SHIP = SignalGroup("mic", "cut", "mic"), SignalGroup("ship", "join", None)


def test_merged_streams_have_all_groups_once_and_what_they_agree_on() -> None:
    left = Facts((MIC, SHIP), {"a": Fraction(1, 3), "b": Fraction(2)}, {"a": 8, "b": 0})
    right = Facts((SHIP, MIC), {"a": Fraction(2, 6), "b": Fraction(3), "c": Fraction(1)}, {"a": 9, "b": 0})
    assert common([left, right]) == Facts((MIC, SHIP), {"a": Fraction(1, 3)}, {"b": 0})
    assert common([left]) == left
    assert common([left, NOTHING]) == Facts((MIC, SHIP))
    assert common([NOTHING, NOTHING]) == NOTHING


def test_columns_are_left_out() -> None:
    assert without({"a": 1, "b": 2}, ("b", "c")) == {"a": 1}
    assert without({}, ("b",)) == {}
