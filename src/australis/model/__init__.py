"""What a network is: boxes, trains, tables, orders, arrows, and what outputs are worth."""
