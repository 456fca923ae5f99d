"""Exact values that know their unit and where they come from, and the citations that prove them."""
