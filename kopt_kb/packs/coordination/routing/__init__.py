"""Who does a piece of work: specialists, the words that ask for each, hardware gates, rules, remote context."""
