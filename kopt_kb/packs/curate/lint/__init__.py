"""Hardware numbers in texts and code of anybody, held against the wiki."""
