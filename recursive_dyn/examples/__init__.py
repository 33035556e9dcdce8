"""``python -m recursive_dyn.examples``: games that come with the package, started as the files that they are."""
