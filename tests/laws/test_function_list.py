"""The list of functions is told once: methods, their shapes and their documentation say what it says."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from constraint_cases import bound
from joint_cases import KINDS
from trees import mechanism

import recursive_dyn as rd
from recursive_dyn.dynamics import function_table
from recursive_dyn.dynamics.functions import FUNCTIONS
from recursive_dyn.integrators.registry import BY_FUNCTION
from recursive_dyn.recursion.context import segment_size

# Functions without a method of their own name, and what calls them.
PARTS = {
    "screws": "jacobian",
    "external_forces": "forward_dynamics",
    "constrained_motion": "derivatives",
    "constraint_positions": "constraint_errors",
    "constraint_velocities": "constraint_errors",
    "pair_wrenches": "cartesian_forces",
    "tree_wrenches": "cartesian_forces",
    "joint_velocities": "generalized_velocities",
    "tree_velocities": "generalized_velocities",
    "pose_step": "generalized_positions",
    "project": "project",  # one step of what the method does
    "chart_quality": None,  # simulations only
    "chart_motion": None,
    "in_time": None,
    "impulse_factors": None,
    "element_slopes": None,
    "element_answers": None,
    "step_accelerations": None,
    "frames": None,
    "tracking": None,  # controllers only
    "loaded_accelerations": None,
    "centroidal": None,
    **dict.fromkeys(BY_FUNCTION),
    **{rule.beside_name: None for rule in BY_FUNCTION.values() if rule.beside},
}
METHODS = [name for name in FUNCTIONS if name not in PARTS]


def test_every_function_is_a_method_or_a_part_of_one():
    assert set(PARTS) <= set(FUNCTIONS)
    for name in METHODS:
        assert callable(getattr(rd.Dynamics, name))
    for name, method in PARTS.items():
        assert method is None or callable(getattr(rd.Dynamics, method))
        assert name == method or not hasattr(rd.Dynamics, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_means(name):
    first = FUNCTIONS[name].meaning.splitlines()[0]
    assert len(first) > 10 and FUNCTIONS[name].meaning[-1] == "." and not re.search(r"\s$|\*/", first)
    for other, function in FUNCTIONS.items():
        assert other == name or function.meaning != FUNCTIONS[name].meaning


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_the_inputs_of_the_list(name):
    aliases = {"difference": ["q0", "q1"]}
    parameters = inspect.signature(getattr(rd.Dynamics, name)).parameters.values()
    given = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY and p.name not in ("self", "external")]
    assert given == aliases.get(name, list(FUNCTIONS[name].inputs))


def test_the_page_of_functions_is_the_list():
    page = Path(__file__).parents[2] / "docs" / "functions.md"
    assert page.read_text(encoding="utf-8") == function_table.page(), "write it anew, as function_table says"


def documented(shape, model):
    """A shape as docstrings write it: (..., nb, 4, 4)."""
    words = {model.nq: "nq", model.nv: "nv", len(model.bodies): "nb", len(model.constraints): "m"}
    return f"({', '.join(['...', *(words.get(size, str(size)) for size in shape)])})"


@pytest.mark.parametrize("name", METHODS)
def test_methods_give_the_shape_of_the_list_and_tell_it(name):
    kinds = tuple(k for k in KINDS if not (name == "cartesian_forces" and k == "euler"))  # which may be near a lock
    case = bound(7, 7) if FUNCTIONS[name].constrained else mechanism(13, 13, kinds=kinds)
    d, (q, v) = case.dynamics(), case.states(6, 1)[:2]
    function, model = FUNCTIONS[name], d.model
    assert len({model.nq, model.nv, len(model.constraints), len(model.bodies), 3, 4, 6}) == 7
    rows = {n: np.ones((6, segment_size(model, n))) for n in function.inputs} | {"q": q, "v": v, "q_end": q, "dt": 0.1}
    arguments = [rows[n] for n in function.inputs]
    if "wrenches" in function.inputs:
        arguments[1] = np.ones((6, len(model.bodies), 6))
    method, shape = getattr(d, name), function.shape(model)
    assert method(*arguments).shape == (6, *shape)
    assert np.shape(method(*(a if np.ndim(a) == 0 else a[0] for a in arguments))) == shape
    assert documented(shape, model) in inspect.getdoc(method)
