"""`kb profile`."""
