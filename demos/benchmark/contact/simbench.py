"""The six tests of SimBenchmark (leggedrobotics/SimBenchmark, 2018) with their published figures at dt = 1 ms.

States are compared before each step; errors are means over the steps; ERP, CFM and damping are 0. The benchmark's own
quadruped, ANYmal, is not at hand: Laikago stands in, with ANYmal's joint angles.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from demos.benchmark.contact.description import GRAVITY, ROBOT, Ball, Block, Push, Solid, Task
from demos.benchmark.contact.measures import mean_square, squared_penetration
from demos.benchmark.contact.robots import quadruped, total_mass

STEP = 1e-3  # s

BOX_MASS, BALL_MASS, BALLS = 10.0, 1.0, 25
FORCE = 150.0  # N
DIAGONAL, ALONG_Y = (0.5, 0.866025403784439, 0.0), (0.0, 1.0, 0.0)
MU_GROUND, MU_BALL = 0.4, 0.8
OVERLAP = 2e-5  # m, at the start of "rolling": its contacts are there from the first step

BOUNCE_HEIGHT = 5.0  # m
GAP, JITTER, SEED = 0.21, 1e-3, 42
RADIUS, MASS = 0.1, 10.0  # of the balls of "bouncing" and the two "666"

LIFT, FALL = 1.0, 2.0  # s
THROW = 5.0  # m/s


def rolling_accelerations() -> tuple[float, float]:
    """Of the box, which slides, and of the balls, which roll on it, m/s^2: the closed form."""
    ground = MU_GROUND * (BOX_MASS + BALLS * BALL_MASS) * GRAVITY
    ball = (FORCE - ground) / BOX_MASS / (3.5 / BALL_MASS + BALLS / BOX_MASS)  # force between the box and a ball
    return (FORCE - ground - BALLS * ball) / BOX_MASS, ball / BALL_MASS


def rolling(direction: tuple[float, float, float] = DIAGONAL, name: str = "rolling") -> Task:
    """25 balls on a box that is dragged over the ground; squared velocity errors of the box and the first ball."""
    box = Solid("box", Block((20.0, 20.0, 1.0)), BOX_MASS, (0.0, 0.0, 0.5 - OVERLAP))
    balls = tuple(
        Solid(f"ball {5 * i + j + 1}", Ball(0.5), BALL_MASS, (2.0 * i - 4.0, 2.0 * j - 4.0, 1.5 - 3.0 * OVERLAP))
        for i, j in product(range(5), repeat=2)
    )
    slopes = np.outer(rolling_accelerations(), direction)
    x, y, z = direction
    return Task(
        name, STEP, 4.0, (box, *balls), friction=MU_BALL, ground_friction=MU_GROUND,
        pushes=(Push("box", (FORCE * x, FORCE * y, FORCE * z)),),
        sample=lambda engine: engine.velocities()[:2],
        error=lambda t, v: mean_square(v, t[:, None, None] * slopes), unit="m²/s²",
        published={"Bullet": 4e-27, "RaiSim": 4e-7, "MuJoCo": 2e-3, "ODE": 3.145, "DART": 3.145},
    )  # fmt: skip


def bouncing() -> Task:
    """49 balls bounce without loss for 20 s; squared error of their energy."""
    balls = tuple(
        Solid(f"ball {7 * i + j + 1}", Ball(RADIUS), MASS, (2.0 * i - 6.0, 2.0 * j - 6.0, BOUNCE_HEIGHT))
        for i, j in product(range(7), repeat=2)
    )
    expected = len(balls) * MASS * GRAVITY * BOUNCE_HEIGHT
    return Task(
        "bouncing", STEP, 20.0, balls, restitution=1.0, sample=lambda engine: engine.energy(),
        error=lambda t, energy: mean_square(energy, expected), unit="J²",
        published={"RaiSim": 0.0186, "ODE": 185.0, "DART": 7.2e4, "Bullet": 7.5e4},
    )  # fmt: skip


def six_six_six(elastic: bool = False) -> Task:
    """216 balls fall as a loose cube, without friction; squared penetration, or, if elastic, squared energy error."""
    lowest = 1.101 if elastic else 0.101
    rng = np.random.default_rng(SEED)
    places = [
        (GAP * np.array(place) + (0.0, 0.0, lowest) + rng.uniform(0.0, JITTER, 3)).tolist()
        for place in product(range(6), repeat=3)
    ]
    balls = tuple(Solid(f"ball {k + 1}", Ball(RADIUS), MASS, (x, y, z)) for k, (x, y, z) in enumerate(places))
    published: Mapping[str, float]
    if elastic:
        published = {"RaiSim": 8.4, "ODE": 112.0, "Bullet": 4.1e4, "DART": 3.5e5}
        return Task("elastic 666", STEP, 10.0, balls, restitution=1.0, sample=lambda engine: engine.energy(),
                    error=lambda t, energy: mean_square(energy, energy[0]), unit="J²", published=published)  # fmt: skip
    published = {"RaiSim": 1.35e-4, "ODE": 1.5e-4, "DART": 2.8e-4, "MuJoCo": 0.095, "Bullet": 0.38}
    return Task("666", STEP, 10.0, balls, sample=lambda engine: squared_penetration(RADIUS, engine.positions()),
                error=lambda t, overlap: float(np.mean(overlap)), unit="m²", published=published)  # fmt: skip


def quadruped_energy() -> Task:
    """A limp robot, lifted for 1 s with twice its weight, then falls for 2 s; squared error of its energy since."""
    lift = Push(ROBOT, (0.0, 0.0, 2.0 * total_mass() * GRAVITY), until=LIFT)

    def error(t: np.ndarray, energy: np.ndarray) -> float:
        falling = energy[t > LIFT - STEP / 2]
        return mean_square(falling, falling[0])

    return Task(
        "quadruped energy", STEP, LIFT + FALL, (), robot=quadruped((0.0, 0.0, 2.0)), pushes=(lift,), ground=False,
        sample=lambda engine: engine.energy(), error=error, unit="J²",
        published={"MuJoCo RK4": 1.6e-17, "RaiSim": 0.0118, "MuJoCo": 3.48, "Bullet": 3.65, "ODE": 3.89, "DART": 237.0},
    )  # fmt: skip


def quadruped_momentum() -> Task:
    """A ball hits a limp robot, without gravity; squared error of the momentum of both."""
    ball = Solid("ball", Ball(0.2), 10.0, (0.0, -5.0, 2.0), velocity=(0.0, THROW, 0.0))
    return Task(
        "quadruped momentum", STEP, 10.0, (ball,), robot=quadruped((0.0, 0.0, 2.0)), gravity=0.0, ground=False,
        friction=0.8, sample=lambda engine: engine.momentum(),
        error=lambda t, p: mean_square(p, np.array([0.0, 10.0 * THROW, 0.0])), unit="(kg m/s)²",
        published={"ODE": 5e-26, "MuJoCo RK4": 3e-13, "RaiSim": 4.7e-5, "Bullet": 2.7e-4, "MuJoCo": 1.1e-3,
                   "DART": 169.0},
    )  # fmt: skip


def tasks() -> dict[str, Task]:
    """By name; made anew at each call."""
    all_of_them = (
        rolling(), rolling(ALONG_Y, "rolling along y"), bouncing(), six_six_six(), six_six_six(elastic=True),
        quadruped_energy(), quadruped_momentum(),
    )  # fmt: skip
    return {task.name: task for task in all_of_them}
