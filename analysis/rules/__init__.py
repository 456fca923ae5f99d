"""What limits a kernel: ordered rules over a profile, thresholds from the wiki, one verdict, and what it asks for."""
