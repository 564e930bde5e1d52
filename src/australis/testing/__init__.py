"""For tests: make trains, run one box without a network, cut streams in every way, script sources and sinks."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
