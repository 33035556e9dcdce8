"""Joints of several charts: parameterisations of one motion, each used where it is well conditioned."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.joint import joint_program as core
from scene.joints.parametric_joint import Joint, Origin


class SeveralCharts(Origin):
    """A joint of several parameterisations."""

    @property
    def charts(self) -> tuple[Joint, ...]:
        return tuple(self.arguments["charts"])

    def product(self, first: Joint, second: Joint) -> Joint:
        """Charts are composed one by one."""
        return charts(*(a @ b for a in first.charts or (first,) for b in second.charts or (second,)))


def charts(*parameterisations: Joint) -> Joint:
    """One joint written in several coordinates; simulations switch between them where one becomes singular.

    Two or more joints of plain coordinates, equally many, that describe the same motion:
    ``charts(joints.euler("xyz"), joints.euler("zxz"))``, or a bead on spheres with their poles on different axes. They
    need not each reach every pose, as long as they overlap. The coordinates' names are the first one's.

    Which chart is in force is the parameter "<body>.chart" of the compiled dynamics, 0 at first: q, v, a and tau are
    read in it. A simulation has its own, and carries q, v and tau over between steps (``Simulation.charts``,
    ``rechart``).
    Limits, springs, damping, rotors and friction have no meaning that all charts share and are refused, as are
    constraints and other joints that use the coordinates. Composed with another joint, charts are composed one by one.
    Si & Guenter (2011), section 6. Raises ModelError; that charts differ in their motion, when the scene is compiled.
    """
    given = [chart for joint in parameterisations for chart in (getattr(joint, "charts", ()) or (joint,))]
    for k, chart in enumerate(given):
        _check(f"chart {k + 1}", chart)
    if len(given) < 2:
        raise ModelError("joints.charts takes two or more joints; use the joint itself if there is one")
    sizes = [len(chart.coordinates) for chart in given]
    if len(set(sizes)) > 1:
        raise ModelError(f"charts of one motion have equally many coordinates, these have {', '.join(map(str, sizes))}")
    names = [c.name for c in given[0].coordinates]
    if "chart" in names:
        raise ModelError("a joint of several charts has a parameter 'chart'; give the coordinate 'chart' another name")
    program = core.charted([chart.program for chart in given])
    return Joint.made(SeveralCharts("charts", {"charts": tuple(given)}), program, names, {})


def _check(what: str, chart: Joint) -> None:
    """ModelError unless a joint has plain coordinates of its own and nothing else."""
    if not isinstance(chart, Joint):
        raise ModelError(f"{what} must be a joint, not {type(chart).__name__}")
    if chart.coupling or chart.drive:
        raise ModelError(f"{what} follows or is driven by another coordinate; take a joint with coordinates of its own")
    for f in chart.program.factors:
        if not f.space.flat:
            raise ModelError(
                f"{what} moves on the space '{f.space.name}', which is singular nowhere and needs no charts"
            )
    if not chart.coordinates:
        raise ModelError(f"{what} has no coordinates; use the fixed joint by itself")
    for c in chart.coordinates:
        settings = {"damping": c.damping, "stiffness": c.stiffness, "armature": c.armature, "friction": c.friction}
        for name, most in (("limits", c.limits), ("effort", c.effort), ("velocity", c.velocity)):
            settings[name] = float(np.isfinite(most).any())
        used = [name for name, x in settings.items() if x]
        if used:
            raise ModelError(
                f"{what}: {used[0]} of coordinate '{c.name}' has no meaning in the other charts; leave it out, or use"
                " one chart"
            )
