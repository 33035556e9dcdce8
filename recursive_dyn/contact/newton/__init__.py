"""Newton's method on all laws of an island at once, with factors body by body."""
