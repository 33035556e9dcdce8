"""Events come in the order of time: who follows begins and ends knows who touches, whatever a step was cut into."""

import numpy as np
import pytest
from contact_scenes import at, mirror, put, set_twist

import recursive_dyn as rd
from bridge import Plugin
from scene import Scene, shapes


def bouncing(seed: int) -> tuple[Scene, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Eight bodies in a closed room of 2 m, at 12 m/s and 10 rad/s or so; and their twists."""
    rng = np.random.default_rng(seed)
    material, scene = rd.Material(0.5, restitution=0.4), Scene()
    for axis in range(3):
        for side in (-1.25, 1.25):
            center, size = np.zeros(3), np.full(3, 3.0)
            center[axis], size[axis] = side, 0.5
            scene.world.shapes.append(shapes.Box(size, at=at(*center), material=material))
    twists = {}
    for k in range(8):
        box, radius, length = tuple(rng.uniform(0.06, 0.3, 3)), rng.uniform(0.05, 0.1), rng.uniform(0.1, 0.3)
        own = {"material": material}
        forms = [shapes.Box(box, **own), shapes.Sphere(radius, **own), shapes.Capsule(radius, length, **own)]
        corner = 1.1 * np.array([k % 2 - 0.5, k // 2 % 2 - 0.5, k // 4 - 0.5])
        put(scene, f"b{k}", forms[k % 3], at(*corner, rng.uniform(-1, 1, 3)), 10 ** rng.uniform(-0.5, 0.5))
        twists[f"b{k}"] = 10 * rng.normal(size=3), 12 * rng.normal(size=3)
    return scene, twists


def follow(events, touching: set[tuple[str, str]]) -> int:
    """Let pairs enter and leave as events say, none of which says what is so already; how many did several things."""
    told: dict[tuple[str, str], int] = {}
    for event in events:
        pair = event.body_a, event.body_b
        if event.kind in ("begin", "end"):
            assert (pair in touching) == (event.kind == "end"), event
            (touching.add if event.kind == "begin" else touching.discard)(pair)
            told[pair] = told.get(pair, 0) + 1
        elif event.kind == "stay":
            assert pair in touching, event
    return sum(count > 1 for count in told.values())


@pytest.mark.parametrize("h", [1 / 60, 1 / 30])
@pytest.mark.parametrize("count", [1, 3])
def test_who_follows_events_knows_who_touches(h, count):
    """After every call, also of several steps. At 1/60 s 19 of 79 that were in touch anew had an end last."""
    often = 0
    for seed in range(2):
        scene, twists = bouncing(seed)
        with mirror(scene, h, "linearly_implicit_rk4", ground=False) as shown:
            for name, twist in twists.items():
                set_twist(shown.sim, name, *twist)
            touching = set(shown.sim.touching)
            for _ in range(round(1.2 / h / count)):
                shown.step(count)
                often += follow(shown.sim.contact_events, touching)
                assert touching == shown.sim.touching
    assert often > 50


@pytest.mark.parametrize("h", [1 / 60, 1 / 30])
def test_so_does_a_game(h):
    """Of frames of several steps, or of none."""
    often = 0
    scene, twists = bouncing(2)
    with Plugin(scene, timestep=h) as game:
        for name, twist in twists.items():
            set_twist(game.simulation, name, *twist)
        touching = set(game.simulation.touching)
        for frame in range(round(1.2 / h)):
            game.on_frame(h * (0.5, 1.0, 2.5)[frame % 3])
            often += follow(game.events, touching)
            assert touching == game.simulation.touching
    assert often > 20


def test_events_of_a_call_come_in_the_order_of_its_steps():
    """One ball leaves the ground before the other one comes."""
    scene = Scene()
    put(scene, "late", shapes.Sphere(0.1), at(1.0, 0.0, 0.2))
    put(scene, "early", shapes.Sphere(0.1), at(z=0.1))
    with mirror(scene, 1 / 240, "linearly_implicit_rk4") as shown:
        shown.step()
        set_twist(shown.sim, "early", velocity=(0, 0, 1))
        shown.step(40)
        assert [(e.kind, e.body_a) for e in shown.sim.contact_events] == [("end", "early"), ("begin", "late")]
