"""What constraints and joints bear, and what breaks of it."""
