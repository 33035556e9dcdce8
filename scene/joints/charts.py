"""Joints of several charts: parameterisations of one motion, each used where it is well conditioned."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.joint.charted_program import charted
from recursive_dyn.joint.turn_limits import TurnLimits
from scene.joints.coordinate_settings import refuse_in_charts
from scene.joints.one_chart import in_one_chart
from scene.joints.parametric_joint import Joint, Origin

_INSTEAD = {
    "limits": "use charts(..., limits=joints.TurnLimits(...)) for how it turns, ",
    "stiffness": "use scene.bushing or scene.spring, ", "damping": "use scene.bushing or scene.spring, ",
}  # fmt: skip


class SeveralCharts(Origin):
    """A joint of several parameterisations."""

    @property
    def charts(self) -> tuple[Joint, ...]:
        return tuple(self.arguments["charts"])

    def product(self, first: Joint, second: Joint) -> Joint:
        """Charts are composed one by one."""
        return charts(*(a @ b for a in first.charts or (first,) for b in second.charts or (second,)))


def charts(*parameterisations: Joint, limits: TurnLimits | None = None) -> Joint:
    """One joint written in several coordinates; simulations switch between them where one becomes singular.

    Two or more joints of plain coordinates, equally many, that describe the same motion:
    ``charts(joints.euler("xyz"), joints.euler("zxz"))``, or a bead on spheres with their poles on different axes. They
    need not each reach every pose, as long as they overlap; a hole between them, in which all are singular, is told by
    a warning when the scene is compiled. The coordinates' names are the first one's.

    Which chart is in force is the parameter "<body>.chart" of the compiled dynamics, 0 at first: q, v, a and tau are
    read in it. A simulation has its own, and carries q, v and tau over between steps (``Simulation.charts``,
    ``rechart``).
    ``limits`` are of how the body turns against the joint's place, as of a ball, whatever chart is in force: a bead
    whose frame goes along with a sphere's normal stays within a cap. Springs and dampers that all charts share are
    ``scene.bushing`` and ``scene.spring``; a motor leads the joint as a whole, ``simulation.motors["body"]``, to a pose
    that is given in one of them. Coordinates' own limits, springs, damping, rotors and friction have no meaning in the
    other charts and are refused (surfaces that touch take some), as are constraints, motors and other
    joints that use them one by one; ``scene.roll`` writes its rows in every chart. Composed with another joint, charts
    are composed one by one.
    ``driven`` and ``follow`` drive the first chart's coordinates: the joint then has none of its own, and needs no
    other chart.
    Si & Guenter (2011), section 6. Raises ModelError; that charts differ in their motion, when the scene is compiled.
    """
    given = [chart for joint in parameterisations for chart in _of(joint)]
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
    program = charted([chart.program for chart in given])
    joint = Joint.made(SeveralCharts("charts", {"charts": tuple(given)}), program, names, {"limits": limits})
    refuse_in_charts(joint.coordinates)
    return joint


def _of(joint: Joint) -> tuple[Joint, ...]:
    """The charts that a person gave a joint, else the joint in one."""
    one = in_one_chart(joint) if isinstance(joint, Joint) else joint
    return getattr(one, "charts", ()) or (one,)


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
                f"{what}: {used[0]} of coordinate '{c.name}' has no meaning in the other charts;"
                f" {_INSTEAD.get(used[0], '')}leave it out, or use one chart"
            )
