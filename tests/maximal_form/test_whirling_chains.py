"""Chains whose links whirl by half a radian a step: bodies put onto joints keep their momenta and win no energy."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.maximal.acting.joint_landing import displaced
from recursive_dyn.maximal.poses import poses_of
from scene import Body, Scene, joints, shapes


def momenta(inertias, q, v):
    """Of every body, linear, and angular about the origin of the world, (n, 3) each, and its kinetic energy (n,)."""
    X, twists = poses_of(q.reshape(-1, 7)), v.reshape(-1, 6)
    own = np.einsum("nij,nj->ni", inertias, twists)
    spin, way = (np.einsum("nij,nj->ni", X[:, :3, :3], part) for part in (own[:, :3], own[:, 3:]))
    return way, spin + np.cross(X[:, :3, 3], way), 0.5 * (own * twists).sum(axis=1)


def long_bodies(rng, n):
    """Inertias (n, 6, 6) of thin boxes about points beside them."""
    result = np.zeros((n, 6, 6))
    for M in result:
        mass, sizes, c = rng.uniform(0.5, 2.0), np.array([1.0, 0.1, 0.05]), 0.3 * rng.normal(size=3)
        C = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
        M[:3, :3] = mass / 12 * np.diag((sizes**2).sum() - sizes**2) - mass * C @ C
        M[:3, 3:], M[3:, :3], M[3:, 3:] = mass * C, -mass * C, mass * np.eye(3)
    return result


def least_energy(inertias, q, way, spin):
    """Of bodies with these momenta, of all (3,), about the origin of the world: that of rigid motion."""
    total = np.zeros((6, 6))
    for M, X in zip(inertias, poses_of(q.reshape(-1, 7)), strict=True):
        to = np.zeros((6, 6))  # twists at the origin, world axes, to the body's
        to[:3, :3] = to[3:, 3:] = X[:3, :3].T
        to[3:, :3] = np.cross(X[:3, :3].T, -X[:3, 3]) @ np.eye(3)
        total += to.T @ M @ to
    momentum = np.concatenate([spin, way])
    return 0.5 * momentum @ np.linalg.solve(total, momentum)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_displaced_keeps_its_momenta_and_wins_no_energy(seed):
    """Two that float together, whose momenta need some, two that hang on the world, and one by itself."""
    rng, n = np.random.default_rng(seed), 5
    M, x, v = long_bodies(rng, n), 0.2 * rng.normal(size=(n, 6)), rng.normal(size=6 * n)
    q = rng.normal(size=(n, 7))
    q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    q, x[4] = q.reshape(-1), 0.0
    assemblies, roots = np.array([0, 0, -1, -1, 2]), np.array([0, 0, 2, 2, 4])
    way, spin, energy = momenta(M, q, v)
    displaced(M, assemblies, roots, q, v, x)
    way_now, spin_now, energy_now = momenta(M, q, v)
    assert (way_now[:2] - way[:2]).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    assert way_now[4] == pytest.approx(way[4]) and spin_now[4] == pytest.approx(spin[4])
    least = least_energy(M[:2], q[:14], way_now[:2].sum(axis=0), spin_now[:2].sum(axis=0))
    assert energy_now[:2].sum() < max(energy[:2].sum(), least) * (1 + 1e-9)
    assert energy_now[2:4].sum() < energy[2:4].sum() * (1 + 1e-9)
    assert energy_now[4] == pytest.approx(energy[4])


@pytest.mark.parametrize(("timestep", "spin"), [(1 / 30, 15.0), (1 / 60, 30.0)])
@pytest.mark.parametrize("tail", [1, 3])
def test_a_chain_that_whirls_by_half_a_radian_a_step_is_not_lost(timestep, spin, tail):
    """In under a second its links spun about their lengths ever faster, to numbers that are not finite."""
    scene = Scene(gravity=(0, 0, 0))
    node = scene.world.attach(Body("box", [shapes.Box((0.2, 0.2, 0.2))], mass=3.0), joints.free())
    for k in range(tail):
        link = Body(f"link {k}", [shapes.Box((0.3, 0.06, 0.05), at=rd.pose((0.15, 0, 0)))], mass=1.5)
        node = node.attach(link, joints.revolute("y") if k % 2 else joints.ball(), rd.pose((0.3 if k else 0.1, 0, 0)))
    reduced, dynamics = scene.compile(), scene.compile("velocity_constraints")
    sim, v = rd.Simulation(dynamics, timestep), np.zeros(reduced.nv)
    v[:6] = 0, spin, 0.3 * spin, -0.1 * spin, 0, 0
    sim.q[:], sim.v[:] = dynamics.from_reduced(reduced.neutral(), v)
    start, momentum = dynamics.kinetic_energy(sim.q, sim.v), dynamics.centroidal_momentum_matrix(sim.q) @ sim.v
    for _ in range(round(1.5 / timestep)):
        sim.step()
        assert dynamics.kinetic_energy(sim.q, sim.v) < 1.1 * start
    now = dynamics.centroidal_momentum_matrix(sim.q) @ sim.v
    assert now == pytest.approx(momentum, abs=0.01 * np.linalg.norm(momentum))
