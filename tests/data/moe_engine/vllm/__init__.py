"""A stand-in for an engine: the files that a table's checks look for, written for tests."""

raise RuntimeError("nothing of an engine's Python is run but the kernel that is taken out of its file")
