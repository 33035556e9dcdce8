"""The demos in which things collide: nothing sinks in, nothing gains energy, and what should comes to rest."""

from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

import recursive_dyn as rd
from demos import ragdolls as ragdolls_demo
from demos.chain_on_floor import COUNT, RADIUS
from demos.stage import Stage, bullets_energy, mirrored, most_work, total_energy

SECOND, WINDOW = 240, 60  # steps
DEEP = 0.05  # m, less than half the radius of any limb


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
        """Largest growth of energy in one step beyond what motors may have done, J."""
        return float((np.diff(self.energy) - self.work).max())

    @property
    def lift(self) -> float:
        """What it costs to lift all bodies by twice the slop, J."""
        mass = sum(body.mass for body in self.stage.scene.bodies)
        return 2.0 * self.stage.simulation.contact.slop * mass * 9.81


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


def kinetic_of_bricks(stage: Stage) -> float:
    """Kinetic energy of the wall, J, from the bricks' velocities."""
    simulation = stage.simulation
    twists = simulation.frames()[1]
    bricks = [k for k, name in enumerate(simulation.dynamics.bodies) if name.startswith("brick")]
    mass = stage.scene[simulation.dynamics.bodies[bricks[0]]].mass
    return float(0.5 * mass * (twists[bricks, 3:] ** 2).sum())


def judge(done: Run, growth: float | None = None) -> None:
    """What every one of them keeps to: 2 mm, and no energy from nowhere.

    What overlaps after an impact is lifted out of it, a little potential energy: 1e-4 of all energy above the ground in
    a step at worst in the runs seen, which differ, as such falls are chaotic. Where nothing lies on anything, energy
    only goes.
    """
    assert done.contacts.max() > 0
    assert done.penetration.max() <= 2e-3
    assert done.growth <= (max(done.lift, 5e-4 * done.energy.max()) if growth is None else growth)
    assert done.lift < 1e-4 * done.energy.max()


def ragdolls(seconds: float, integrator: str | None = None) -> Run:
    """Energy goes: joints rub and impacts take; what is lifted costs less than 1e-5 of it."""
    done = run("ragdolls", seconds, integrator)
    judge(done, done.lift if integrator is None else None)
    assert {a.split(".")[0] for a, b in done.pairs if b == "world"} == {f"doll{i + 1}" for i in range(4)}
    return done


