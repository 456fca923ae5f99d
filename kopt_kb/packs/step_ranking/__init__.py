"""Where the time of a model's step went, and what of it could be won."""
