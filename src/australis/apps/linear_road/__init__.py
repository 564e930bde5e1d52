"""Linear Road: the benchmark of stream systems, with its simulator, history, driver, validator and rating."""
