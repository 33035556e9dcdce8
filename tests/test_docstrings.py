"""Whatever is public says what it is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ("recursive_dyn", "scene", "bridge")
Definition = ast.ClassDef | ast.FunctionDef


def public(tree: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    return (node for node in tree.body if isinstance(node, Definition) and not node.name.startswith("_"))


def test_public_names_have_a_docstring():
    """A member may have its words in those of its class, or in those of the class whose promise it keeps."""
    paths = [path for package in CORE for path in (ROOT / package).rglob("*.py")]
    names = [(path, node) for path in paths for node in public(ast.parse(path.read_text()))]
    assert len(names) > 1000
    silent = [f"{path}: {node.name}" for path, node in names if not ast.get_docstring(node)]
    members = [
        (path, owner, node) for path, owner in names if isinstance(owner, ast.ClassDef) for node in public(owner)
    ]
    told = {node.name for _, _, node in members if ast.get_docstring(node)}
    silent += [
        f"{path}: {owner.name}.{node.name}"
        for path, owner, node in members
        if node.name not in told and node.name not in re.findall(r"\w+", ast.get_docstring(owner) or "")
    ]
    assert not silent
