"""The child processes that judge a candidate, and what they are asked."""
