"""M, bias forces and accelerations, as each of the papers has them."""
