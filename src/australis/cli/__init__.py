"""The command line, a module a command."""
