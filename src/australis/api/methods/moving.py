"""The methods that draw the boxes of `australis.boxes.moving`."""

from australis.api.methods.drawing import methods
from australis.boxes import catalog

MovingMethods = methods(catalog.MOVING)
