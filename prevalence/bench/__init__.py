"""How many pairs a second, and against what: the throughput benchmark of pair scoring."""
