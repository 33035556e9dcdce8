"""Pictures of a scene by Bullet: meshes, cameras, films."""
