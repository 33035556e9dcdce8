"""Scenes as readable files; reading one executes nothing."""

from scene.file.whole import load, save

__all__ = ["load", "save"]
