"""The bytes of a file, whole, decompressed by its last suffix."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from ceiba.data.io.errors import ReadError

SUFFIXES = (".gz", ".bz2", ".xz", ".zip", ".zst")
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError)


def split_suffix(path: Path) -> tuple[str, str]:
    """Suffix of the format and of the compression, in lower case: ``(".csv", ".gz")``."""
    last = path.suffix.lower()
    if last not in SUFFIXES:
        return last, ""
    return Path(path.stem).suffix.lower(), last


def contents(path: Path) -> tuple[bytes, str]:
    """The bytes of the file without its compression, and the suffix of their format."""
    form, packing = split_suffix(path)
    raw = path.read_bytes()
    if not packing:
        return raw, form
    try:
        if packing == ".zip":
            return _only_member(path, raw, form)
        return _unpacker(path, packing)(raw), form
    except ReadError:
        raise
    except (*_DAMAGE, RuntimeError, NotImplementedError) as error:
        raise ReadError.at(
            path,
            f"it cannot be decompressed as {packing} ({error}). The file is damaged, cut short or "
            "misnamed.",
        ) from error


def _unpacker(path: Path, packing: str) -> Callable[[bytes], bytes]:
    known: dict[str, Callable[[bytes], bytes]] = {
        ".gz": gzip.decompress,
        ".bz2": bz2.decompress,
        ".xz": lzma.decompress,
    }
    return known[packing] if packing in known else _zstandard(path)


def _zstandard(path: Path) -> Callable[[bytes], bytes]:
    try:
        module = importlib.import_module("compression.zstd")
    except ModuleNotFoundError:
        raise ReadError.at(
            path,
            "this Python cannot decompress .zst (3.14 and later can): decompress the file with "
            "`zstd -d`, or pack it as .gz.",
        ) from None
    decompress: Callable[[bytes], bytes] = module.decompress
    return decompress


def _only_member(path: Path, raw: bytes, form: str) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        # macOS adds a shadow folder of attributes to what it packs.
        names = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not name.startswith("__MACOSX/")
        ]
        if len(names) != 1:
            held = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise ReadError.at(
                path,
                f"the archive should hold one file, but holds {len(names)} ({held or 'none'}).",
            )
        return archive.read(names[0]), form or Path(names[0]).suffix.lower()
