"""What a prompt or a notebook shows of the objects that a person holds."""

import html.parser

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from recursive_dyn.simulation.report import Report
from scene import Body, Scene, joints, shapes


@pytest.fixture(scope="module")
def scene():
    scene = Scene(gravity=(0, 0, -9.81))
    length = scene.parameter("length", 0.5)
    arm = scene.world.attach(Body("arm", [shapes.Capsule(0.1, 0.4)], mass=2 * length), joints.revolute("y"))
    arm.attach(Body("<hand>", [shapes.Box((0.1, 0.1, 0.1))], mass=0.1), joints.ball(), at=rd.pose((0, 0, -0.4)))
    arm.attach(Body("bob", mass=1.0, inertia=np.eye(3)), joints.revolute("x") @ joints.prismatic("z"))
    return scene


@pytest.fixture(scope="module")
def simulation(scene):
    return rd.Simulation(scene.compile(), timestep=1 / 60)


class Cells(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def test_a_scene_is_a_tree_of_bodies_and_joints(scene):
    assert repr(scene).splitlines() == [
        "Scene: 3 bodies; gravity (0, 0, -9.81) m/s^2; parameters length = 0.5",
        "world",
        "└─ arm: revolute(angle), 2*length kg, Capsule",
        "   ├─ <hand>: ball(wx, wy, wz), 0.1 kg, Box",
        "   └─ bob: revolute(angle) @ prismatic(distance), 1 kg",
    ]
    assert "<hand>: ball(wx, wy, wz)" in Cells(scene._repr_html_()).text


def test_a_long_chain_ends_with_what_is_left_out():
    scene = Scene()
    node = scene.world
    for k in range(2000):
        node = node.attach(Body(f"link {k}", mass=1.0), joints.revolute("y"))
    lines = repr(scene).splitlines()
    assert len(lines) < 100 and lines[-1] == f"... and {2001 - len(lines) + 2} more bodies"


def test_dynamics_tell_sizes_method_and_limits(simulation):
    assert repr(simulation.dynamics) == "<Dynamics: 3 bodies, nq 7, nv 6, parameters length, method 'auto'>"
    assert "arm.angle" in Cells(simulation.dynamics._repr_html_()).text


def test_a_simulation_tells_its_time_and_energy(simulation):
    simulation.time = 1.25
    energy = float(simulation.dynamics.potential_energy(simulation.q))
    assert repr(simulation) == (
        f"<Simulation: 3 bodies, nv 6, time 1.25 s, energy {energy:.6g} J, steps of 1/60 s by linearly_implicit_rk4>"
    )
    q = simulation.q.copy()
    simulation.q[0] = np.nan
    assert "no energy" in repr(simulation) and "arm.angle" in repr(simulation)
    simulation.q[:] = q


def test_a_report_tells_what_was_out_of_the_ordinary():
    assert repr(Report()) == "Report()"
    told = Report(steps_halved=2, halvings=3, step_parts=4, damping_spring="arm.angle", unexplained_energy=1e-3)
    assert repr(told) == (
        "Report(steps_halved=2, halvings=3, unexplained_energy=0.001, step_parts=4, damping_spring='arm.angle')"
    )
    assert eval(repr(told), {"Report": Report}) == told


def test_parameters_and_motors_tell_what_was_said(simulation):
    assert repr(simulation.parameters) == "Parameters(length=0.5)"
    simulation.motors["arm.angle"] = motor = rd.Motor(position=0.3, max_force=5)
    assert repr(simulation.motors) == "Motors({'arm.angle': Motor(position=0.3, max_force=5.0)})"
    assert eval(repr(motor), {"Motor": rd.Motor}) == motor
    assert Cells(simulation.parameters._repr_html_()).text.split() == ["parameter", "value", "length", "0.5"]


def test_a_joint_shows_its_transform():
    x, y = sp.symbols("x y", real=True)
    G = sp.Matrix([[1, 0, 0, x], [0, sp.cos(y), -sp.sin(y), 0], [0, sp.sin(y), sp.cos(y), 0], [0, 0, 0, 1]])
    joint = joints.Joint(G, (x, y))
    assert repr(joint) == "Joint(x, y)" and joint._repr_latex_() == f"$\\displaystyle {sp.latex(G)}$"
    assert "q_{3}" in joints.ball()._repr_latex_()
