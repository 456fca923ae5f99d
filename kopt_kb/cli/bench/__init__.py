"""`kb bench`."""
