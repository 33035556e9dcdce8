"""Equal systems side by side in vector lanes, and where the numbers of each are."""
