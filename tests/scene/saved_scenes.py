"""Scenes that come back from their files."""

import numpy as np

from scene import Scene


def assert_the_same_when_loaded(scene, folder):
    """Saved and read again, it has the same coordinates and moves the same, to the bit."""
    scene.save(folder / "scene.json")
    first, second = scene.compile(), Scene.load(folder / "scene.json").compile()
    assert second.coordinates == first.coordinates
    q, v = np.linspace(-0.5, 0.5, first.nq), np.linspace(1.0, -1.0, first.nv)
    np.testing.assert_array_equal(first.forward_dynamics(q, v), second.forward_dynamics(q, v))
