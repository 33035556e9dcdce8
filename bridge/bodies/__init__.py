"""The scene in Bullet: what its bodies collide with, how they look there, and the bodies themselves."""
