"""Where results go, one kind of sink a module."""
