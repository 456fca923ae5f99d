"""What may come from outside or be left out: one frozen dataclass a door, and the pack that holds them."""
