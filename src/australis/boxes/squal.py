"""SQuAl's boxes, and the two that read and write a keyed table, in the order in which they are documented."""

from australis.boxes.aggregate.aggregate import Aggregate
from australis.boxes.bsort import BSort
from australis.boxes.filter import Filter
from australis.boxes.join.join import Join
from australis.boxes.map import Map
from australis.boxes.read import Read
from australis.boxes.resample.resample import Resample
from australis.boxes.route import Route
from australis.boxes.union import Union
from australis.boxes.write import Write

BOXES = (Filter, Route, Map, Union, BSort, Aggregate, Join, Resample, Write, Read)
