"""Pictures of rooflines: laid out once for SVG, PNG, HTML and the terminal."""
