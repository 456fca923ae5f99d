"""Occupancy from resources and sourced limits, by the vendors' own rules."""
