"""SQL: queries over streams, planned as networks of boxes (SOLE 3.4 for the spatial clauses)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
