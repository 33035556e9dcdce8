"""A space that the project does not know is defined in one place: joints, dynamics and steps ask it for all they need.

A pendulum's angle lives on the circle here, as its sine and cosine, so that it never grows however often it goes round.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.graph.expression import Graph, array, atan2, cos, reciprocal, sin, sqrt
from recursive_dyn.joint.joint_program import build
from recursive_dyn.spatial.algebra import components, gathered
from recursive_dyn.spatial.spaces import Space
from scene import Body, Scene, joints


class Circle(Space):
    """Angles as (sine, cosine); a tangent is the angle's rate."""

    def __init__(self) -> None:
        super().__init__("circle", size=2, tangent_size=1, dimension=1, units=((0, 2),), written="a sine and a cosine")

    def labels(self, velocities):
        return tuple(f"{function}({name})" for name in velocities for function in ("sin", "cos"))

    def exp(self, point, tangent):
        (s, c), (turn,) = components(point), components(tangent)
        return gathered([s * cos(turn) + c * sin(turn), c * cos(turn) - s * sin(turn)], components(point))

    def log(self, point, other):
        (s, c), (s_other, c_other) = components(point), components(other)
        return gathered([atan2(s_other * c - c_other * s, c_other * c + s_other * s)], components(point))

    def rate(self, point, tangent):
        (s, c), (turn,) = components(point), components(tangent)
        return gathered([c * turn, -(s * turn)], components(point))


def on_the_circle(**settings) -> joints.Joint:
    """A hinge about z: the constructor of the joint."""
    graph = Graph()
    s, c = graph.inputs("q", 2)
    scale = reciprocal(sqrt(s * s + c * c))
    G = array(np.eye(4))
    G[:2, :2] = [[c * scale, -s * scale], [s * scale, c * scale]]
    return joints.Joint.made(None, build(graph, [(Circle(), G)]), ["angle"], settings)


def double_pendulum(hinge) -> Scene:
    scene = Scene(gravity=(0.0, -9.81, 0.0))
    inertia, center = np.diag([0.02, 0.05, 0.04]), (0.4, 0.05, 0.1)
    upper = Body("upper", mass=1.2, center_of_mass=center, inertia=inertia)
    lower = Body("lower", mass=0.7, center_of_mass=center, inertia=inertia)
    scene.world.attach(upper, hinge(damping=0.1)).attach(lower, hinge(), at=rd.pose((0.8, 0, 0), (0.3, 0.2, 0.1)))
    return scene


@pytest.fixture(scope="module")
def twins() -> tuple[rd.Dynamics, rd.Dynamics]:
    """The same mechanism on circles and on angles."""
    return double_pendulum(on_the_circle).compile(), double_pendulum(lambda **s: joints.revolute("z", **s)).compile()


def on_circles(angles: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(*angles.shape[:-1], -1)


def test_dynamics_are_those_of_angles(twins):
    circles, angles = twins
    rng = np.random.default_rng(2)
    q, v, tau = rng.uniform(-3, 3, (6, 2)), rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    there = on_circles(q)
    assert (circles.nq, circles.nv) == (4, 2)
    assert circles.poses(there) == pytest.approx(angles.poses(q), abs=1e-14)
    assert circles.mass_matrix(there) == pytest.approx(angles.mass_matrix(q), abs=1e-14)
    assert circles.bias(there, v) == pytest.approx(angles.bias(q, v), abs=1e-13)
    assert circles.forward_dynamics(there, v, tau) == pytest.approx(angles.forward_dynamics(q, v, tau), rel=1e-11)
    assert circles.operation_count("forward_dynamics").trig == 0


def test_configurations_have_names_and_move_on_the_circle(twins):
    circles, _ = twins
    assert tuple(circles.coordinates) == tuple(f"{b}.{f}(angle)" for b in ("upper", "lower") for f in ("sin", "cos"))
    assert circles.neutral() == pytest.approx([0.0, 1.0, 0.0, 1.0])
    q = circles.random(np.random.default_rng(1))
    assert np.linalg.norm(q.reshape(2, 2), axis=1) == pytest.approx([1.0, 1.0])
    moved = circles.integrate(q, [2.0, -1.0], 0.5)
    assert moved == pytest.approx(on_circles(np.arctan2(q[::2], q[1::2]) + np.array([1.0, -0.5])), abs=1e-15)
    assert circles.difference(q, moved) == pytest.approx([1.0, -0.5], abs=1e-14)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint", "rk4"])
def test_steps_go_round(twins, integrator):
    """Every rule takes the same steps on either space, RK4 but for the embedding's error of fifth order."""
    sims = [rd.Simulation(dynamics, 1e-3, integrator) for dynamics in twins]
    for sim in sims:
        sim.v[:] = 9.0, -4.0
        sim.step(1500)
    circle, angle = sims
    assert angle.q[0] > 2 * np.pi  # once round at least
    assert circle.q == pytest.approx(on_circles(angle.q), abs=1e-7 if integrator == "rk4" else 1e-9)
    assert circle.v == pytest.approx(angle.v, abs=1e-6 if integrator == "rk4" else 1e-8)
    assert np.linalg.norm(circle.q.reshape(2, 2), axis=1) == pytest.approx([1.0, 1.0], abs=1e-12)


def test_what_has_no_number_has_no_spring():
    with pytest.raises(rd.ModelError, match=r"'angle' is a velocity on the space 'circle'.* a sine and a cosine"):
        on_the_circle(stiffness=3.0)


def test_a_file_says_that_it_does_not_know_the_space(tmp_path):
    with pytest.raises(
        rd.SceneFileError, match="joint of 'upper': a joint on the space 'circle' has no name in a file"
    ):
        double_pendulum(on_the_circle).save(tmp_path / "circles.json")


def test_dynamics_on_it_travel_and_are_exported(twins, tmp_path):
    circles, _ = twins
    q, v = on_circles(np.array([0.3, -2.0])), np.array([0.5, 1.0])
    assert pickle.loads(pickle.dumps(circles)).bias(q, v) == pytest.approx(circles.bias(q, v), abs=0.0)
    circles.export_c(tmp_path)
    assert "lower_cos" in str(circles.equations("mass_matrix"))


def test_velocities_of_a_joint_are_independent():
    class Doubled(Circle):
        def __init__(self) -> None:
            Space.__init__(self, "doubled circle", size=2, tangent_size=2, dimension=1)

    with pytest.raises(rd.ModelError, match="'doubled circle': its tangents are 2 numbers in 1 dimensions"):
        build(Graph(), [(Doubled(), array(np.eye(4)))])
