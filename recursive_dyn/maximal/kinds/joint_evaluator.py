"""Compiled functions of a joint, kept by what it is: an edited scene has most of its joints as before."""

from __future__ import annotations

from typing import Any

from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.making.building import building
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.graph.recent import Recent


class JointEvaluator(Evaluator):
    """The compiled functions of a joint, or of what is made of joints."""

    _values: Parameters

    @property
    def parameters(self) -> Parameters:
        """Values of the scene's parameters."""
        return self._values


_KNOWN = Recent[JointEvaluator](256)


def evaluator_of(functions: Any, parameters: Parameters) -> JointEvaluator:
    """The functions of a list that has a ``key`` of each and names its ``parameters``, nothing of them compiled twice;
    with values of parameters of its own."""
    key = type(functions), functions.key(""), functions.parameters
    with building():
        known = _KNOWN.of(key, lambda: JointEvaluator(functions, parameters))
    result = known.view()
    result.parameters.values_array[:] = parameters.values_array
    return result
