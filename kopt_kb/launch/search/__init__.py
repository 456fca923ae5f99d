"""Search of tuning spaces: spaces, one searcher, and a stop at the roof."""
