"""Problems outside the list of operations: their inputs, float64 references, and how candidates are called."""
