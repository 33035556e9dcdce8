"""Where round shapes and polytopes touch surfaces of triangles: height fields and meshes with hollows, by features."""
