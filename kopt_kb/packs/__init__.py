"""Features behind the doors: nothing of the core imports one, and none imports another."""
