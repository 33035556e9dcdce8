"""Where curved shapes touch convex ones and each other: closed forms and short iterations on the true surfaces."""
