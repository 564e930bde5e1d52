"""The traffic simulator: vehicles that follow each other along expressways (3.1.1)."""
