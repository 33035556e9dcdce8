"""No joint of a tree gives way more than its bodies alone do, whatever hangs on it: Gauss's principle."""

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.recursion import turn_frequencies
from scene import Body, Scene, joints

STIFFNESS = 40.0


def heavy_and_light(rng, name):
    """A body with principal axes as its own, of 1 g to 1 kg."""
    mass = 10.0 ** rng.uniform(-3.0, 0.0)
    return Body(
        name, mass=mass, center_of_mass=rng.normal(size=3) * 0.3, inertia=np.diag(rng.uniform(1.0, 1.9, 3)) * mass / 9.0
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_spring_swings_no_faster_than_its_bodies_alone_would(seed):
    scene, rng = Scene(), np.random.default_rng(seed)
    nodes = [
        scene.world.attach(heavy_and_light(rng, "root"), joints.ball(stiffness=STIFFNESS)),
        scene.world.attach(heavy_and_light(rng, "kite"), joints.free(stiffness=STIFFNESS)),
    ]
    for k in range(4):
        at = rd.pose(rng.normal(size=3) * 0.4, rng.normal(size=3))
        nodes.append(
            nodes[rng.integers(len(nodes))].attach(heavy_and_light(rng, f"b{k}"), joints.ball(stiffness=STIFFNESS), at)
        )
    d = scene.compile()
    responses = np.linalg.inv(d.mass_matrix(d.random(rng)))
    highest = turn_frequencies.highest(d.model, lambda scalars: scalars.astype(float))
    assert set(highest) == set(range(d.nv))
    for slots in {link.slots for link in d.model.links}:
        found = np.linalg.eigvalsh(STIFFNESS * responses[np.ix_(slots, slots)]).max()
        assert found < 2.0 * highest[slots[0]] if len(slots) == 6 else found <= highest[slots[0]] * (1.0 + 1e-9)


def test_what_is_not_known_and_what_weighs_nothing():
    scene, ball = Scene(), joints.ball(stiffness=STIFFNESS)
    light = Body("light", mass=1e-9, inertia=np.zeros((3, 3)))
    base = scene.world.attach(Body("base", mass=1.0, inertia=np.eye(3)), joints.ball())
    base.attach(Body("kite", mass=1.0, inertia=np.eye(3)), joints.free(stiffness=STIFFNESS))
    base.attach(Body("sled", mass=1.0, inertia=np.eye(3)), joints.prismatic("x") @ ball)
    base.attach(light, ball).attach(Body("end", mass=1.0, inertia=np.eye(3)), ball, rd.pose((1, 0, 0)))
    d = scene.compile()
    found = turn_frequencies.highest(d.model, lambda scalars: scalars.astype(float))
    unknown = {s for s, square in found.items() if square is None}
    assert {d.model.links[i].name for i in range(5) if set(d.model.links[i].slots) & unknown} == {"kite", "sled"}
    assert all(square > 1e20 for square in found.values() if square is not None)
