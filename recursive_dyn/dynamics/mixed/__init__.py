"""Si & Guenter's Method II: symbolic programs for kinds of joints, numeric recursions over links."""
