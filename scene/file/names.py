"""What the names in quotes stand for: parameters, coordinates of the scene and of bodies, what constraints see."""

from __future__ import annotations

from collections.abc import Iterable

from recursive_dyn.errors import ModelError
from recursive_dyn.joint.charted_program import chart_name
from recursive_dyn.joint.coordinate import CLOCK
from recursive_dyn.model.constraint import quantity, rate_name
from scene.body import Body


class Names:
    """Names that are known as bodies are added, parents first."""

    def __init__(self, parameters: Iterable[str], shared: Iterable[str]) -> None:
        self.parameters = frozenset(parameters)
        self._coordinates = {*shared, CLOCK}  # and the plain coordinates of bodies so far
        self._rates = {rate_name(name) for name in self._coordinates}
        self._charts: set[str] = set()  # what says which chart of a body's joint is in force
        self._bodies: dict[str, int] = {}

    @property
    def bodies(self) -> frozenset[str]:
        """Names of the bodies so far."""
        return frozenset(self._bodies)

    def add(self, body: Body) -> None:
        """One more body, on its joint."""
        self._bodies[body.name] = len(self._bodies)
        joint = body.joint
        if joint is None or joint.coupling is not None or joint.drive is not None:
            return  # its coordinates are functions of others, and have no place of their own
        labels = [f"{body.name}.{c.name}" for c in joint.coordinates]
        self._rates.update(map(rate_name, labels))
        if joint.charts:
            self._charts.add(chart_name(body.name))
        for factor in joint.program.factors:
            if factor.space.flat:
                self._coordinates.update(labels[factor.first_v : factor.first_v + factor.nv])

    def check_in_body(self, name: str) -> None:
        """ModelError for a name that a mass, an inertia or a placement cannot use."""
        if name == CLOCK:
            raise ModelError("'time' may stand in joints, constraints and forces only")
        if name not in self.parameters:
            raise ModelError(f"unknown parameter '{name}'; declare it among the scene's parameters")

    def check_in_joint(self, name: str) -> None:
        """ModelError for a name that a transform or a drive cannot use."""
        if name not in self.parameters and name not in self._coordinates:
            raise ModelError(
                f"unknown parameter or coordinate '{name}'; declare it among the scene's parameters or coordinates, or"
                ' take a coordinate "body.name" of a body before'
            )

    def check_in_constraint(self, name: str) -> None:
        """ModelError for a name that a constraint cannot use."""
        known = any(name in names for names in (self.parameters, self._coordinates, self._rates, self._charts))
        if not known and quantity(name, self._bodies) is None:
            raise ModelError(
                f"unknown name '{name}'; use a parameter, a coordinate, rate(coordinate), or a body's position.x,"
                " rotation.xy, velocity.x or spin.x"
            )
