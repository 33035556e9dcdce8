"""Rules that step a state: equation, graph, compiled loop and slow Python definition of each, one file a rule."""
