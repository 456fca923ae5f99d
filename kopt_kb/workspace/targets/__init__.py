"""What a record comes to: its share of every roof, the Stop Conditions it meets, and the verdict on a kernel."""
