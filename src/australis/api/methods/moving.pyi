"""The methods that draw the boxes of `australis.boxes.moving`; see tests/api/test_methods.py."""

from collections.abc import Mapping

from australis.api.stream import Stream
from australis.model.parameters import By, Expression, Function

class MovingMethods:
    @property
    def _stream(self) -> Stream: ...
    def distinct(
        self,
        by: By,
        sign: str = "sign",
        *,
        box: str | None = None,
    ) -> Stream:
        """The columns `by`: with sign 1 when a first update supports their values, with -1 when the last one is taken
        back."""

    def meet(
        self,
        other: Stream,
        where: Expression | None = None,
        sign: str = "sign",
        *,
        box: str | None = None,
    ) -> Stream:
        """Tell which pairs of what is there now, here and in `other`, come (`sign` 1) and go (-1), by their updates."""

    def tally(
        self,
        functions: Mapping[str, Function] | None = None,
        /,
        *,
        by: By = (),
        sign: str = "sign",
        box: str | None = None,
        **more: Function,
    ) -> Stream:
        """Aggregate what is there now, by group, among updates: the old values (-1) and the new (1) of each change."""
