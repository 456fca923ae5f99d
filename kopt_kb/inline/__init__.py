"""In a user's own Python: profile a function under the installed profiler, assert a share of a roof in pytest."""
