"""Triangles of scene shapes and drawings, and the files in which Bullet is given them."""
