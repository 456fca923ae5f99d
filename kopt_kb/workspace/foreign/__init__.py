"""Logs of optimisations that other programs or people kept: read as they are, and held to what a claim needs."""
