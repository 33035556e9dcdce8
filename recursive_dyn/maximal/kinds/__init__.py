"""Equal joints, constraints and force elements together, a program for many of each."""
