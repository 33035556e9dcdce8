"""From a Lagrangian to equations of motion, step by step."""
