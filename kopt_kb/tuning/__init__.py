"""The tuning loop: state machine, policies, gates, proposers, executors."""
