"""Force elements that are none: refused by name, at once or when the scene compiles."""

import numpy as np
import pytest
import sympy as sp
from element_scenes import bodies

import recursive_dyn as rd
from scene import Body


def path(a, b):
    return [(a, (0, 0, 0)), (b, (0, 0, 0))]


REFUSED = {
    "none": (lambda s, a, h, st: s.force(a), "neither a force nor a torque"),
    "two numbers": (lambda s, a, h, st: s.force(a, force=(1, 2)), "vector"),
    "stranger": (lambda s, a, h, st: s.spring(a, Body("x"), 1.0), "no body of this scene"),
    "name": (lambda s, a, h, st: [s.drag(a, 1.0, name="n"), s.drag(a, 1.0, name="n")], "'n'"),
    "NaN": (lambda s, a, h, st: s.spring(a, h, float("nan")), "nan"),
    "gas": (lambda s, a, h, st: s.gas_spring(a, h, 1.0, 0.5, 1.0, 0.5), "ratio"),
    "path": (lambda s, a, h, st: s.string([(a, (0, 0, 0))], 1.0, 1.0), "path"),
    "one body": (lambda s, a, h, st: s.gravitation([a]), "two different bodies"),
    "stiffness": (lambda s, a, h, st: s.spring(a, h, -10), "'spring 1': stiffness is not negative, not -10"),
    "damping": (lambda s, a, h, st: s.spring(a, h, 1.0, -1.0, name="n"), "'n': damping is not negative.*scene.force"),
    "length": (lambda s, a, h, st: s.string([(a, (0, 0, 0)), (h, (0, 0, 0))], 1.0, -1), "length is not negative"),
    "torsion": (lambda s, a, h, st: s.bushing(a, h, 1.0, (1, -2, 1)), "torsion is not negative, not -2"),
    "area": (lambda s, a, h, st: s.drag(a, -1), "'drag 1': area is not negative, not -1"),
    "density": (lambda s, a, h, st: s.drag(a, 1, density=-1), "density is not negative"),
    "activation": (lambda s, a, h, st: s.muscle(path(a, h), 9, 0.3, 2.0), "activation is between 0 and 1, not 2"),
    "fibres": (lambda s, a, h, st: s.muscle(path(a, h), 9, 0.0), "optimal length is above 0, not 0"),
    "throttle": (lambda s, a, h, st: s.motor(a.q[0], [(0, 1), (9, 0)], 3), "throttle is between -1 and 1, not 3"),
    "itself": (lambda s, a, h, st: s.spring(a, a.name, 1.0), "'spring 1' is between 'arm' and itself"),
    "torque along a measure": (lambda s, a, h, st: s.force(a.q[0], 1.0, torque=(0, 0, 1)), "no torque"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_elements_are_refused_by_name(name):
    parts = bodies()
    make, words = REFUSED[name]
    with pytest.raises(rd.ModelError, match=words):
        make(*parts)
    assert len(parts[0].forces) == (name == "name")


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
