"""Does a gain of a benchmark reach a training step: buckets, id audit, traces, attribution (Rule 11)."""
