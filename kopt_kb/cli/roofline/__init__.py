"""Commands on work and its roofs."""
