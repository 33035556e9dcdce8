"""Code that comes when a test says so, in place of when another process has made it."""

import pytest

from recursive_dyn.codegen.making import jit, optimizing


class Later:
    """Keeps wishes, and grants those for programs: loops take long, and run as they stand."""

    hurried = True

    def __init__(self):
        self.wishes = []

    def add(self, wish):
        self.wishes.append(wish)

    def grant(self):
        wishes, self.wishes = [w for w in self.wishes if not isinstance(w.work(), optimizing.LoopsCode)], []
        for wish in wishes:
            wish.take(jit.load(wish.work().packed()))
        return len(wishes)


def only_later(monkeypatch, folder):
    """Programs are interpreted until the result's ``grant`` is called; the cache is ``folder``."""
    monkeypatch.setenv("RECURSIVE_DYN_EFFORT", str(jit.FULL))
    if not jit.fuses():
        pytest.skip("this CPU has no fused multiply-adds, so that programs are compiled before they run")
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(folder))
    later = Later()
    monkeypatch.setattr(optimizing, "_WORKER", later)
    return later
