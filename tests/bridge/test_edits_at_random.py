"""Whatever came and went, a running simulation is the one that was compiled from the scene that is left."""

import gc
from itertools import pairwise

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn.dynamics import model_functions
from recursive_dyn.model import elsewhere, forest
from scene import Body, Scene, joints, shapes
from scene.mass_properties import _KNOWN

H = 1 / 240


def hang(scene, name, kind, place):
    """A ball, a box, a pendulum with stops and friction, or an arm of two links above the ground."""
    at = rd.pose(xyz=place)
    if kind == "ball":
        scene.world.attach(Body(name, [shapes.Sphere(0.1)], mass=1.0), joints.free(), at)
    elif kind == "box":
        scene.world.attach(Body(name, [shapes.Box((0.2, 0.2, 0.2))], mass=2.0), joints.free(), at)
    else:
        rod = Body(name, [shapes.Capsule(0.03, 0.2, at=rd.pose(xyz=(0, 0, -0.1)))], mass=1.0)
        scene.world.attach(rod, joints.revolute("x", limits=(-1.0, 1.5), friction=0.02), at @ rd.pose(xyz=(0, 0, 1)))
        if kind == "arm":
            tip = Body(f"{name} tip", [shapes.Sphere(0.05)], mass=0.5)
            rod.attach(tip, joints.revolute("y", damping=0.01), rd.pose(xyz=(0, 0, -0.3)))


KINDS = ("ball", "box", "pendulum", "arm")


class Edited:
    """A mirror that follows random edits; ``rows``: (name, kind, place) of what there is, in order of attachment."""

    def __init__(self, seed):
        self.rng, self.scene, self.rows, self.made = np.random.default_rng(seed), Scene(), [], 0
        for _ in range(8):
            self.add()
        self.sim = rd.Simulation(self.scene.compile(), H)
        self.mirror = PyBulletMirror(self.scene, self.sim, gui=False)

    def add(self):
        kind = KINDS[self.rng.integers(len(KINDS))]
        row = f"{kind} {self.made}", kind, (0.5 * (self.made % 5), 0.5 * (self.made // 5), 0.12)
        hang(self.scene, *row)
        self.rows.append(row)
        self.made += 1

    def remove(self):
        name, _, _ = self.rows.pop(self.rng.integers(len(self.rows)))
        self.scene[name].detach()

    def edit(self):
        for _ in range(self.rng.integers(1, 3)):
            self.remove() if len(self.rows) > 4 and self.rng.random() < 0.5 else self.add()
        self.mirror.update()

    def again(self):
        """(scene, simulation) made anew of what there is."""
        scene = Scene()
        for row in self.rows:
            hang(scene, *row)
        return scene, rd.Simulation(scene.compile(), H)


@pytest.mark.parametrize("seed", range(4))
def test_it_runs_bit_by_bit_as_one_that_was_compiled_from_that_scene(seed):
    """Given its state and what the next solve starts from."""
    edited = Edited(seed)
    with edited.mirror:
        for _ in range(12):
            edited.mirror.step(int(edited.rng.integers(1, 8)))
            edited.edit()
        edited.mirror.step(3)
        scene, sim = edited.again()
        assert sim.dynamics.bodies == edited.sim.dynamics.bodies
        assert sim.dynamics.coordinates == edited.sim.dynamics.coordinates
        with PyBulletMirror(scene, sim, gui=False) as mirror:
            sim.restore(edited.sim.snapshot())
            for _ in range(40):
                edited.mirror.step()
                mirror.step()
                np.testing.assert_array_equal(edited.sim.q, sim.q)
                np.testing.assert_array_equal(edited.sim.v, sim.v)
            assert len(sim.contacts) > 0
            assert [e.kind for e in sim.contact_events] == [e.kind for e in edited.sim.contact_events]


@pytest.mark.parametrize("guests", [60, pytest.param(400, marks=pytest.mark.slow)])
def test_bodies_that_came_and_went_are_not_remembered(guests):
    """Neither their trees, nor their programs, nor Bullet's shapes, nor objects of Python's."""
    edited = Edited(0)

    def cycles(count):
        for k in range(count):
            hang(edited.scene, "guest", KINDS[k % 2], (0.0, -1.0, 0.5))
            edited.mirror.update()
            edited.mirror.step()
            edited.scene["guest"].detach()
            edited.mirror.update()
            edited.mirror.step()

    def known():
        gc.collect()
        tables = (
            model_functions._TREES,
            forest._TREES,
            elsewhere._KNOWN,
            _KNOWN,
            edited.mirror._mirrored.bodies._shapes,
        )
        return *map(len, tables), len(edited.mirror.bullet_bodies)

    with edited.mirror:
        cycles(10)
        before, objects = known(), [len(gc.get_objects())]
        for _ in range(4):
            cycles(guests // 4)
            assert known() == before
            objects.append(len(gc.get_objects()))
        # One an edit would be twice as many in every quarter; programs that a thread builds come in one of them.
        assert min(after - then for then, after in pairwise(objects)) < guests // 4
