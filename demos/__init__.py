"""The gallery: one file a demo, each a scene that runs in a window or into a picture."""
