"""Tasks: what bodies, or all of them together, are to do, for whoever makes them do it."""
