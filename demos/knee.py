"""A four-bar knee in closed form: femur, shank and two crossed cruciate ligaments, all a function of the flexion.

Points are (forward, down) in the plane of the motion, m: of the femur, whose origin is near the joint, or of the shank,
whose origin is the anterior ligament's attachment. Larger than life, to be seen.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from demos.plates import Points

SCALE = 5.2e-3  # m for a millimetre of a human knee
# Attachments of the anterior and posterior cruciate ligament, forward and down, m: in the femur at full extension
FEMUR_ACL, FEMUR_PCL = SCALE * np.array([-10.0, -10.0]), SCALE * np.array([4.0, 2.0])
TIBIA_ACL, TIBIA_PCL = SCALE * np.array([14.0, 16.0]), SCALE * np.array([-18.0, 18.0])
ACL, PCL = float(np.linalg.norm(TIBIA_ACL - FEMUR_ACL)), float(np.linalg.norm(TIBIA_PCL - FEMUR_PCL))
PLATEAU = TIBIA_PCL - TIBIA_ACL  # in the shank, whose origin is the anterior ligament's attachment
BEND = (-0.15, 2.4)  # of the knee, rad: where the ligaments cross


def ligaments(bend: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Angles of the anterior and posterior ligament from forward, downward positive, in the femur; rad.

    ACL u(alpha) - PCL u(beta) = FEMUR_PCL - FEMUR_ACL - R(bend) PLATEAU = D: a triangle whose sides are known.
    """
    c, s = sp.cos(bend), sp.sin(bend)
    dx, dw = (FEMUR_PCL - FEMUR_ACL).tolist()
    px, pw = PLATEAU.tolist()
    dx, dw = dx - (c * px - s * pw), dw - (s * px + c * pw)
    reach = sp.sqrt(dx**2 + dw**2)
    alpha = sp.atan2(dw, dx) + sp.acos((ACL**2 + reach**2 - PCL**2) / (2 * ACL * reach))
    return alpha, sp.atan2(ACL * sp.sin(alpha) - dw, ACL * sp.cos(alpha) - dx)


def axis_of_the_knee(bends: Points) -> tuple[Points, Points]:
    """Where the ligaments cross: in the femur (n, 2), and in the shank from its origin (n, 2)."""
    phi = sp.Symbol("phi", real=True)
    alpha, beta = sp.lambdify(phi, ligaments(phi))(bends)
    u, w = (np.column_stack([np.cos(a), np.sin(a)]) for a in (alpha, beta))
    link = FEMUR_PCL - FEMUR_ACL
    along = (link[0] * w[:, 1] - link[1] * w[:, 0]) / (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0])
    crossing = along[:, None] * u  # from the anterior ligament's end in the femur
    return FEMUR_ACL + crossing, turned(crossing - ACL * u, -bends)


def condyle(bends: Points) -> Points:
    """Outline of the femur (n, 2): the plateau touches it where the normal through the axis of the motion meets it."""
    femur, shank = axis_of_the_knee(bends)
    flat = PLATEAU / np.linalg.norm(PLATEAU)
    touching = np.outer(shank @ flat, flat)
    return femur + turned(touching - shank, bends)


def turned(points: Points, angle: Points) -> Points:
    """Points (n, 2) turned by the angles (n,) of flexion."""
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1]])
