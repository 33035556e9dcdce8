"""Programs of a model: the same whatever was built before them, and whatever was kept for them."""

import numpy as np
import pytest

from recursive_dyn.dynamics.model_functions import ModelFunctions
from recursive_dyn.recursion.equations.common_solve import CommonSolve
from recursive_dyn.recursion.groundwork import together
from scene import Body, Scene, joints, shapes

FUNCTIONS = (
    "stage", "stage_energies", "frames", "step", "impulse_factors", "step_accelerations", "driven/step", "driven/stage",
    "integrate", "rates", "forward_dynamics", "along/step",
)  # fmt: skip


def built(scene, names=FUNCTIONS):
    functions = ModelFunctions(scene.model())
    return {name: functions.build(name).hash for name in names}


def chain(damping, constrained=False):
    scene, node = Scene(), None
    for k in range(9):
        body = Body(f"link {k}", [shapes.Capsule(0.05, 0.3)], mass=1.0)
        soft = {"damping": damping, "stiffness": 2.0 * damping} if k % 2 else {}
        joint = joints.revolute("xyz"[k % 3], **soft) if k else joints.free()
        node = (node or scene.world).attach(body, joint)
    if constrained:
        scene.pin("link 0", "link 8")
    return scene


@pytest.mark.parametrize("damping", [0.0, 0.1])
@pytest.mark.parametrize("constrained", [False, True])
def test_programs_do_not_depend_on_what_was_built_before(damping, constrained):
    scene = chain(damping, constrained)
    names = [name for name in FUNCTIONS if not (constrained and name == "along/step")]
    alone = built(scene, names)
    with together():
        assert built(scene, names) == alone
        functions, other = ModelFunctions(scene.model()), ModelFunctions(chain(0.3).model())
        for name in [*names[::-1], *names[::2], *names[1::2]]:
            other.build("stage")
            assert functions.build(name).hash == alone[name]


def test_functions_built_together_write_the_solve_down_once(monkeypatch):
    made = []
    begin = CommonSolve.__init__
    monkeypatch.setattr(CommonSolve, "__init__", lambda self, tree: (made.append(tree), begin(self, tree))[1])
    functions = ModelFunctions(chain(0.1).model())
    names = ("stage", "step", "step_accelerations", "driven/step", "driven/stage")
    with together():
        for name in names:
            functions.build(name)
    assert len(made) == 1
    functions.build("stage")
    assert len(made) == 2  # nothing is kept


def test_accelerations_of_a_step_are_those_of_its_mass_matrix():
    """(M + h D + h^2 K) a = tau - bias, and without a length of the step forward dynamics."""
    scene = chain(0.4)
    d = scene.compile()
    rng = np.random.default_rng(1)
    q, v, tau, h = d.random(rng), rng.normal(size=d.nv), rng.normal(size=d.nv), 0.1
    D, K = np.array([(c.damping, c.stiffness) for c in d.model.coordinates]).T
    a = d.call("step_accelerations", q, v, tau, [h])
    expected = np.linalg.solve(d.mass_matrix(q) + np.diag(h * D + h * h * K), tau - d.bias(q, v))
    np.testing.assert_allclose(a, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    a, expected = d.call("step_accelerations", q, v, tau, [0.0]), d.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_a_scene_that_did_not_change_has_the_model_that_it_had():
    """Its edit is checked, prepared in the background and followed: what is found of it once is known."""
    scene = chain(0.1)
    known = scene.model()
    assert scene.model() is known
    scene.gravity = (0.0, 0.0, -1.6)
    assert scene.model() is not known and scene.model().gravity == (0.0, 0.0, -1.6)
    scene.gravity = (0.0, 0.0, -9.81)
    scene["link 0"].attach(Body("another", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    now = scene.model()
    assert now.nb == known.nb + 1 and known.nb == 9
    scene.parameter("R", 1.0)
    assert [name for name, _ in scene.model().parameters] == ["R"]
