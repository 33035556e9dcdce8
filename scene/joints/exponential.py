"""Rotations by their rotation vector, smooth at zero to all derivatives."""

from __future__ import annotations

from functools import cache
from math import factorial
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.joint import joint_program as core
from recursive_dyn.spatial.algebra import dot, skew
from recursive_dyn.spatial.spaces import Flat
from scene.joints.parametric_joint import Joint, Origin

_HALVINGS = 4  # of the angle, before power series serve: 2 pi becomes 0.39
_TERMS = 8  # of each of them: the ninth is 1e-22 there


def exponential_map(**settings: Any) -> Joint:
    """Rotation about a rotation vector by its length; coordinates: rx, ry, rz of it, rad, in the parent's axes.

    It passes through zero as through any other place, and is singular where the length is a whole turn: ``ball`` is
    so nowhere. Unlike there, velocities are the rates of coordinates, which may have limits, motors and springs of
    their own, be driven and shared.
    """
    return Joint.made(Origin("exponential_map", {}), _program(), ["rx", "ry", "rz"], settings)


@cache
def _program() -> core.JointProgram:
    """One program for as many bodies as have such a joint."""
    graph = Graph()
    phi = graph.inputs("q", 3)
    sine, cosine = _coefficients(dot(phi, phi))
    turn = skew(phi)
    G = array(np.eye(4))
    G[:3, :3] = G[:3, :3] + turn * sine + (turn @ turn) * cosine
    return core.build(graph, [(Flat(3), G)])


def _coefficients(square: Scalar) -> tuple[Scalar, Scalar]:
    """sin(a) / a and (1 - cos(a)) / a^2 of a squared angle a^2.

    By power series of a small part of the angle, which is doubled then: closed forms divide by the angle, and their
    derivatives cancel near zero. No step loses digits, as 1 - cos(a) is never formed from cos(a).
    """
    part = square * 0.25**_HALVINGS
    sine, cosine = _series(part, 1), _series(part, 2)
    for _ in range(_HALVINGS):
        lost = part * cosine  # 1 - cos
        sine, cosine, part = sine * (1.0 - lost), cosine * (1.0 - lost * 0.5), part * 4.0
    return sine, cosine


def _series(square: Scalar, start: int) -> Scalar:
    """The sum of (-a^2)^n / (2 n + start)!."""
    total: Scalar = (-1.0) ** _TERMS / factorial(2 * _TERMS + start)
    for n in reversed(range(_TERMS)):
        total = total * square + (-1.0) ** n / factorial(2 * n + start)
    return total
