"""Checks of cuTile files and folders, and what the compiler makes of them."""
