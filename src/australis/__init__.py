"""Australis: a data stream management system. Streams flow through networks of boxes; `import australis as au`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
