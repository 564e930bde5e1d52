from .plan import network as network
from .plan import sql as sql
from .spatial import Inside as Inside
from .spatial import Moving as Moving
from .spatial import NearestClause as NearestClause
