"""What is compiled before the first frame: a simulation that was warmed up compiles nothing in mid-motion."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.codegen.compiled import Compiled
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.making import optimizing
from recursive_dyn.contact.contacts import STATIC, Contacts
from scene import Body, Scene, joints

INERTIA = np.eye(3) * 0.01


@pytest.fixture
def nothing_compiled(monkeypatch):
    """From where it is called, whatever would be compiled or loaded fails."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("something is compiled in mid-motion")

    def begin() -> None:
        monkeypatch.setattr(Kernel, "__init__", refused)
        monkeypatch.setattr(Compiled, "_made", refused)

    return begin


def on_the_ground(sim: rd.Simulation) -> Contacts:
    """A point under the last body, level with the ground."""
    X, _ = sim.frames()
    k, point = len(X) - 1, X[-1, :3, 3] - (0.0, 0.0, 0.1)
    return Contacts(
        np.array([k]), np.array([STATIC]), point[None], (point * (1, 1, 0))[None], np.array([[0.0, 0.0, 1.0]]),
        point[2:], np.array([[0.5, 0.5, 0.0, 0.0, 0.0]]), np.array([1]),
    )  # fmt: skip


def test_limits_motors_friction_and_contacts_wait_for_nothing(nothing_compiled):
    scene = Scene()
    scene.world.attach(
        Body("arm", mass=1.0, center_of_mass=(0, 0, -0.5), inertia=INERTIA),
        joints.revolute("y", limits=(-0.1, 0.3), friction=0.1),
    )
    scene.world.attach(Body("ball", mass=1.0, center_of_mass=(0, 0, 0), inertia=INERTIA), joints.free())
    sim = rd.Simulation(scene.compile())
    sim.detect = on_the_ground
    sim.q[3] = 0.11
    state = sim.q.copy(), sim.v.copy(), sim.time
    sim.warm_up()
    nothing_compiled()
    for now, then in zip((sim.q, sim.v, sim.time), state, strict=True):
        np.testing.assert_array_equal(now, then)
    sim.step(20)
    sim.motors["arm.angle"] = rd.Motor(velocity=3.0, max_force=20.0)
    sim.step(60)
    sim.restore(sim.snapshot())
    sim.step()
    assert sim.q[0] == pytest.approx(0.3, abs=1e-3), "it is at its limit"
    assert [e.kind for e in sim.contact_events] == ["stay"]
    assert {"motor of arm.angle", "high limit of arm.angle", "friction of arm.angle"} == set(sim.coordinate_impulses)


def test_constraints_and_a_late_limit_wait_for_nothing(nothing_compiled):
    """What flies freely until it comes to a stop, on a constraint."""
    scene = Scene()
    bob = Body("bob", mass=1.0, center_of_mass=(0, 0, 0), inertia=INERTIA)
    scene.world.attach(bob, joints.prismatic("x", limits=(-0.5, 0.9)) @ joints.prismatic("z"))
    scene.constrain(sp.sqrt(bob.position.dot(bob.position)) - 1.0, name="rod")
    sim = rd.Simulation(scene.compile(), integrator="rk4")
    sim.q = [0.6, -0.8]
    sim.warm_up()
    nothing_compiled()
    sim.step(400)
    assert sim.q[0] >= -0.5 - 1e-3


def test_a_simulation_of_one_more_thing_to_look_at_is_prepared_again():
    """Surroundings that come later need frames: it is then that they are prepared, and steps go on."""
    scene = Scene()
    scene.world.attach(Body("ball", mass=1.0, center_of_mass=(0, 0, 0), inertia=INERTIA), joints.free())
    sim = rd.Simulation(scene.compile())
    sim.warm_up()
    sim.step(3)
    sim.detect = on_the_ground
    sim.warm_up()
    sim.step(200)
    assert sim.q[2] == pytest.approx(0.1, abs=1e-3)


def test_the_faster_code_can_be_waited_for(monkeypatch):
    finished = []
    monkeypatch.setattr(optimizing, "finish", lambda: finished.append(True))
    scene = Scene()
    scene.world.attach(Body("arm", mass=1.0, inertia=INERTIA, center_of_mass=(0, 0, 0)), joints.revolute("y"))
    sim = rd.Simulation(scene.compile())
    sim.warm_up()
    assert not finished
    sim.warm_up(optimized=True)
    assert finished == [True]


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "linearly_implicit_rk4", "implicit_midpoint"])
def test_pushes_and_controls_wait_for_nothing_either(nothing_compiled, integrator):
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0, -0.5), inertia=INERTIA)
    arm = scene.world.attach(arm, joints.revolute("y"))
    arm.attach(Body("hand", mass=1.0, inertia=INERTIA), joints.revolute("x"), at=rd.pose((0, 0, -1)))
    sim = rd.Simulation(scene.compile(), 1 / 60, integrator)
    sim.detect = on_the_ground
    sim.warm_up(driven=True)
    nothing_compiled()
    sim.apply_force("hand", (1.0, 0.0, 0.0))
    sim.step()
    sim.control = lambda q, v, t: -q
    sim.step(2)
