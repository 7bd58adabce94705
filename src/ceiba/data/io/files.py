"""Files as bytes: suffixes, decompression, UTF-8, detection of changes."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from ceiba.data.io.errors import ReadError

BOM = b"\xef\xbb\xbf"

_STANDARD = {".gz": gzip, ".bz2": bz2, ".xz": lzma}
_COMPRESSIONS = (*_STANDARD, ".zip", ".zst")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError)


def require_arrow(feature: str) -> None:
    """Raise ImportError where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(f'{feature} requires pyarrow: pip install "ceiba[files]".') from None


def check_local(path: str | os.PathLike[str], remedy: str) -> None:
    """Raise ValueError for a URL, of which `Path` would merge the slashes: ``s3:/bucket``."""
    text = os.fspath(path)
    if not isinstance(text, str) or not _URL.match(text):
        return
    if text.lower().startswith("file:///"):
        remedy = f"pass {unquote(text[len('file://') :])!r}"
    raise ValueError(f"path must be a local file, got the URL {text!r}: {remedy}.")


def split_suffix(path: Path) -> tuple[str, str]:
    """Suffixes of the format and of the compression, in lower case: ``(".csv", ".gz")``."""
    last = path.suffix.lower()
    if last not in _COMPRESSIONS:
        return last, ""
    return Path(path.stem).suffix.lower(), last


def read_bytes(path: Path) -> tuple[bytes, str]:
    """Read and decompress a file; also return the suffix of its format."""
    suffix, compression = split_suffix(path)
    raw = path.read_bytes()
    if not compression:
        return raw, suffix
    try:
        if compression == ".zip":
            return _zip_member(path, raw, suffix)
        return _decompress(path, raw, compression), suffix
    except ReadError:
        raise
    except (*_DAMAGE, RuntimeError, NotImplementedError) as error:
        raise ReadError.at(
            path,
            f"cannot decompress the file as {compression} ({error}). It is damaged, truncated or "
            "has the wrong suffix.",
        ) from error


def _decompress(path: Path, raw: bytes, compression: str) -> bytes:
    if compression in _STANDARD:
        return bytes(_STANDARD[compression].decompress(raw))
    try:
        zstd = importlib.import_module("compression.zstd")
    except ModuleNotFoundError:
        raise ReadError.at(
            path,
            "decompression of .zst requires Python 3.14: decompress the file with `zstd -d`, or "
            "compress it as .gz.",
        ) from None
    return bytes(zstd.decompress(raw))


def _zip_member(path: Path, raw: bytes, suffix: str) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        # macOS adds a folder of file attributes to its archives.
        names = [
            name
            for name in archive.namelist()
            if not name.endswith("/") and not name.startswith("__MACOSX/")
        ]
        if len(names) != 1:
            listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise ReadError.at(
                path, f"the archive must contain one file, got {len(names)} ({listed or 'none'})."
            )
        return archive.read(names[0]), suffix or Path(names[0]).suffix.lower()


def to_utf8(raw: bytes, encoding: str, path: Path) -> bytes:
    """Convert the bytes of a text file to UTF-8."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return raw
    try:
        return raw.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        raise ReadError.at(path, f"the file is not encoded as {encoding}: {error}.") from None
    except LookupError:
        raise ValueError(f"Unknown encoding {encoding!r}: use one that Python supports.") from None


def check_utf8(data: bytes, path: Path, line: int = 1) -> None:
    """Raise ReadError unless the bytes are UTF-8 text; ``line`` numbers their first line."""
    zero = data.find(b"\0")
    if zero >= 0:
        raise ReadError.at(
            path,
            f"the file is not UTF-8 text (byte {zero + 1} from here is zero). Save it as UTF-8.",
            line=line + data.count(b"\n", 0, zero),
        )
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = error.start
        raise ReadError.at(
            path,
            f"byte 0x{data[start]:02x} at position {start + 1} is not UTF-8. Save the file as "
            "UTF-8, or pass its encoding: ceiba.read(path, encoding='latin-1'), for example.",
            line=line + data.count(b"\n", 0, start),
        ) from None


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Path, size and modification time of a scanned file, to detect later changes."""

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """Stamp a file as it is now."""
        state = path.stat()
        # Absolute: a partition may be loaded by a process with another working directory.
        return cls(path.absolute(), state.st_size, state.st_mtime_ns)

    def check(self) -> None:
        """Raise ReadError if the file has changed since it was scanned."""
        try:
            unchanged = FileStamp.of(self.path) == self
        except FileNotFoundError:
            raise ReadError.at(self.path, "the file was deleted after the scan.") from None
        if not unchanged:
            raise ReadError.at(
                self.path, "the file has changed since it was scanned. Call ceiba.scan again."
            )
