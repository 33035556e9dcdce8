"""All systems by name."""

from __future__ import annotations

from collections.abc import Callable

from demos.manifolds import chain, pendulums, quadrotor, reaction_mass, rolling_ball, walker
from demos.manifolds.system import System

SYSTEMS: dict[str, Callable[[], System]] = {
    "spherical": pendulums.spherical,
    "three_dimensional": pendulums.three_dimensional,
    "double_spherical": pendulums.double_spherical,
    "double_3d": pendulums.double_three_dimensional,
    "walker_stance": walker.stance,
    "walker_flight": walker.flight,
    "quadrotor_load": quadrotor.with_load,
    "reaction_mass": reaction_mass.pendulum,
    "chain": lambda: chain.on_cart(3),
    "rolling_ball": rolling_ball.uniform,
    "off_centre_ball": rolling_ball.off_centre,
    "turntable": rolling_ball.on_turntable,
}
ALIASES = {"3d": "three_dimensional", "double_three_dimensional": "double_3d"}


def system(name: str, links: int = 3) -> System:
    """The system of a name or alias; KeyError for no such name. links: how many the chain has."""
    name = ALIASES.get(name, name)
    return chain.on_cart(links) if name == "chain" else SYSTEMS[name]()
