"""Applications: Linear Road, a city of moving objects, and sounds."""
