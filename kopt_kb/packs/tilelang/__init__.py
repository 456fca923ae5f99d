"""Kernels in TileLang."""
