"""Andrews' squeezing mechanism, seven bodies in three loops under a spring and a torque, as a scene alone.

The IVP test set has its data, and its solution to some 14 digits (Mazzia & Magherini 2008, Test Set for Initial Value
Problem Solvers, II-8; Hairer & Wanner 1996, Solving Ordinary Differential Equations II, VI.10). Its angles lie in a
plane; here that is x and y, hinges turn about z.
"""

import numpy as np
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints

START = [
    -0.0617138900142764, 0.0, 0.4552798191630704, 0.2226683901658859,
    0.4873649795438426, -0.2226683901658859, 1.2305474445498212,
]  # fmt: skip
END = [
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
    0.5244099658805304, 0.5347301163226948, 1.048080741042263,
]  # fmt: skip
SPEEDS = [
    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385,
    0.5735699284790808, -19.29337464421385, 0.3231791658026955,
]  # fmt: skip


def squeezer():
    """Bodies K1 to K7 with the test set's coordinates beta, Theta, gamma, Phi, delta, Omega, epsilon."""
    scene = Scene(gravity=(0, 0, 0))

    def hang(node, name, mass, spin, center, at):
        body = Body(name, mass=mass, inertia=np.diag([spin, spin, spin]), center_of_mass=(*center, 0.0))
        return node.attach(body, joints.revolute("z"), at=rd.pose((*at, 0.0)))

    A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
    k1 = hang(scene.world, "K1", 0.04325, 2.194e-6, (0.00092, 0), (0, 0))
    k2 = hang(k1, "K2", 0.00365, 4.410e-7, (-0.0115, 0), (0.007, 0))
    k3 = hang(scene.world, "K3", 0.02373, 5.255e-6, (0.01874, 0.01043), B)
    k5 = hang(scene.world, "K5", 0.07050, 1.169e-5, (0.02308, 0.00916), A)
    k4 = hang(k5, "K4", 0.00706, 5.667e-7, (0, -(0.02 - 0.01421)), (0.04, 0))
    k7 = hang(scene.world, "K7", 0.05498, 1.912e-5, (0.01228, 0.00449), A)
    k6 = hang(k7, "K6", 0.00706, 5.667e-7, (0.02 - 0.01421, 0), (0, -0.04))
    scene.force(k1.q[0], 0.033)
    scene.spring(k3, scene.world, stiffness=4530.0, rest=0.07785, point_a=(0.02, -0.018, 0), point_b=(*C, 0))
    tip = k2.point((-0.028, 0, 0))
    for name, end in (
        ("K3", k3.point((0, -0.035, 0))),
        ("K4", k4.point((0, -0.02, 0))),
        ("K6", k6.point((0.02, 0, 0))),
    ):
        scene.constrain(sp.Matrix([tip[i] - end[i] for i in (0, 1)]), name=name)
    return scene.compile()


def test_it_is_where_the_test_set_has_it():
    """15.8 rad of the crank later, at 1140 rad/s, to 1e-8."""
    d = squeezer()
    order = [("K1", "K2", "K3", "K4", "K5", "K6", "K7").index(name) for name in d.bodies]
    sim = rd.Simulation(d, 0.03 / 6000, "rk4")
    sim.q = np.array(START)[order]
    sim.step(6000)
    np.testing.assert_allclose(sim.q, np.array(END)[order], rtol=0, atol=1e-8)
    np.testing.assert_allclose(sim.v, np.array(SPEEDS)[order], rtol=1e-8, atol=1e-6)
