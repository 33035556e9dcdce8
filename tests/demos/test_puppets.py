"""Bodies that show a motion on a manifold have its poses, and refuse what would not reach it."""

from functools import partial

import numpy as np
import pytest

import recursive_dyn as rd
from demos import quadrotor_load as demo
from demos.puppets import Puppets
from demos.stage import total_energy
from scene import Body

CRAFT = demo.CRAFT


def puppets() -> Puppets:
    flight = demo.Flight()
    flight.state = demo.upset(flight.state)
    return Puppets([demo.craft_body(), demo.load_body()], flight.motion, flight.show, flight.control)


def test_puppets_have_the_motions_poses_velocities_and_energy() -> None:
    shown = puppets()
    motion, dynamics = shown.motion, shown.dynamics
    shown.step(200)
    assert shown.time == pytest.approx(200 * demo.TIMESTEP)
    # the load of the motion is a point; the puppet's inertia of 1e-9 kg m^2 is all that differs
    assert total_energy(shown) == pytest.approx(motion.energy, abs=1e-6)
    flight_q, h = shown.q.copy(), 1e-6
    hull, load = dynamics.poses(flight_q)
    np.testing.assert_allclose(load[:3] @ [0, 0, CRAFT.l, 1], hull[:3, 3], atol=1e-12)  # the rod reaches the quadrotor
    v = shown.v.copy()
    motion.timestep = h
    motion.step()
    shown.follow()
    moved = dynamics.difference(flight_q, shown.q) / h
    np.testing.assert_allclose(moved, v, atol=1e-3)  # h times accelerations up to some 100 / s^2


def test_puppets_return_to_a_snapshot() -> None:
    shown = puppets()
    shown.step(50)
    kept = shown.snapshot()
    shown.step(50)
    first = shown.q.copy(), shown.v.copy(), shown.time
    shown.restore(kept)
    shown.step(50)
    assert shown.time == first[2]
    assert (shown.q == first[0]).all() and (shown.v == first[1]).all()


def test_puppets_refuse_what_would_not_reach_them() -> None:
    shown = puppets()
    for push in (partial(shown.apply_force, "load", (0, 0, 1)), partial(shown.apply_torque, "load", (0, 0, 1))):
        with pytest.raises(rd.StateError, match=r"'load' is a puppet: set motion\.forces"):
            push()
    flight = demo.Flight()
    with pytest.raises(rd.ModelError, match="does not show body 'wing'"):
        Puppets([Body("wing", mass=1.0, inertia=np.eye(3))], flight.motion, flight.show)
