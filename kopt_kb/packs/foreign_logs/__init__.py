"""Judge logs that other programs wrote."""
