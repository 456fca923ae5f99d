"""Routing of tasks to knowledge and tools."""
