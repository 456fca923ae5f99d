"""What readers of every vendor share: the reader type, errors, numerals, units and JSON streams."""
