"""Pure analysis: text and numbers in, typed results out."""
