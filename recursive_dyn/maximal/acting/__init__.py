"""What joints do to their bodies over a timestep, slowly and in machine code, and what impulses meet of them."""
