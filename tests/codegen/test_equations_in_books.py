"""Printed equations of textbook systems are those of the books."""

import numpy as np
import pytest
import sympy as sp
from test_equations import matches, real

import recursive_dyn as rd
from recursive_dyn.dynamics.sympy_equations import symbols
from scene import Body, Scene, joints


class TestPendulum:
    @pytest.fixture
    def scene(self):
        scene = Scene(gravity=(0, 0, -10))
        self.m, self.L, self.I = (scene.parameter(*p) for p in (("m", 1.0), ("L", 0.5), ("I", 0.01)))
        inertia = np.diag([self.I] * 3)
        body = Body("pendulum", mass=self.m, center_of_mass=(0, 0, -self.L), inertia=inertia)
        scene.world.attach(body, joints.revolute("y"))
        return scene

    def test_equation_of_motion(self, scene):
        angle, tau = real("pendulum_angle tau_pendulum_angle")
        m, L, I = self.m, self.L, self.I
        (acceleration,) = scene.compile().equations()
        assert matches(acceleration, (tau - 10 * m * L * sp.sin(angle)) / (I + m * L**2))

    @pytest.mark.parametrize(
        ("function", "text"),
        [
            ("forward_dynamics", "(-10*L*m*sin(pendulum_angle) + tau_pendulum_angle)/(I + L**2*m)"),
            ("mass_matrix", "I + L**2*m"),
            ("bias", "10*L*m*sin(pendulum_angle)"),
            ("potential_energy", "-10*L*m*cos(pendulum_angle)"),
            ("kinetic_energy", "I*pendulum_angle_dot**2/2 + L**2*m*pendulum_angle_dot**2/2"),
        ],
    )
    def test_it_prints_as_a_person_would_write(self, scene, function, text):
        printed = scene.compile().equations(function)
        assert str(printed[0] if hasattr(printed, "shape") else printed) == text

    def test_parameters_are_the_symbols_the_scene_gave(self, scene):
        (entry,) = scene.compile().equations("mass_matrix")
        assert entry.free_symbols == {self.m, self.L, self.I}
        assert entry.subs({self.m: 2, self.L: 3, self.I: 1}) == 19

    def test_derivatives_with_respect_to_a_parameter(self, scene):
        dynamics = scene.compile()
        for function in ("potential_energy", "mass_matrix", "forward_dynamics"):
            whole, slope = dynamics.equations(function), dynamics.equations(f"{function}/L")
            assert matches(slope, sp.diff(whole, self.L))

    def test_without_nesting(self, scene):
        assignments, outputs = scene.compile().equations("forward_dynamics", nested=False)
        assert outputs.shape == (1, 1)
        known = set().union(*symbols(scene.model()).values())
        total = outputs[0]
        for symbol, expression in assignments:
            assert symbol not in known and expression.free_symbols <= known
            known.add(symbol)
        for symbol, expression in reversed(assignments):
            total = total.subs(symbol, expression)
        assert matches(total, scene.compile().equations()[0])


def test_cart_pole():
    """K. J. Astrom and K. Furuta, Swinging up a pendulum, with the angle from hanging and the force on the cart."""
    scene = Scene(gravity=(0, 0, -10))
    M, m, l = (scene.parameter(name, 1.0) for name in ("M", "m", "l"))
    cart = scene.world.attach(Body("cart", mass=M, inertia=np.zeros((3, 3))), joints.prismatic("x"))
    pole = Body("pole", mass=m, center_of_mass=(0, 0, -l), inertia=np.zeros((3, 3)))
    cart.attach(pole, joints.revolute("-y"))
    dynamics = scene.compile()
    x, angle, angle_dot = real("cart_distance pole_angle pole_angle_dot")
    cross = m * l * sp.cos(angle)
    assert matches(dynamics.equations("mass_matrix"), sp.Matrix([[M + m, cross], [cross, m * l**2]]))
    bias = sp.Matrix([-m * l * angle_dot**2 * sp.sin(angle), 10 * m * l * sp.sin(angle)])
    assert matches(dynamics.equations("bias"), bias)
    center = sp.Matrix([x + m * l * sp.sin(angle) / (M + m), 0, -m * l * sp.cos(angle) / (M + m)])
    assert matches(dynamics.equations("center_of_mass"), center)


def test_double_pendulum():
    """Two equal point masses on rods of length 1: Landau & Lifshitz, Mechanics, section 5, problem 1."""
    scene = Scene(gravity=(0, 0, -10))
    node, place = scene.world, np.eye(4)
    for name in ("one", "two"):
        body = Body(name, mass=1, center_of_mass=(0, 0, -1), inertia=np.zeros((3, 3)))
        node, place = node.attach(body, joints.revolute("y"), at=place), rd.pose(xyz=(0, 0, -1))
    dynamics = scene.compile()
    a, b, u, v = real("one_angle two_angle one_angle_dot two_angle_dot")
    kinetic = u**2 + (u + v) ** 2 / 2 + u * (u + v) * sp.cos(b)
    potential = -20 * sp.cos(a) - 10 * sp.cos(a + b)
    assert matches(dynamics.equations("kinetic_energy"), kinetic)
    assert matches(dynamics.equations("potential_energy"), potential)
    assert matches(dynamics.equations("gravity"), sp.Matrix([potential.diff(a), potential.diff(b)]))
    assert matches(dynamics.equations("mass_matrix"), sp.hessian(kinetic, (u, v)))
