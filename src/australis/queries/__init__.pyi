from .plan import sql as sql
from .plan import sql_network as sql_network
from .spatial import Inside as Inside
from .spatial import Moving as Moving
from .spatial import NearestClause as NearestClause
