"""The `kb` command line: one module per command; parse, call one library function, print."""
