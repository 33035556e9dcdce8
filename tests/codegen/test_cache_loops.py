"""Compiled loops come from the project's cache: known by what they say, checked and trusted before they are read."""

import errno
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

from recursive_dyn.codegen.compiled import Floats, _said, compiled
from recursive_dyn.codegen.making import cache, jit

ROOT = Path(__file__).resolve().parents[2]
FACTOR = 3.0
VALUES = np.arange(5.0)
settings = ModuleType("settings")
Outer = None  # what its test puts there


@compiled
def scaled(value: float) -> float:
    return FACTOR * value


def total(values: Floats) -> float:
    result = 0.0
    for value in values:
        result += scaled(value)
    return result


def call(expected: float = 30.0) -> bool:
    """Whether a new object of the function found its machine code in the cache; its result is checked."""
    made = []
    with pytest.MonkeyPatch.context() as patch:
        compile_loops = jit.compile_loops
        patch.setattr(jit, "compile_loops", lambda *given: made.append(given) or compile_loops(*given))
        assert compiled(total)(VALUES) == expected
    return not made


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    cache._warn.cache_clear()
    return tmp_path / "cache"


def the_entry(folder: Path) -> Path:
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


def key(function) -> tuple[str, ...]:
    return tuple(_said(compiled(function), set()))


def test_the_second_object_does_not_compile(folder):
    assert not call()
    assert call()


def test_off_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", "off")
    assert not call() and not call()
    assert not list(tmp_path.iterdir())


def test_cut_and_changed_entries_are_compiled_anew(folder):
    call()
    path = the_entry(folder)
    content = path.read_bytes()
    for damage in (0, 1, 39, 40, 41, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:damage])
        assert not call(), f"cut to {damage} bytes"
        assert call(), "the entry was not written again"
    path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    assert not call()


@pytest.mark.parametrize(
    "payload",
    (b"", b"no code", pickle.dumps(None), struct.pack("<I", 10**9), struct.pack("<I", 2) + b"{}", b"\x80\x05."),
    ids=("empty", "no code", "pickle", "long", "short", "cut"),
)
def test_an_intact_entry_of_something_else(folder, payload):
    """As another version of the program might have left it."""
    call()
    cache.store(the_entry(folder).name, payload)
    assert not call()
    assert call()


class Evil:
    """A pickle that makes a file when it is read."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self):
        return Path.touch, (self.proof,)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
@pytest.mark.parametrize("access", ("others write the entry", "others write the folder", "a link", "no digest"))
@pytest.mark.filterwarnings("ignore:.*not used as a cache")
def test_entries_of_others_are_not_read(folder, tmp_path, access):
    proof = tmp_path / "proof"
    call()
    path = the_entry(folder)
    cache.store(path.name, pickle.dumps(Evil(proof)))
    if access == "others write the entry":
        path.chmod(0o666)
    elif access == "others write the folder":
        path.parent.chmod(0o777)
    elif access == "a link":
        path.symlink_to(path.rename(tmp_path / "evil"))
    else:
        path.write_bytes(pickle.dumps(Evil(proof)))
    assert not call()
    assert not proof.exists()


def test_a_full_disk(folder, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not call() and not call()
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_what_a_function_names_is_part_of_its_key(folder, monkeypatch):
    """A constant of the function that is called: code of the older value must not go on running."""
    before = key(total)
    assert before == key(total)
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert key(total) != before
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert key(total) == before
    monkeypatch.setitem(globals(), "scaled", compiled(lambda value: value + value))
    assert key(total) != before


def test_what_a_function_says_is_part_of_its_key():
    first, same, other = ({} for _ in range(3))
    exec("def f(x):\n    'One.'\n    return x + 1\n", first)
    exec("def f(x):\n    'Two.'\n    return x + 1\n", same)
    exec("def f(x):\n    'One.'\n    return x + 2\n", other)
    assert key(first["f"]) == key(same["f"]) != key(other["f"])  # what the documentation says is none


def test_constants_of_a_module_and_types_are_part_of_the_key(monkeypatch):
    def looked_up(n: int) -> float:
        return float(n + settings.WIDTH)

    monkeypatch.setattr(settings, "WIDTH", 2, raising=False)
    before = key(looked_up)
    settings.WIDTH = 3
    assert key(looked_up) != before
    settings.WIDTH = 2
    assert key(looked_up) == before
    looked_up.__annotations__["n"] = "float"
    assert key(looked_up) != before


def test_fields_of_a_field_are_part_of_the_key(monkeypatch):
    """A record within a record is passed as all its words: with one more, whatever reads the outer one reads others."""

    def shortened(outer: "Outer") -> float:
        return outer.last

    keys = []
    for inner in ([("x", Floats)], [("x", Floats), ("y", Floats)], [("x", float)]):
        made = NamedTuple("Inner", inner)
        monkeypatch.setitem(globals(), "Inner", made)
        monkeypatch.setitem(globals(), "Outer", NamedTuple("Outer", [("first", made), ("last", float)]))
        keys.append(key(shortened))
    assert len({*keys}) == 3


PROGRAM = """
import pkgutil, sys, importlib
for package in ("recursive_dyn", "bridge"):
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(found.name)
from recursive_dyn.codegen.compiled import Compiled, _said
functions = {
    f"{value.__module__}.{value.__qualname__}": value
    for name, module in list(sys.modules.items()) if name.split(".")[0] in ("recursive_dyn", "bridge")
    for value in vars(module).values() if isinstance(value, Compiled)
}
for name in sorted(functions):
    print(name, "|".join(_said(functions[name], set())))
"""


def test_every_loop_of_the_project_has_one_key_in_all_processes():
    """No address and no order of a set is in it, or the code would never be found again."""
    runs = []
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        runs.append([line for line in done.stdout.splitlines() if line.startswith(("recursive_dyn", "bridge"))])
    assert runs[0] == runs[1] and len(runs[0]) > 20
    assert not [line for line in runs[0] if " at 0x" in line]
