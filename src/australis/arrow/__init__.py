"""Arrow: schemas and their text, columns as arrays, durations."""
