"""Plain Spark, with which the engine is compared."""
