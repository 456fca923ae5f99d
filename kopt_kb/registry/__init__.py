"""Hardware values that carry their citation: units, quantities, the wiki reader, the registry."""
