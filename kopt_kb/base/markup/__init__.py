"""HTML, SVG and Markdown that cannot be injected into: text of anybody goes in, and stays text."""
