"""Pictures that pages and examples leave in a folder."""

from __future__ import annotations

from pathlib import Path

from PIL import Image


def n_frames(folder: Path) -> dict[str, int]:
    """Return the pictures of a folder with their numbers of frames; none if it does not exist."""
    found = {}
    for path in folder.glob("*.*"):
        with Image.open(path) as image:
            found[path.name] = getattr(image, "n_frames", 1)
    return found
