"""What tumbles on a plane by semi-implicit Euler, whose velocities are those half a step before."""

import numpy as np
import pytest
from contact_scenes import G, energy, mirror, set_twist, twist
from test_rocking import KEEL, STONE, TURNED, lowest, on_a_plane

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize(
    "omega, friction, lost",
    [((0, 0, 0), 1.0, (0.1, 0.01)), ((0, 0, 5), 0.0, (0.3, 0.02)), ((3, 4, 2), 0.0, (0.1, 0.05))],
)
def test_by_semi_implicit_euler_what_tumbles_gains_nothing(omega, friction, lost, h):
    """Three different axes, 8 s: the second and third won 1.9 and 2.2 times their energy at 1/60 s, as what moving
    positions does to what turns was not in the debts of contacts. Velocities are those half a step before."""
    axes, inertia = np.array([0.12, 0.09, 0.05]), np.diag([0.0021, 0.0034, 0.0045])
    scene = on_a_plane(axes, 0.0, inertia, rd.pose(rpy=(0.1, 0.4, 0.7))[:3, :3], friction)
    with mirror(scene, h, "semi_implicit_euler") as m:
        set_twist(m.sim, "body", omega)
        energies = [energy(m.sim)]
        for _ in range(round(8 / h)):
            m.step()
            energies.append(energy(m.sim) - 0.5 * h * G * twist(m.sim)[5])
    won = (np.array(energies) - energies[0]) / (energies[0] - G * min(axes))
    assert won.max() < 0.03
    assert won[-round(1 / h) :].mean() > -lost[h < 1 / 100]


@pytest.mark.parametrize(
    "h",
    [1 / 240, pytest.param(1 / 60, marks=pytest.mark.xfail(strict=True, reason="0.28 of it at times, 0.15 after 8 s"))],
)
def test_by_semi_implicit_euler_a_rattleback_keeps_its_energy(h):
    """It lost 6 % of what it began to spin with at 1/240 s."""
    (a, b, c), spin, axes = STONE, -3.0, rd.pose(rpy=(0, 0, TURNED))[:3, :3]
    inertia = axes @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ axes.T / 5
    R = rd.pose(rpy=(0, 0.02, 0))[:3, :3]
    with mirror(on_a_plane(STONE, KEEL, inertia, R, 2.0), h, "semi_implicit_euler") as m:
        set_twist(m.sim, "body", (0, 0, spin), -np.cross((0, 0, spin), R @ (0, 0, KEEL) + lowest(STONE, R)))
        energies = []
        for _ in range(round(8 / h)):
            m.step()
            energies.append(energy(m.sim) - 0.5 * h * G * twist(m.sim)[5])
    kinetic = 0.5 * spin**2 * inertia[2, 2]
    np.testing.assert_allclose(energies, energies[0], atol=0.02 * kinetic)


def test_an_ellipsoid_is_one_where_contacts_are_found_once_a_call_too():
    """What is found in every second step is taken along in the other one, in which 12 of 1079 mJ were lost as if
    something with corners rolled there."""
    left, rough = [], rd.Material(0.8)
    for detect in ("step", "frame"):
        scene = Scene()
        scene.world.shapes.append(shapes.Plane(material=rough))
        egg = Body("egg", [shapes.Ellipsoid((0.15, 0.1, 0.08), material=rough)], mass=1.0)
        scene.world.attach(egg, joints.free(), at=rd.pose((0, 0, 0.11), (0.5, 0.4, 0.3)))
        with mirror(scene, 1 / 240, ground=False) as shown:
            shown.sim.contact.detect = detect
            for _ in range(240):
                shown.step(2)
            left.append(energy(shown.sim))
    assert left[1] == pytest.approx(left[0], abs=1e-3)
