"""What goes on when a scene was edited while it ran: numbers old and new, and the motion of what was hung anew."""
