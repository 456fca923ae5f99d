"""What commands share: arguments, output, streams."""
