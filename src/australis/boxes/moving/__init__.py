"""Moving objects: the shared operator that answers many queries about them at once (SOLE)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
