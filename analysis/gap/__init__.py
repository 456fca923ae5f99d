"""Gap accounting: each percent between a time and its roof has a cause with evidence, or is named unexplained."""
