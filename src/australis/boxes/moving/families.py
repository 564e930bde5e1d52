"""Families of boxes for moving objects: those that give updates of answers, and of these those about objects."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from australis.model.box import OUT, Box, Key


class Updating(Box):
    """A box that gives updates of answers, in no order that is known."""

    def sorts(self, port: str) -> Key | None:
        return () if port == OUT else None


class Answering(Updating):
    """A box whose updates are about the objects that it takes."""

    id: str

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or ({0: {self.id: self.id}} if port != "accuracy" else {})
