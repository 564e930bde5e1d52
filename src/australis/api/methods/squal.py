"""The methods that draw the boxes of `australis.boxes`."""

from australis.api.methods.drawing import methods
from australis.boxes import catalog

SqualMethods = methods(catalog.SQUAL)
