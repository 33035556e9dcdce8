"""Scene parameters stay inputs: changing one is the same as compiling the scene with that number."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import assert_close, curve, derivative

import recursive_dyn as rd
from scene import Body, Scene, joints

FIRST = {"radius": 0.8, "weight": 1.3, "reach": 0.4, "tilt": 0.2, "roll": 0.09, "speed": 0.3}
SECOND = {"radius": 0.6, "weight": 2.1, "reach": -0.3, "tilt": -0.5, "roll": 0.12, "speed": -0.2}
s, q = sp.symbols("s q", real=True)


def build(values, symbolic):
    """A mechanism with parameters, or with the numbers in their place."""
    scene = Scene(gravity=(0.3, 0.0, -9.81))
    p = {n: scene.parameter(n, x) if symbolic else x for n, x in values.items()}
    ring = [p["radius"] * sp.cos(s), p["radius"] * sp.sin(s), s / 5]
    inertia = np.array([[0.1, 0, 0], [0, 0.11, 0], [0, 0, p["roll"]]])
    bead = scene.world.attach(
        Body("bead", mass=p["weight"], center_of_mass=(0.1, 0, 0.05), inertia=inertia), joints.curve(ring, s)
    )
    at = rd.pose(xyz=(p["reach"], 0, 0.1), rpy=(0.1, p["tilt"], 0))
    arm = bead.attach(
        Body("arm", mass=p["weight"] * 2, center_of_mass=(0, p["reach"], -0.2), inertia=np.diag([0.1, 0.11, 0.12])),
        joints.revolute("y"),
        at=at,
    )
    arm.attach(Body("lamp", mass=0.4, inertia=np.eye(3) * 0.01), joints.fixed(), at=rd.pose((p["reach"] / 2, 0, 0)))
    turn = sp.Matrix(
        [[sp.cos(q), -sp.sin(q), 0, p["speed"] * q], [sp.sin(q), sp.cos(q), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    )
    arm.attach(Body("tip", mass=0.7, center_of_mass=(0.2, 0, 0), inertia=np.diag([0.02, 0.03, 0.04])),
               joints.Joint(turn, q) @ joints.revolute("x"), at=rd.pose((0, 0, -0.5)))  # fmt: skip
    return scene


@pytest.fixture(scope="module")
def symbolic():
    return build(FIRST, symbolic=True).compile()


def compare(a, b, count=4):
    rng = np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, count, a.nv))
    wrenches = rng.normal(size=(count, len(a.bodies), 6))
    for f in ("forward_dynamics", "inverse_dynamics"):
        assert_close(getattr(a, f)(q, v, tau), getattr(b, f)(q, v, tau), 1e-12)
    for f in ("kinetic_energy", "momentum", "velocities", "bias"):
        assert_close(getattr(a, f)(q, v), getattr(b, f)(q, v), 1e-13)
    for f in ("poses", "mass_matrix", "potential_energy", "center_of_mass", "gravity"):
        assert_close(getattr(a, f)(q), getattr(b, f)(q), 1e-13)
    assert_close(a.jacobian(q, "lamp"), b.jacobian(q, "lamp"), 1e-13)
    assert_close(a.generalized_forces(q, wrenches), b.generalized_forces(q, wrenches), 1e-13)
    assert_close(a.cartesian_forces(q, tau), b.cartesian_forces(q, tau), 1e-12)


def test_parameters_at_their_first_values_are_those_numbers(symbolic):
    symbolic.parameters["radius"] = FIRST["radius"]
    compare(symbolic, build(FIRST, symbolic=False).compile())


def test_changed_parameters_are_a_scene_compiled_with_the_new_numbers():
    d = build(FIRST, symbolic=True).compile()
    for name, value in SECOND.items():
        d.parameters[name] = value
        assert d.parameters[name] == value
    compare(d, build(SECOND, symbolic=False).compile())


@pytest.mark.parametrize("method", ["recursive", "lagrangian", "trace"])
def test_both_methods_take_parameters(method):
    d = build(FIRST, symbolic=True).compile(method)
    d.parameters["weight"], d.parameters["radius"] = 2.1, 0.6
    numbers = build(FIRST | {"weight": 2.1, "radius": 0.6}, symbolic=False).compile(method)
    rng = np.random.default_rng(2)
    q, v, tau = rng.normal(size=(3, d.nv))
    assert_close(d.forward_dynamics(q, v, tau), numbers.forward_dynamics(q, v, tau), 1e-12)


@settings(max_examples=20)
@given(radius=st.floats(0.2, 3.0), weight=st.floats(0.1, 10.0), reach=st.floats(-1, 1))
def test_energy_is_kept_at_any_parameter_values(symbolic, radius, weight, reach):
    d = symbolic
    d.parameters["radius"], d.parameters["weight"], d.parameters["reach"] = radius, weight, reach
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=(2, d.nv))
    a = d.forward_dynamics(q, v)

    def energy(t):
        q_t, v_t = curve(d, q, v, a, t)
        return d.kinetic_energy(q_t, v_t) + d.potential_energy(q_t)

    scale = (
        abs(d.potential_energy(q))
        + d.kinetic_energy(q, v)
        + abs(d.inverse_dynamics(q, v, a) @ v)
        + abs(d.bias(q, v) @ v)
    )
    assert_close(derivative(energy), 0.0, 1e-10, scale)


def test_a_running_simulation_follows_its_parameters():
    """Half a second with the first values, then half a second with others, against two scenes of numbers."""
    sim = rd.Simulation(build(FIRST, symbolic=True).compile(), 1e-3)
    sim.step(500)
    before = rd.Simulation(build(FIRST, symbolic=False).compile(), 1e-3)
    before.step(500)
    # rounding of 1e-16 a step, carried on by a motion whose neighbours part no faster than e^(5 t)
    assert_close(sim.q, before.q, 1e-11)
    after = rd.Simulation(build(SECOND, symbolic=False).compile(), 1e-3)
    after.q, after.v = sim.q, sim.v
    for name, value in SECOND.items():
        sim.parameters[name] = value
    sim.step(500)
    after.step(500)
    assert_close(sim.q, after.q, 1e-11)
    assert_close(sim.v, after.v, 1e-11)
    unchanged = rd.Simulation(build(FIRST, symbolic=False).compile(), 1e-3)
    unchanged.step(1000)
    assert np.abs(unchanged.q - sim.q).max() > 1e-2  # the change did matter


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "implicit_midpoint"])
def test_every_integrator_reads_the_parameters(integrator):
    sim = rd.Simulation(build(FIRST, symbolic=True).compile(), 1e-3, integrator)
    sim.parameters["radius"] = 0.6
    other = rd.Simulation(build(FIRST | {"radius": 0.6}, symbolic=False).compile(), 1e-3, integrator)
    sim.step(50)
    other.step(50)
    assert_close(sim.q, other.q, 1e-12)


@pytest.mark.parametrize("name", FIRST)
def test_derivatives_with_respect_to_a_parameter(name):
    d = build(FIRST, symbolic=True).compile()
    rng = np.random.default_rng(5)
    q, v, tau = rng.normal(size=(3, d.nv))
    for function, arguments in {
        "forward_dynamics": (q, v, tau),
        "inverse_dynamics": (q, v, tau),
        "poses": (q,),
    }.items():

        def values(t, function=function, arguments=arguments):
            rows = []
            for x in t:
                d.parameters[name] = FIRST[name] + x
                rows.append(getattr(d, function)(*arguments))
            d.parameters[name] = FIRST[name]
            return np.array(rows)

        slope = derivative(values)
        scale = np.abs(values(np.zeros(1))).max() + np.abs(slope).max()
        assert_close(d.parameter_derivative(function, name, *arguments), slope, 1e-10, scale)


def test_unknown_parameters_and_bad_values_are_refused(symbolic):
    with pytest.raises(rd.ModelError, match=r"unknown parameter 'radios'.*radius"):
        symbolic.parameters["radios"] = 1.0
    with pytest.raises(rd.ModelError, match="unknown parameter 'radios'"):
        symbolic.parameters["radios"]
    for bad in (float("nan"), float("inf"), [1.0, 2.0], "wide", None):
        with pytest.raises(rd.StateError, match="parameter 'radius' needs a finite number"):
            symbolic.parameters["radius"] = bad
    assert dict(symbolic.parameters).keys() == FIRST.keys()
    assert len(symbolic.parameters) == len(FIRST)
