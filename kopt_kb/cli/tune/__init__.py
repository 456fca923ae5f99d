"""`kb tune`."""
