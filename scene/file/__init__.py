"""Scenes as readable files; reading one executes nothing."""

from scene.file.whole import fill, save

__all__ = ["fill", "save"]
