"""Gains that reach a training step."""
