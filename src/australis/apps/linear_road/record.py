"""The records of Linear Road: what vehicles send and what they are answered (3.1.2, 3.2)."""

from __future__ import annotations

from australis.arrow.schema import schema

INPUT = schema(
    "type tinyint, time int, vid int, spd tinyint, xway smallint, lane tinyint, dir tinyint, seg tinyint, pos int,"
    " qid int, sinit tinyint, send tinyint, dow tinyint, tod smallint, day tinyint"
)
"""A tuple that a vehicle sends, in the order of a flat file's fields, with -1 where a field does not apply."""

REPORT, BALANCE, EXPENDITURE, TRAVEL = 0, 2, 3, 4
"""The types of input: a position report, and requests for the account's balance, a day's expenditure, a travel time."""

TOLL, ALERT = 0, 1
"""The types of answers to a report; an answer to a request has the request's type."""

ENTRY, EXIT = 0, 4
"""The lanes of the ramps; those between are travel lanes."""

EAST, WEST = 0, 1
SEGMENTS = 100
FEET = 5280
"""The length of a segment."""
FASTEST = 100
"""The speed of vehicles at most, in miles an hour."""
EVERY = 30
"""The seconds between two reports of a vehicle."""
DAYS = 69
"""The days of history are 1, which is yesterday, to 69."""

LIMITS = {TOLL: 5.0, ALERT: 5.0, BALANCE: 5.0, EXPENDITURE: 10.0, TRAVEL: 30.0}
"""How many seconds an answer of each type may take."""

OUTPUTS = {"tolls": TOLL, "alerts": ALERT, "balances": BALANCE, "expenditures": EXPENDITURE, "journeys": TRAVEL}
"""The outputs of the network, and the types of their answers."""
