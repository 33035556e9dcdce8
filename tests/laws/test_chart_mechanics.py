"""In each of its charts, a joint of several charts is the joint of that chart."""

import numpy as np
import pytest
from chart_cases import INERTIA, bead, energy, euler, mechanism, run_counting, single, started, tangent_charts
from trees import assert_close, derivative

from scene import Body, Scene, joints


@pytest.fixture(scope="module", params=["recursive", "lagrangian", pytest.param("trace", marks=pytest.mark.slow)])
def charted(request):
    return mechanism(bead("z", "x"), euler("xyz", "zxz", "yzy")).compile(request.param)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("second", [0, 1, 2])
def test_in_every_chart_a_joint_is_the_joint_of_that_chart(charted, first, second):
    """Every law of the plain joints, which has its own tests, then holds in every combination of charts."""
    plain = mechanism(bead("zx"[first]), joints.euler(("xyz", "zxz", "yzy")[second])).compile()
    charted.parameters["b1.chart"], charted.parameters["b2.chart"] = first, second
    rng = np.random.default_rng(5)
    q = rng.uniform(0.4, 1.1, (6, 8))
    qd, a, tau = rng.normal(size=(3, 6, 8))
    wrenches = rng.normal(size=(6, 4, 6))
    calls = {
        "forward_dynamics": (q, qd, tau, wrenches), "inverse_dynamics": (q, qd, a), "mass_matrix": (q,),
        "bias": (q, qd), "gravity": (q,), "poses": (q,), "velocities": (q, qd), "jacobian": (q, "b3"),
        "kinetic_energy": (q, qd), "potential_energy": (q,), "momentum": (q, qd), "center_of_mass": (q,),
        "integrate": (q, qd, 0.1), "generalized_forces": (q, wrenches), "cartesian_forces": (q, tau),
    }  # fmt: skip
    for name, arguments in calls.items():
        # rounding, amplified by M^-1 and by the distance of 20 degrees from the singularities
        assert_close(getattr(charted, name)(*arguments), getattr(plain, name)(*arguments), 1e-11)
    acceleration = charted.forward_dynamics(q, qd, tau)
    assert_close(charted.inverse_dynamics(q, qd, acceleration), tau, 1e-10)


@pytest.mark.parametrize("method", ["recursive", "lagrangian", "trace"])
def test_a_chart_that_is_not_in_force_may_be_singular(method):
    scene = Scene()
    scene.world.attach(Body("body", mass=1.0, inertia=INERTIA), tangent_charts())
    dynamics = scene.compile(method)
    states = np.array([0.0, 0.3, 0.2]), np.array([0.5, np.pi / 2, 0.2])
    for chart, q in enumerate(states):  # w = 0 in the first, v = 90 degrees in the second
        dynamics.parameters["body.chart"] = chart
        assert np.isfinite(dynamics.forward_dynamics(q, [1.0, 2.0, 3.0])).all()


def test_a_parameter_in_the_charts_stays_an_input():
    scene = Scene()
    R = scene.parameter("R", 1.0)
    parts = [joints.surface(joints.surfaces.sphere(R, poles=p)) @ joints.revolute("z") for p in "zx"]
    scene.world.attach(Body("body", mass=1.0, inertia=INERTIA), joints.charts(*parts))
    sim = started(scene.compile(), [0.3, 5.0, 1.0], 1e-3)
    sim.parameters["R"] = 2.0
    start = energy(sim)
    assert run_counting(sim, 4000) >= 6
    assert_close(energy(sim), start, 1e-7)
    assert_close(np.linalg.norm(sim.dynamics.poses(sim.q)[0, :3, 3]), 2.0, 1e-14)
    d, q, qd, tau = sim.dynamics, sim.q, sim.v, np.ones(3)

    def acceleration(R):
        d.parameters["R"] = R
        return d.forward_dynamics(q, qd, tau)

    for chart in (0, 1):
        sim.rechart("body", chart)
        numerical = derivative(lambda t: np.array([acceleration(2.0 + x) for x in t]))
        d.parameters["R"] = 2.0
        assert_close(d.parameter_derivative("forward_dynamics", "R", q, qd, tau), numerical, 1e-9)
    assert dict(scene.parameters) == {"R": 1.0} and sim.parameters["body.chart"] in (0.0, 1.0)


def test_the_programs_of_a_charted_joint_agree_with_the_interpreter():
    from recursive_dyn.codegen.reference import run

    dynamics = single(euler("xyz", "zxz"))
    rng = np.random.default_rng(2)
    for chart in (0.0, 1.0):
        dynamics.parameters["body.chart"] = chart
        q, qd, tau = rng.uniform(0.3, 1.0, (3, 3))
        result = run(
            dynamics.program("forward_dynamics"), {"q": q, "v": qd, "tau": tau, "parameters": np.array([chart])}
        )
        assert_close(result["a"], dynamics.forward_dynamics(q, qd, tau), 1e-13)
