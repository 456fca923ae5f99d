"""Views: README blocks, memory files, reports and trends, rendered from the journal and never edited."""
