"""Boxes: SQuAl's seven, the two that read and write a keyed table, and those for signals and moving objects."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
