"""The demos in which things collide: nothing sinks in, nothing gains energy, and what should comes to rest."""

from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

import recursive_dyn as rd
from demos.stage import Stage, bullets_energy, mirrored, most_work, total_energy


@dataclass(frozen=True)
class Run:
    """Step by step: total energy (n + 1,), J, most work that motors may have done (n,), J, penetration (n,), m."""

    stage: Stage
    energy: np.ndarray
    work: np.ndarray
    penetration: np.ndarray
    contacts: np.ndarray
    pairs: set[tuple[str, str]]

    @property
    def growth(self) -> float:
        """Largest growth of energy in one step beyond what motors may have done, as a share of all energy lost."""
        lost = self.energy.max() - self.energy.min()
        return float((np.diff(self.energy) - self.work).max() / lost)


def run(name: str, seconds: float, integrator: str | None = None) -> Run:
    """A demo's first ``seconds``, with another integrator if one is given."""
    stage = import_module(f"demos.{name}").build()
    sim = stage.simulation
    if integrator is not None:
        motors, q, v = dict(sim.motors), sim.q, sim.v
        sim = stage.simulation = rd.Simulation(sim.dynamics, sim.timestep, integrator)
        sim.q, sim.v = q, v
        sim.motors.update(motors)
    assert sim.timestep == 1 / 240 and stage.contact
    energy, work, penetration, contacts, pairs = [], [], [], [], set()
    with mirrored(stage) as mirror:
        energy.append(total_energy(sim) + bullets_energy(mirror))
        for _ in range(round(seconds / sim.timestep)):
            before = sim.v.copy()
            mirror.step()
            work.append(most_work(sim, before))
            energy.append(total_energy(sim) + bullets_energy(mirror))
            penetration.append(sim.solution.penetration)
            contacts.append(sim.solution.contacts)
            pairs |= {(event.body_a, event.body_b) for event in sim.contact_events}
            assert np.isfinite(sim.q).all() and np.isfinite(energy[-1])
    return Run(stage, *map(np.array, (energy, work, penetration, contacts)), pairs)


def height_of(stage: Stage, body: str) -> float:
    """z of a body's origin, m."""
    dynamics = stage.simulation.dynamics
    return float(dynamics.poses(stage.simulation.q)[dynamics.bodies.index(body), 2, 3])


def kinetic(stage: Stage) -> float:
    """Kinetic energy of the simulation, J."""
    return float(stage.simulation.dynamics.kinetic_energy(stage.simulation.q, stage.simulation.v))


def judge(done: Run, growth: float, penetration: float = 2e-3) -> None:
    """What every one of them must keep to."""
    assert done.contacts.max() > 0
    assert done.penetration.max() <= penetration
    assert done.growth <= growth


def test_ragdolls_fall_on_the_stairs():
    done = run("ragdolls", 1.5)
    judge(done, 1e-9)
    dolls = {a.split(".")[0] for a, b in done.pairs if b == "world"}
    assert dolls == {f"doll{i + 1}" for i in range(4)}


def test_a_chain_falls_on_its_own_rings():
    done = run("chain_on_floor", 0.6)
    judge(done, 1e-5)
    assert {("free1", "free2"), ("free1", "world"), ("joint1", "world")} <= done.pairs
    assert all(("joint1", f"joint{i}") not in done.pairs for i in (2,))  # parent and child are left to their joint


def test_the_ball_breaks_the_wall():
    done = run("stack", 1.2)
    judge(done, 1e-3)
    before = run("stack", 0.4)  # the ball is on its way
    assert kinetic_of_bricks(before.stage) < 1e-6
    assert height_of(done.stage, "brick6.2") < height_of(before.stage, "brick6.2") - 0.2
    assert any(a == "ball" or b == "ball" for a, b in done.pairs)


def test_laikago_lands_and_stands():
    done = run("laikago_terrain", 4.0)
    judge(done, 1e-4)
    assert kinetic(done.stage) < 1e-6 and height_of(done.stage, "chassis") > 0.4
    assert {a for a, b in done.pairs if b == "world"} == {"toeFL", "toeFR", "toeRL", "toeRR"}


def test_both_kinds_of_balls_hit_the_sails_and_the_ground():
    done = run("windmill_balls", 5.0)
    judge(done, 1e-4)
    sails = {b.split(":")[0].rstrip("0123456789") for a, b in done.pairs if a.startswith("sail")}
    assert {"ball", "bullet"} <= sails
    turning = done.stage.simulation.v[0]
    assert turning == pytest.approx(done.stage.simulation.motors["hub.angle"].velocity, rel=0.05)


def test_the_rover_drives_over_everything():
    done = run("rover", 6.5)
    judge(done, 1e-3)
    assert done.stage.simulation.q[0] > 4.5 and abs(done.stage.simulation.q[1]) < 0.5
    assert any(a.startswith("wheel") and b.startswith("bullet") for a, b in done.pairs)
    assert not any(a == "hull" and b == "world" for a, b in done.pairs)


def kinetic_of_bricks(stage: Stage) -> float:
    """Kinetic energy of the wall, J, from the bricks' velocities."""
    simulation = stage.simulation
    twists = simulation.frames()[1]
    bricks = [k for k, name in enumerate(simulation.dynamics.bodies) if name.startswith("brick")]
    mass = stage.scene[simulation.dynamics.bodies[bricks[0]]].mass
    return float(0.5 * mass * (twists[bricks, 3:] ** 2).sum())
