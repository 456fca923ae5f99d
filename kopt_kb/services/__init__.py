"""Flows that need both analysis and kernels: static profiles, ceilings, pruning."""
