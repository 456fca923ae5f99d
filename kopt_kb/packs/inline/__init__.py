"""Profile a function in the user's own Python; fixtures for pytest."""
