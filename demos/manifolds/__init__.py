"""Systems whose configuration is a manifold: Lagrangian, virtual work, and equations of motion without coordinates."""
