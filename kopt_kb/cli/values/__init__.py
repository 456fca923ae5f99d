"""Commands that answer from the wiki."""
