"""Which joints that have charts by themselves keep to one: those whose coordinates somebody uses by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.joint.charted_program import chart_name
from recursive_dyn.model.constraint import rate_name
from recursive_dyn.model.specification import Coupling
from scene.body import Body
from scene.content import SceneContent
from scene.joints.one_chart import in_one_chart
from scene.joints.parametric_joint import Joint
from scene.scalars import carried, names_of

_CHARTED = attrgetter("charted")


def joints_in_use(scene: SceneContent, bodies: Sequence[Body]) -> dict[Body, Joint]:
    """The joints with charts of their own accord, in one chart where a constraint, force or joint uses a coordinate.

    What uses the chart's number, too, is written in all charts, as rolling is.
    """
    if not any(map(_CHARTED, bodies)):
        return {}
    found = {body: body.joint for body in bodies if body.joint is not None and body.charted}
    users = [set(names_of([row])) for c in scene.constraints for row in c.rows]
    users += [set(names_of(force.scalars)) for force in scene.forces]
    for joint in (body.joint for body in bodies if body.joint is not None):
        users += [set(joint.program.parameters), set(names_of(joint.drive or ()))]
        users += [{joint.coupling.leader}] if isinstance(joint.coupling, Coupling) else []
    for body, joint in found.items():
        labels = {f"{body.name}.{c.name}" for c in joint.coordinates}
        own = {body.name, *labels, *map(rate_name, labels)}
        if any(names & own and chart_name(body.name) not in names for names in users):
            found[body] = _kept_to_one(body.name, joint)
    return found


def _kept_to_one(body: str, joint: Joint) -> Joint:
    try:
        return in_one_chart(joint)
    except ModelError as error:
        raise ModelError(
            f"joint of '{body}': who uses its coordinates by name, as a constraint, force or other joint does, keeps it"
            f" to one chart: {error}"
        ) from None


def without_charts(rows: Sequence[Scalar], joints: Mapping[Body, Joint]) -> list[Scalar]:
    """Rows that are written in all charts, in the first one of the joints that have but one."""
    gone = {("parameter", chart_name(body.name)): 0.0 for body, joint in joints.items() if not joint.charts}
    names = {name for _, name in gone}
    return [carried([row], Graph(), gone)[0] if names.intersection(names_of([row])) else row for row in rows]
