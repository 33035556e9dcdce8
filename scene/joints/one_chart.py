"""A joint that has charts by itself, kept to the first of them."""

from __future__ import annotations

from scene.joints.parametric_joint import Joint


def in_one_chart(joint: Joint) -> Joint:
    """The joint in one chart, if its charts are no wish of a person's, with what was said of its coordinates.

    ModelError for what has no meaning there, as TurnLimits.
    """
    one = joint.of_one_chart
    return one if one is joint or one.coordinates == joint.coordinates else one.with_coordinates(joint.coordinates)
