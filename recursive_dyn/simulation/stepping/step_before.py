"""The length of the last step, or part of one, beside that of this one: impulses of it are of that length."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.simulation.stepping.step_arrays import StepArrays


@compiled
def longer(s: StepArrays) -> float:
    """How many times as long as the last one this one is."""
    return float(s.kept.cut[0]) / float(s.part[1])


@compiled
def length_before(s: StepArrays) -> float:
    """Of the last one, s."""
    return s.settings[0] * float(s.part[1]) / float(s.kept.cut[0])
