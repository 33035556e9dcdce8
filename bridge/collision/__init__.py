"""Contacts by Bullet: shapes, detection, planes in closed form, and bodies that Bullet has of its own."""