def test_ragdolls_fall_on_the_stairs():
    ragdolls(1.5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_ragdolls_come_to_rest(seed):
    """When, nobody can say: a figure that crouches or leans on an arm gives way for seconds, until it topples. What
    they go through pays for their joints all the while, and ends."""
    stage = ragdolls_demo.build()
    sim = stage.simulation
    sim.v = sim.v + 1e-3 * np.random.default_rng(seed).normal(size=len(sim.v))
    joints = sim.dynamics.model.coordinates
    damping, friction = (np.array([getattr(c, name) for c in joints]) for name in ("damping", "friction"))
    energy, taken, still = [total_energy(sim)], [0.0], 0
    with mirrored(stage) as mirror:
        while still < SECOND:
            mirror.step()
            energy.append(total_energy(sim))
            taken.append(taken[-1] + sim.timestep * float(damping @ sim.v**2 + friction @ abs(sim.v)))
            still = still + 1 if kinetic(stage) < 0.01 else 0  # of 20 kJ
            assert len(energy) < 20 * SECOND
    missed = np.subtract(taken[WINDOW:], taken[:-WINDOW]) + np.subtract(energy[WINDOW:], energy[:-WINDOW])
    assert missed.max() < 0.01  # J; what is lifted out of overlaps


@pytest.mark.parametrize("seed", range(3))
def test_ragdolls_fall_in_steps_of_a_sixtieth_of_a_second(seed):
    """What is limp and has no springs is cut only where it is fast, into a few parts, and goes through no stair."""
    stage = ragdolls_demo.build()
    sim = stage.simulation
    sim.timestep = 1 / 60
    sim.v = sim.v + 0.1 * seed * np.random.default_rng(seed).normal(size=len(sim.v))
    parts = []
    with mirrored(stage) as mirror:
        for _ in range(150):
            mirror.step()
            parts.append(sim.solution.substeps)
            x, y, z = sim.frames()[0][:, :3, 3].T
            lowest = np.min([ground(x + a, y + b) for a in (-DEEP, DEEP) for b in (-DEEP, DEEP)], axis=0)
            assert (z > lowest - DEEP).all()
    assert max(parts) <= sim.contact.substeps and np.mean(parts) < 4.0


def ground(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How high the stairs are, or the floor beside them, m."""
    stair = np.clip(np.floor(x / ragdolls_demo.DEPTH), 0, ragdolls_demo.STEPS - 1)
    on = (x > -4 * ragdolls_demo.DEPTH) & (x < ragdolls_demo.STEPS * ragdolls_demo.DEPTH)
    return np.where(on & (abs(y) < ragdolls_demo.WIDTH / 2), ragdolls_demo.RISE * (ragdolls_demo.STEPS - stair), 0.0)


def chains(seconds: float, integrator: str | None = None) -> Run:
    """No ring may leave its neighbours: what is interlocked stays so."""
    done = run("chain_on_floor", seconds, integrator)
    judge(done)
    assert {("free1", "free2"), ("free1", "world"), ("joint1", "world")} <= done.pairs
    places = dict(zip(done.stage.simulation.dynamics.bodies, done.stage.simulation.frames()[0], strict=True))
    for kind in ("free", "joint"):
        for k in range(1, COUNT):
            assert linked(places[f"{kind}{k}"], places[f"{kind}{k + 1}"])
    return done


def linked(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the circle of ring b passes through the disc of ring a once; poses (4, 4)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 2000)
    circle = RADIUS * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    seen = (circle @ b[:3, :3].T + b[:3, 3] - a[:3, 3]) @ a[:3, :3]
    crossings = np.flatnonzero(np.diff(np.sign(seen[:, 2])))
    return int((np.hypot(*seen[crossings, :2].T) < RADIUS).sum()) == 1


def test_chains_fall_on_their_own_rings():
    chains(1.0)


@pytest.mark.slow
def test_chains_come_to_rest():
    done = chains(6.0)
    assert kinetic(done.stage) < 2.0  # of 3 kJ; rings slide off each other late, and never twice alike
    assert done.energy[-1] < 0.2 * done.energy[0]


def wall(seconds: float, integrator: str | None = None) -> Run:
    """The wall stands until the ball is there."""
    done = run("stack", seconds, integrator)
    judge(done)
    return done


def test_the_ball_breaks_the_wall():
    before, after = wall(0.1), wall(1.2)
    assert kinetic_of_bricks(before.stage) < 1e-6
    assert height_of(after.stage, "brick6.2") < height_of(before.stage, "brick6.2") - 0.05
    assert any("ball" in pair for pair in after.pairs)


@pytest.mark.slow
def test_the_wall_pushes_bullets_crates_over():
    done = wall(5.0)
    assert kinetic_of_bricks(done.stage) < 1.0
    assert any(a.startswith("brick") and b.startswith("bullet") for a, b in done.pairs)


def laikago(integrator: str | None = None) -> None:
    done = run("laikago_terrain", 4.0, integrator)
    judge(done)
    assert kinetic(done.stage) < 1e-6 and height_of(done.stage, "chassis") > 0.4
    assert {a for a, b in done.pairs if b == "world"} == {"toeFL", "toeFR", "toeRL", "toeRR"}


def test_laikago_lands_and_stands():
    laikago()


def windmill(integrator: str | None = None) -> None:
    done = run("windmill_balls", 5.0, integrator)
    judge(done)
    struck = {b.rstrip("0123456789") for a, b in done.pairs if a.startswith("sail")}
    assert {"ball", "bullet:"} <= struck
    turning = done.stage.simulation.v[0]
    assert turning == pytest.approx(done.stage.simulation.motors["hub.angle"].velocity, rel=0.05)


def test_both_kinds_of_balls_hit_the_sails():
    windmill()


def rover(integrator: str | None = None) -> None:
    done = run("rover", 6.5, integrator)
    judge(done)
    x, y = done.stage.simulation.q[:2]
    assert x > 4.5 and abs(y) < 0.5
    assert any(a.startswith("wheel") and b.startswith("bullet") for a, b in done.pairs)
    assert not any(a == "hull" and b == "world" for a, b in done.pairs)


def test_the_rover_drives_over_everything():
    rover()


@pytest.mark.slow
@pytest.mark.parametrize(
    "check, integrator",
    [(ragdolls, "implicit_midpoint"), (chains, "rk4"), (wall, "implicit_midpoint"), (laikago, "rk4"), (rover, "rk4")],
    ids=lambda given: given if isinstance(given, str) else given.__name__,
)
def test_other_integrators(check, integrator):
    """Not the mill: its sails' dampers are too stiff for explicit RK4, and others do not tell it from the default."""
    check(*((4.0,) if check in (ragdolls, chains, wall) else ()), integrator)
