"""A scene as a person looks it over: a tree of bodies, each with the joint that it hangs on."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from recursive_dyn.dynamics.notebook import counted
from scene.body import Body, Node, World
from scene.number_checks import is_symbolic

MOST = 60  # lines of a tree that are told


def _mass(body: Body) -> str:
    mass = body.mass
    return f"{mass} kg" if is_symbolic(mass) else f"{mass:.4g} kg" if mass else "no mass"


def label(node: Node) -> str:
    """A node in a line: its name, its joint and coordinates, its mass and shapes."""
    kinds = [type(shape).__name__ for shape in (node.shapes if isinstance(node, Body | World) else ())]
    counts = [f"{kinds.count(kind)} {kind}" if kinds.count(kind) > 1 else kind for kind in dict.fromkeys(kinds)]
    if not isinstance(node, Body):
        return ", ".join([node.name, *counts])
    joint = repr(node.joint) if node.joint else "not attached"
    return ", ".join([f"{node.name}: {joint}", _mass(node), *counts])


def tree_lines(node: Node, before: str = "") -> Iterator[str]:
    """The lines of what hangs on a node, indented by branches; a chain of any length needs no recursion."""
    stack = [(child, before, child is node.children[-1]) for child in reversed(node.children)]
    while stack:
        child, stem, last = stack.pop()
        yield f"{stem}{'└─ ' if last else '├─ '}{label(child)}"
        deeper = stem + ("   " if last else "│  ")
        stack += [(each, deeper, each is child.children[-1]) for each in reversed(child.children)]


def tree(node: Node) -> str:
    """A node and what hangs on it; of many lines the first."""
    lines = [label(node)]
    for line in tree_lines(node):
        if len(lines) == MOST:
            left = sum(1 for _ in node.walk()) - MOST
            return "\n".join([*lines, f"... and {counted(left, 'more body', 'more bodies')}"])
        lines.append(line)
    return "\n".join(lines)


def html_tree(title: str, node: Node) -> str:
    """The same for a notebook, folded away but for its title."""
    return f"<details open><summary>{escape(title)}</summary><pre>{escape(tree(node))}</pre></details>"
