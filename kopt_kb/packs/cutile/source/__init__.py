"""cuTile source read without importing it: what it calls, and which recipes of the performance loop apply to it."""
