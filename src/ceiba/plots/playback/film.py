"""Films on disk: an animated GIF, or a folder of numbered PNG frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.plots.style import ACCENT, GLOW, INK, MUTED, PALETTE

_COLOURS = (ACCENT, GLOW, INK, MUTED, *PALETTE)

# Frames whose colours make the palette.
_LOOKED_AT = 5
# The last frame stays this many times as long: the eye wants the result.
_LAST = 3


def save_film(images: Sequence[Any], path: str | Path, fps: float) -> Path:
    """Write images as ``path``: a GIF by its ending, else a folder of frames.

    Parameters
    ----------
    images : sequence of RGB images of Pillow
    path : str or Path
        ``film.gif``, or a folder, made where it is missing.
    fps : float
        Frames a second of the GIF.
    """
    path = Path(path)
    if not _is_gif(path):
        path.mkdir(parents=True, exist_ok=True)
        for image, name in zip(images, _frame_names(len(images)), strict=True):
            image.save(path / name)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_gif(images, file, fps)
    return path


def check_path(path: str | Path, n_frames: int) -> None:
    """Refuse, before anything is drawn, a path that a film of ``n_frames`` cannot be saved as."""
    path = Path(path)
    if _is_gif(path):
        return
    if path.suffix and not path.is_dir():
        raise ValueError(f"{path.name}: a film is saved as .gif, or as PNG frames in a folder")
    left = {found.name for found in path.glob("frame_*.png")} - set(_frame_names(n_frames))
    if left:
        raise FileExistsError(
            f"{path} holds frames of a longer film ({min(left)}): empty it or name another"
        )


def _is_gif(path: Path) -> bool:
    return path.suffix.lower() == ".gif"


def _frame_names(n_frames: int) -> list[str]:
    return [f"frame_{place:04d}.png" for place in range(n_frames)]


def write_gif(images: Sequence[Any], file: IO[bytes], fps: float) -> None:
    """Write an endless GIF whose frames share one palette, so that no colour flickers."""
    palette = _palette(images)
    frames = [_indexed(image, palette) for image in images]
    times = [round(1000 / fps)] * len(frames)
    times[-1] *= _LAST
    frames[0].save(
        file, format="GIF", save_all=True, append_images=frames[1:], duration=times, loop=0
    )


def _palette(images: Sequence[Any]) -> Array:
    """256 colours: the style's own, exactly, and the best others for a few of the frames."""
    from PIL import Image, ImageColor

    places = np.unique(np.linspace(0, len(images) - 1, _LOOKED_AT).round().astype(int))
    sheet = Image.fromarray(np.concatenate([np.asarray(images[place]) for place in places]))
    own = [ImageColor.getrgb(name) for name in ("white", *_COLOURS)]
    found = np.reshape(sheet.quantize(colors=256 - len(own)).getpalette() or [], (-1, 3))
    return np.concatenate([own, found]).astype(np.uint8)


def _indexed(image: Any, palette: Array) -> Any:
    """The image in the nearest colours of the palette.

    Pillow's own look-up is coarse: it takes white for a near white that the palette also has.
    """
    from PIL import Image

    pixels = np.asarray(image).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colours, places = np.unique(pixels, return_inverse=True)
    split = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    nearest = np.argmin(cdist(split, palette, "sqeuclidean"), axis=1).astype(np.uint8)
    indexed = Image.fromarray(nearest[places].reshape(pixels.shape), "P")
    indexed.putpalette(palette.tobytes())
    return indexed
