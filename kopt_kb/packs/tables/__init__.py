"""Tuned tables of other programs, read and written byte for byte."""
