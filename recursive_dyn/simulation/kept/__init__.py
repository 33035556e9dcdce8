"""What a step leaves for the next: contacts, impulses, momenta, touches, and who sleeps."""
