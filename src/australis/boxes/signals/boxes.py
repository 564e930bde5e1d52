"""The boxes that work on signals, in lists."""

from australis.boxes.signals.apply import Apply
from australis.boxes.signals.cfar import Cfar
from australis.boxes.signals.correlate import Correlate
from australis.boxes.signals.lfilter import Lfilter
from australis.boxes.signals.rerate import Rerate
from australis.boxes.signals.rewindow import Rewindow
from australis.boxes.signals.stats import Stats
from australis.boxes.signals.sync import Sync
from australis.boxes.signals.transform import Transform
from australis.boxes.signals.trigger import Trigger
from australis.boxes.signals.wavelet import Wavelet
from australis.boxes.signals.window import Window
from australis.boxes.signals.zip import Zip

BOXES = (
    Stats, Transform, Wavelet, Lfilter, Correlate, Apply, Rewindow, Sync, Cfar, Trigger, Window, Zip, Rerate,
)  # fmt: skip
PLAIN = tuple(box for box in BOXES if box is not Apply)
"""Those whose parameters are numbers and texts."""
