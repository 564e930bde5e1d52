"""Signals: segments of samples, and the boxes that work on them (XStream)."""

from typing import TYPE_CHECKING

from australis.late import late

if TYPE_CHECKING:
    from australis.signals.apply import Apply
    from australis.signals.boxes import BOXES, KEYED, PLAIN, ROWWISE
    from australis.signals.cfar import Cfar
    from australis.signals.correlate import Correlate
    from australis.signals.lfilter import Lfilter
    from australis.signals.rerate import Rerate
    from australis.signals.rewindow import Rewindow
    from australis.signals.segment import Segment, segment
    from australis.signals.stats import Stats
    from australis.signals.sync import Sync
    from australis.signals.timebase import Timebase, timebase
    from australis.signals.transform import Transform
    from australis.signals.trigger import Trigger
    from australis.signals.wavelet import Wavelet
    from australis.signals.window import Window
    from australis.signals.zip import Zip

__all__ = [
    "BOXES", "KEYED", "PLAIN", "ROWWISE", "Apply", "Cfar", "Correlate", "Lfilter", "Rerate", "Rewindow", "Segment",
    "Stats", "Sync", "Timebase", "Transform", "Trigger", "Wavelet", "Window", "Zip", "segment", "timebase",
]  # fmt: skip

late(
    __name__,
    {
        "apply": ("Apply",),
        "boxes": ("BOXES", "KEYED", "PLAIN", "ROWWISE"),
        "cfar": ("Cfar",),
        "correlate": ("Correlate",),
        "lfilter": ("Lfilter",),
        "rerate": ("Rerate",),
        "rewindow": ("Rewindow",),
        "segment": ("Segment", "segment"),
        "stats": ("Stats",),
        "sync": ("Sync",),
        "timebase": ("Timebase", "timebase"),
        "transform": ("Transform",),
        "trigger": ("Trigger",),
        "wavelet": ("Wavelet",),
        "window": ("Window",),
        "zip": ("Zip",),
    },
)
