"""Sourced GPU values, rooflines, profiler verdicts and a tuning loop that can be audited."""
