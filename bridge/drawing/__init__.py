"""Pictures by OpenGL: meshes drawn many at a time, light and shadow, in a window or without a display."""
