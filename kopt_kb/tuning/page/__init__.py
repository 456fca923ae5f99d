"""Reports to share: a campaign as one page, of the same state that judges read."""
