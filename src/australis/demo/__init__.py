"""What `australis demo` shows: a network of a road, and a day's first minutes on it."""
