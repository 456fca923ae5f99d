"""Commands on kernel files: compile, record, scan, verify."""
