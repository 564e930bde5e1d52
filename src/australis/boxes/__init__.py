"""Boxes: SQuAl's seven, and the two that read and write a keyed table."""

from australis.boxes.aggregate import Aggregate
from australis.boxes.bsort import BSort
from australis.boxes.filter import Filter
from australis.boxes.join import Join
from australis.boxes.map import Map
from australis.boxes.read import Read
from australis.boxes.resample import Resample
from australis.boxes.union import Union
from australis.boxes.write import Write

BOXES = (Filter, Map, Union, BSort, Aggregate, Join, Resample, Write, Read)
"""All of them, in the order in which documentation lists them."""

__all__ = ["BOXES", "Aggregate", "BSort", "Filter", "Join", "Map", "Read", "Resample", "Union", "Write"]
