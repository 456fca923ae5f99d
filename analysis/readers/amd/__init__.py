"""Readers of the rocprof family's reports: CSV, JSON, SQLite, folders and thread traces."""
