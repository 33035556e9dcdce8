"""Curves and patches from expressions or control points, and the frames that they carry."""
