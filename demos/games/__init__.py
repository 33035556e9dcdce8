"""Games around a plugin, and rollback: ``python -m recursive_dyn.examples -l`` lists them."""
