"""The frozen tree that recursions read, and how it is made of what a scene says."""
