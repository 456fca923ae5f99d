"""Readers of ncu's reports: binary files, CSV pages and console text."""
