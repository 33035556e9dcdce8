"""A window on a running simulation: pause, step, go back, push, look closer."""
