"""Cited values in the forms that other tools read, and those forms read back."""
