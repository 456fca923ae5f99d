"""Decisions between launch records: the clock's statistics, the judge children, contests."""
