"""Commands on a workspace."""
