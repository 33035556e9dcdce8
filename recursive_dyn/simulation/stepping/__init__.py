"""The timestep: fly, look, solve, settle; as compiled loops, and as often as is asked."""
