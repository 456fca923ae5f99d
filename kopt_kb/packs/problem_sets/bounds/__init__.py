"""Times that no correct answer to a problem can be faster than, and tables of them."""
