"""What is told of a step that was not taken, and what to do."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.singular_joints import singular
from recursive_dyn.integrators import registry
from recursive_dyn.simulation.flying.diagnosis import culprit, element_without_value, row_without_value, violent_element
from recursive_dyn.simulation.flying.plausible import liveliest

_Array = np.ndarray


def too_much_energy(
    dynamics: Dynamics, start: tuple[_Array, _Array], moves: str | None, h: float, integrator: str
) -> str:  # fmt: skip
    """Of one by that integrator from (q, v) that would make more energy than could be; moves: what moves absurdly after
    it."""
    violent = _violent(dynamics, *start, h)
    other = "" if violent or integrator == registry.DEFAULT else f", or the integrator '{registry.DEFAULT}'"
    return (
        "a step would end with more energy than there was and forces gave, a thousand times of it, by itself or with"
        " those before it that were as fast, or at speeds that nothing has, most of it in the motion of"
        f" {moves}{violent}; use a smaller timestep than {h:.3g} s{other}."
        " The last good state is kept"
    )


def _violent(dynamics: Dynamics, q: _Array, v: _Array, h: float) -> str:
    """What is told of a force element that a step cannot resolve."""
    found = violent_element(dynamics, q, v, h)
    if found is None:
        return ""
    given = (
        f", where the force element '{found[0]}' gives or takes {found[1]:.3g} times the kinetic energy within a step"
    )
    if all(e.energy is not None for e in dynamics.model.forces if e.name == found[0]):
        return given
    return (
        f"{given}: a joint has stiff dampers (damping=) and dry friction (friction=) of its own, which steps of any"
        " length take; of a speed's sign tanh(v / small) is the smooth form"
    )


def untaken(
    dynamics: Dynamics, integrator: str, code: int, start: tuple[_Array, _Array, _Array], h: float, output: _Array
) -> str:
    """Of one of length h that ended with a code of ``drivers``; start: q, v and tau; output: what was computed last."""
    q, v, _ = start
    if code == drivers.BAD_INPUT:
        for name, values in zip(("q", "v", "tau"), start, strict=True):
            bad = np.flatnonzero(~np.isfinite(values))
            if len(bad):
                return f"{name} is not finite at {dynamics.label(name, int(bad[0]))}"
        return "a parameter is not finite"
    # what divides by zero at a singular joint is large or not finite, as its rounding falls
    parameters = dynamics.parameters.values_array
    joint = culprit(dynamics.model, q, v, h, parameters) if code == drivers.BAD_OUTPUT else None
    reason = singular_joint(dynamics, q) if joint is None else None
    if reason is not None:
        return f"{reason}. The last good state is kept"
    if code == drivers.UNEXPLAINED:
        return _unexplained(dynamics, integrator, q, v, h, output)
    if code == drivers.NOT_CONVERGED and np.isfinite(output).all():
        fastest = liveliest(dynamics, q, v)
        return (
            f"the {integrator} step did not converge, where {dynamics.label('v', fastest)} moves at"
            f" {v[fastest]:.4g}{_violent(dynamics, q, v, h)}; use a smaller timestep than {h:.3g} s. The last good"
            " state is kept"
        )
    return _no_value(dynamics, q, v, h, output, joint or culprit(dynamics.model, q, v, h, parameters))


def _unexplained(dynamics: Dynamics, integrator: str, q: _Array, v: _Array, h: float, output: _Array) -> str:
    """Of one of which even the shortest part makes, or loses, more energy than there is in its motion."""
    ahead, end = np.split(output[: dynamics.nq + dynamics.nv], [dynamics.nq])
    fastest = dynamics.label("v", liveliest(dynamics, ahead, end))
    other = "" if integrator == registry.DEFAULT else f", or the integrator '{registry.DEFAULT}'"
    return (
        f"the {integrator} step makes more energy of nothing, or loses more, in parts of any length, than there is in"
        f" its motion, most of it in that of {fastest}{_violent(dynamics, q, v, h)}; use a smaller timestep than"
        f" {h:.3g} s{other}. The last good state is kept"
    )


def _no_value(dynamics: Dynamics, q: _Array, v: _Array, h: float, output: _Array, joint: str | None) -> str:
    for first, end in dynamics.model.units:
        if not q[first:end].any():
            return (
                f"the quaternion of '{dynamics.model.coordinate_names[first]}' to"
                f" '{dynamics.model.coordinate_names[end - 1]}' has length 0; write a unit one, as 0, 0, 0, 1 of no"
                " rotation"
            )
    if joint is not None:
        return (
            f"the joint of coordinate '{joint}' has no finite frame where it goes; keep it away with limits, use a"
            " smaller timestep, or write the joint so that it exists there. The last good state is kept"
        )
    row = row_without_value(dynamics, q, v, h)
    if row is not None:
        return (
            f"the constraint '{row}' has no value where it goes; keep it away from there, or remove the constraint"
            " before (scene.constraints.remove). The last good state is kept"
        )
    element = element_without_value(dynamics, q, v, h)
    if element is not None:
        return (
            f"the force element '{element}' has no finite force where it goes; keep it away from there, by limits or a"
            " smaller timestep, or remove it before (scene.forces.remove). The last good state is kept"
        )
    nq, nv = dynamics.nq, dynamics.nv
    bad_v = np.flatnonzero(~np.isfinite(output[nq : nq + nv]))
    fastest = int(np.argmax(np.abs(v)))
    index = int(bad_v[np.argmax(np.abs(v[bad_v]))]) if len(bad_v) else fastest
    other = f" beside {dynamics.label('v', fastest)} at {v[fastest]:.4g}" if index != fastest else ""
    return (
        f"the next state is not finite at {dynamics.label('v', index)}, which moves at {v[index]:.4g}{other}"
        f"{_violent(dynamics, q, v, h)}; use a"
        " smaller timestep, or look at its joint there. The last good state is kept"
    )


def singular_joint(dynamics: Dynamics, q: _Array) -> str | None:
    """What is singular at q (nq,), and what to do."""
    found = singular(dynamics.model, q[None], dynamics.parameters)
    return None if found is None else found[1]
