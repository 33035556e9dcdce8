"""The part of the list of functions that controllers ask for."""

from __future__ import annotations

from recursive_dyn.recursion import tracking, tree_rows
from recursive_dyn.recursion.context import Function
from recursive_dyn.recursion.momenta import centroidal

CONTROL: dict[str, Function] = {
    "tracking": Function(
        "Rows [e, e', drift, A] of every velocity coordinate: the error e = difference(q, q_end) of a motion that\n"
        "follows another one, e'' = drift - A a; A against the coordinates of its factor (see recursion.tracking).",
        ("q", "v", "q_end", "v_end", "a_end"), lambda m: (m.nv, tracking.WIDTH),
        lambda c: [("rows", tracking.tracking(c.tree, c.input("q_end"), c.input("v_end"), c.input("a_end")))],
        rows=tree_rows.slot_rows(tracking.WIDTH),
    ),
    "loaded_accelerations": Function(
        "Accelerations under tau with ``diagonal`` added to that of M, as rotors of such inertia would.",
        ("q", "v", "tau", "diagonal"), lambda m: (m.nv,),
        lambda c: [("a", c.accelerations(c.tree, list(c.input("tau")), list(c.input("diagonal"))))], solves=True,
        rows=tree_rows.slots,
    ),
    "centroidal": Function(
        "Momentum matrix (6, nv), row after row; mass; centre of mass (3,); momentum (6,) and the rate that it has\n"
        "without accelerations (6,), each angular about the world origin, then linear, world axes.",
        ("q", "v"), lambda m: (6 * m.nv + centroidal.SUMS,),
        lambda c: [
            ("A", list(centroidal.momentum_matrix(c.tree).flat)), ("sums", centroidal.momentum_sums(c.tree))
        ],
        rows=tree_rows.momentum_columns, sums=centroidal.SUMS, total=centroidal.centroidal,
    ),
}  # fmt: skip
