"""The boxes that work on signals, in lists."""

from australis.signals.apply import Apply
from australis.signals.cfar import Cfar
from australis.signals.correlate import Correlate
from australis.signals.lfilter import Lfilter
from australis.signals.rerate import Rerate
from australis.signals.rewindow import Rewindow
from australis.signals.stats import Stats
from australis.signals.sync import Sync
from australis.signals.transform import Transform
from australis.signals.trigger import Trigger
from australis.signals.wavelet import Wavelet
from australis.signals.window import Window
from australis.signals.zip import Zip

ROWWISE = (Stats, Transform, Wavelet, Lfilter, Correlate, Apply)
"""The boxes that give each tuple with other columns beside or in place of its own."""
KEYED = (Rewindow, Sync, Cfar, Trigger, Window, Zip, Rerate)
"""The boxes that follow signals of keys, and give columns of the key."""
BOXES = (*ROWWISE, *KEYED)
PLAIN = tuple(box for box in BOXES if box is not Apply)
"""Those whose parameters are numbers and texts."""
