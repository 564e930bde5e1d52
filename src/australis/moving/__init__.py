"""Moving objects: the shared operator that answers many queries about them at once (SOLE)."""

from typing import TYPE_CHECKING

from australis.late import late

if TYPE_CHECKING:
    from australis.moving.ask import Ask, Question
    from australis.moving.distinct import Distinct
    from australis.moving.lead import Lead
    from australis.moving.meet import Meet
    from australis.moving.merging import Nearest
    from australis.moving.tally import Tally
    from australis.moving.watch import Watch

__all__ = ["Ask", "Distinct", "Lead", "Meet", "Nearest", "Question", "Tally", "Watch"]

late(
    __name__,
    {
        "ask": ("Ask", "Question"),
        "distinct": ("Distinct",),
        "lead": ("Lead",),
        "meet": ("Meet",),
        "merging": ("Nearest",),
        "tally": ("Tally",),
        "watch": ("Watch",),
    },
)
