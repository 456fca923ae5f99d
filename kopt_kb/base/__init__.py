"""Documents and refusals: errors with codes, the one serialiser, files, frames, markup."""
