"""Where round shapes touch surfaces of triangles: height fields and meshes with hollows, by their closest features."""
