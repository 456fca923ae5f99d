"""The journal: an append-only, hash-chained log of typed events, and the blobs that they name."""
