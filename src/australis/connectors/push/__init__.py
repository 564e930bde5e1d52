"""The push endpoint: tuples that programs post, kept in a spool until they are read."""
