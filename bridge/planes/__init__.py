"""Contacts of the scene's bodies with its planes: exact, all corners at once, without Bullet."""
