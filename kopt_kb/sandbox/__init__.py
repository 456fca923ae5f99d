"""Children and their walls: what strangers bring is reached from here only."""
