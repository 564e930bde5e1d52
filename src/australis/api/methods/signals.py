"""The methods that draw the boxes of `australis.boxes.signals`."""

from australis.api.methods.drawing import methods
from australis.boxes import catalog

SignalMethods = methods(catalog.SIGNALS)
