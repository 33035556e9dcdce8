"""Steps along chords, whose momenta are exact: what the variational integrator solves."""
