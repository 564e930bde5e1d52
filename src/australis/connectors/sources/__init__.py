"""Where tuples come from, one kind of source a module."""
