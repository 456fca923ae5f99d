"""Write, check, export and publish a wiki; numbers in texts."""
