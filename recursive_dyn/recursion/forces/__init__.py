"""Forces that a scene has of its own, and those of who pushes it."""
