"""Joints, constraints and motions as rows on the twists of bodies, and what follows from these alone."""
