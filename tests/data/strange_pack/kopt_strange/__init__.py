"""A distribution of strangers, as tests install it."""
