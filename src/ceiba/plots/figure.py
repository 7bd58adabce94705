"""A figure that displays itself in a notebook, without pyplot."""

from __future__ import annotations

import webbrowser
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class Picture(Figure):
    """A matplotlib figure made without pyplot, displayed as PNG in notebooks."""

    def _repr_html_(self) -> str:
        return inline_image(self.png(), "png")

    def save(self, path: str | Path) -> Picture:
        """Write the picture (PNG, SVG or PDF by suffix), make its folder, and return it."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.savefig(path)
        return self

    def show(self) -> Picture:  # type: ignore[override]
        """Open the picture in the viewer or browser of this computer, and return it.

        A notebook displays a picture without this call.
        """
        folder = Path(mkdtemp(prefix="ceiba-"))
        path = folder / "picture.png"
        self.save(path)
        if not webbrowser.open(path.as_uri()):
            raise RuntimeError(
                "There is no viewer to open the picture: write it to a file, "
                'picture.save("picture.png").'
            )
        return self

    def pixels(self) -> Any:
        """Render the picture as an array of bytes of shape (height, width, 4)."""
        canvas = FigureCanvasAgg(self)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())

    def png(self) -> bytes:
        """Render the picture as the bytes of a PNG file."""
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


def inline_image(data: bytes, kind: str) -> str:
    """Return an HTML image with embedded data."""
    return f'<img src="data:image/{kind};base64,{b64encode(data).decode()}">'
