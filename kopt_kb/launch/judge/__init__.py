"""Launch records made by warm makers, and decisions between them: statistics, judge children, contests."""
