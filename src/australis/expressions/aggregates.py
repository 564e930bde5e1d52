"""The names of aggregate functions; what they compute is the aggregate box's."""

# Each name, and the one that stands for it and its synonyms.
AGGREGATES: dict[str, str] = {
    "count": "count",
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
    "min": "min",
    "max": "max",
    "stddev": "stddev",
    "stddev_samp": "stddev",
    "stddev_pop": "stddev_pop",
    "variance": "variance",
    "var_samp": "variance",
    "var_pop": "var_pop",
    "first": "first",
    "first_value": "first",
    "last": "last",
    "last_value": "last",
}
