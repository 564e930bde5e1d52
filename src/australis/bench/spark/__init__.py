"""Plain Spark, which the engine is measured beside."""
