"""A simulation inside somebody else's game loop: fixed steps, poses between them, events, commands, snapshots."""
