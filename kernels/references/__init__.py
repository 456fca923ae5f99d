"""References of operations that have no kernel here: inputs from a seed, and the float64 result."""
