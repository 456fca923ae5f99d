"""The TileIR backend where it runs: what a machine has of it, and kernels compared and timed with and without it."""
