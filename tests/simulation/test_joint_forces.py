"""Springs, dampers and stops of the joints themselves, treated implicitly."""

import numpy as np
import pytest
from trees import assert_close, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints

INTEGRATORS = ["semi_implicit_euler", "rk4", "implicit_midpoint"]
IMPLICIT = ["semi_implicit_euler", "implicit_midpoint"]


def chain(count=5, gravity=(0, 0, -9.81), **settings):
    """A chain of hinges about changing axes."""
    scene = Scene(gravity=gravity)
    node, rng = scene.world, np.random.default_rng(1)
    for i in range(count):
        node = node.attach(
            random_body(rng, f"b{i}"), joints.revolute("xyz"[i % 3], **settings), at=rd.pose((0.1, 0.2, -0.4))
        )
    return scene.compile()


def slider(mass=2.0, gravity=0.0, **settings):
    scene = Scene(gravity=(gravity, 0, 0))
    scene.world.attach(Body("slider", mass=mass), joints.prismatic("x", **settings))
    return scene.compile()


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_stiff_springs_do_not_blow_up_at_frame_rate(integrator, stiffness):
    d = chain(stiffness=stiffness, damping=1.0)
    sim = rd.Simulation(d, 1 / 60, integrator)
    sim.q = np.full(d.nv, 0.1)

    def energy():
        return d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) + d.elastic_energy(sim.q)

    reach = np.abs(d.potential_energy(sim.q)) + 30.0  # what gravity could give
    start = energy()
    for _ in range(30):
        sim.step(20)
        # The midpoint rule keeps a quadratic energy exactly; here the masses vary with the angles of 0.1 rad, squared.
        assert energy() <= start * 1.05 + reach
    assert np.abs(sim.q).max() < 0.2  # the five springs hand 0.1 rad each to one another


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_strong_dampers_do_not_blow_up_at_frame_rate(integrator):
    d = chain(damping=1e6)
    sim = rd.Simulation(d, 1 / 60, integrator)
    sim.v = np.ones(d.nv)
    sim.step(600)
    # what is left is creep: gravity's few hundred N m over 1e6 N m s
    assert np.abs(sim.v).max() < (1e-3 if integrator == "semi_implicit_euler" else 2.0)
    assert np.abs(sim.q).max() < 0.2


def test_backward_euler_of_a_spring_is_what_the_step_does():
    """v' = v + h (-k (q + h v') - d v') / m, q' = q + h v': the linear case, solved by hand."""
    m, k, c, rest, h = 2.0, 300.0, 5.0, 0.4, 0.02
    sim = rd.Simulation(slider(m, stiffness=k, damping=c, rest=rest), h, "semi_implicit_euler")
    sim.q, sim.v = [1.0], [-0.5]
    q, v = 1.0, -0.5
    for _ in range(50):
        v = (m * v - h * k * (q - rest)) / (m + h * c + h * h * k)
        q = q + h * v
        sim.step()
        assert_close(sim.q[0], q, 1e-13)
        assert_close(sim.v[0], v, 1e-13, abs(v) + 1e-3)


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_damped_oscillation_in_closed_form(integrator):
    m, k, c = 2.0, 50.0, 1.2
    sim = rd.Simulation(slider(m, stiffness=k, damping=c), 1e-3, integrator)
    sim.q = [1.0]
    sim.step(2000)
    decay = c / (2 * m)
    omega = np.sqrt(k / m - decay**2)
    exact = np.exp(-decay * 2.0) * (np.cos(2.0 * omega) + decay / omega * np.sin(2.0 * omega))
    # phase error of the midpoint rule: (omega h)^2 / 12 of 10 radians; of RK4 (omega h)^4 / 120, 5e-11
    assert sim.q[0] == pytest.approx(exact, abs=1e-4 if integrator == "implicit_midpoint" else 1e-10)


def test_joint_forces_are_part_of_no_equation_of_motion_but_are_told():
    d = slider(stiffness=7.0, damping=3.0, rest=0.5)
    assert d.forward_dynamics([1.5], [2.0]) == pytest.approx([0.0])
    np.testing.assert_allclose(d.passive_forces([1.5], [2.0]), [-7.0 - 6.0])
    assert d.elastic_energy([1.5]) == pytest.approx(3.5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("timestep", [1 / 60, 1 / 240, 1 / 1000])
def test_a_coordinate_stops_at_its_limit(integrator, timestep):
    """It never passes it, and lies there: positions of a solve are right to 3e-5 m, velocities to 1e-9."""
    d = slider(gravity=9.81, limits=(-0.5, 0.3))
    sim = rd.Simulation(d, timestep, integrator)
    sim.v = [4.0]
    for _ in range(round(2.0 / timestep)):
        sim.step()
        assert sim.q[0] <= 0.3 + 3e-5
    assert sim.q[0] == pytest.approx(0.3, abs=3e-5)
    assert sim.v[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_stop_does_not_hold_what_leaves_it(integrator):
    d = slider(limits=(-0.5, 0.3))
    sim = rd.Simulation(d, 1 / 240, integrator)
    sim.q, sim.v = [0.3], [-1.0]
    sim.step(24)
    assert sim.q[0] == pytest.approx(0.2, abs=1e-9)
    assert sim.v[0] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_limits_hold_in_a_chain_that_whips_about(integrator):
    d = chain(limits=(-0.4, 0.6))
    sim = rd.Simulation(d, 1 / 240, integrator)
    sim.v = np.array([6.0, -7.0, 8.0, -5.0, 9.0])
    worst = 0.0
    for _ in range(480):
        sim.step()
        worst = max(worst, (sim.q - 0.6).max(), (-0.4 - sim.q).max())
    assert worst < 1e-4  # of a radian, where one step moves by four hundredths
    assert np.abs(sim.v).max() < 50.0


def test_a_coordinate_outside_its_limits_is_brought_back_gently():
    d = slider(limits=(-0.5, 0.3))
    sim = rd.Simulation(d, 1 / 240)
    sim.q = [0.5]
    fastest = 0.0
    for _ in range(60):
        sim.step()
        fastest = max(fastest, abs(sim.v[0]))
    assert sim.q[0] == pytest.approx(0.3, abs=1e-3)
    assert fastest <= 0.2 * 0.2 * 240 * 1.01  # a fifth of the violation a step, and never flung inwards
    assert sim.q[0] > 0.25


def test_one_sided_limits():
    d = slider(gravity=-9.81, limits=(-0.5, np.inf))
    sim = rd.Simulation(d, 1 / 240)
    sim.v = [3.0]
    sim.step(480)
    assert sim.q[0] == pytest.approx(-0.5, abs=1e-3)
