"""Views: README blocks and whole files, rendered from the journal and never edited."""
