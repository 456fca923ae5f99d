"""Search of tuning spaces: spaces, one searcher, tables of exhaustive results to try it on, and a stop at the roof."""
