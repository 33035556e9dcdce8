"""Contacts of spheres, capsules and boxes in closed form, compiled: surroundings without PyBullet."""
