"""What floats keeps its momenta where its joints are at their limits, in maximal coordinates too."""

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

JOINTS = {
    "hinge": lambda: joints.revolute("y", limits=(-0.5, 0.7)),
    "slide": lambda: joints.prismatic("z", limits=(-0.2, 0.3)),
    "cone": lambda: joints.ball(limits=joints.TurnLimits(swing=0.4)),
}


@pytest.mark.parametrize("method", ["velocity_constraints", "penalty"])
@pytest.mark.parametrize("joint", JOINTS)
def test_momenta_of_what_floats_stay_at_limits(method, joint):
    """Bodies that stops moved lost a thousandth of their momentum a step, what was put far beyond a stop all of it."""
    scene = Scene(gravity=(0, 0, 0))
    node = scene.world.attach(Body("base", [shapes.Box((0.2, 0.15, 0.25))], density=500), joints.free())
    for k in range(2):
        link = Body(f"link {k}", [shapes.Box((0.5, 0.05, 0.04))], density=300)
        node = node.attach(link, JOINTS[joint](), rd.pose((0.2, 0.1, 0.1)))
    dynamics = scene.compile(method)
    sim = rd.Simulation(dynamics, 1 / 60, "implicit_euler" if method == "penalty" else None)
    reduced, rng = dynamics.reduced, np.random.default_rng(0)
    q, v = reduced.neutral(), 3.0 * rng.normal(size=reduced.nv)
    if joint != "cone":
        q[-2:] = 1.0, -0.8  # beyond their stops
    sim.q[:], sim.v[:] = dynamics.from_reduced(q, v)
    momenta, bound = dynamics.centroidal_momentum_matrix(sim.q) @ sim.v, 0
    for _ in range(120):
        sim.step()
        bound += any(sim.coordinate_impulses.values())
        assert dynamics.centroidal_momentum_matrix(sim.q) @ sim.v == pytest.approx(momenta, abs=1e-10)
    assert bound > 0
