"""Force elements that are none: refused by name, at once or when the scene compiles."""

import numpy as np
import pytest
import sympy as sp
from element_scenes import bodies

import recursive_dyn as rd
from scene import Body

REFUSED = {
    "none": (lambda s, a, h, st: s.force(a), "neither a force nor a torque"),
    "two numbers": (lambda s, a, h, st: s.force(a, force=(1, 2)), "vector"),
    "stranger": (lambda s, a, h, st: s.spring(a, Body("x"), 1.0), "no body of this scene"),
    "name": (lambda s, a, h, st: [s.drag(a, 1.0, name="n"), s.drag(a, 1.0, name="n")], "'n'"),
    "NaN": (lambda s, a, h, st: s.spring(a, h, float("nan")), "nan"),
    "gas": (lambda s, a, h, st: s.gas_spring(a, h, 1.0, 0.5, 1.0, 0.5), "ratio"),
    "path": (lambda s, a, h, st: s.string([(a, (0, 0, 0))], 1.0, 1.0), "path"),
    "one body": (lambda s, a, h, st: s.gravitation([a]), "two different bodies"),
    "torque along a measure": (lambda s, a, h, st: s.force(a.q[0], 1.0, torque=(0, 0, 1)), "no torque"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_elements_are_refused_by_name(name):
    parts = bodies()
    make, words = REFUSED[name]
    with pytest.raises(rd.ModelError, match=words):
        make(*parts)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda s, a: s.force(a.q[0], sp.Symbol("unknown")), "unknown"),
        (lambda s, a: s.potential(a.v[0] ** 2), "energy is a function of positions"),
        (lambda s, a: s.force(a.v[0] ** 2, 1.0), "not linear in the velocities"),
        (lambda s, a: s.potential(sp.Float(3.0) * scene_parameter(s)), "nothing that moves"),
    ],
)
def test_what_a_scene_cannot_mean_is_told_when_it_compiles(make, words):
    scene, arm, *_ = bodies()
    make(scene, arm)
    with pytest.raises(rd.ModelError, match=words):
        d = scene.compile()
        d.passive_forces(d.neutral(), np.zeros(d.nv))


def scene_parameter(scene):
    return scene.parameter("k", 1.0)
