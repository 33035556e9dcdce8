"""What the last step did, told as a person asks for it."""
