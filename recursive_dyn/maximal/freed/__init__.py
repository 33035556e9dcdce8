"""A scene's bodies set free: what that cannot express, and masses that neighbours lend."""
