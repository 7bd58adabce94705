"""Files as bytes: suffixes, decompression, UTF-8, detection of changes, replacement."""

from __future__ import annotations

import bz2
import glob
import gzip
import importlib
import io
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO
from urllib.parse import unquote

from ceiba.data.io.errors import ReadError

BOM = b"\xef\xbb\xbf"

#: Default limit of the decompressed size of a file.
MAX_BYTES = 4 << 30

_STANDARD: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
_COMPRESSIONS = (*_STANDARD, ".zip", ".zst")
# Characters of a file's name in its temporary name, so that a long one remains valid.
_MAX_PREFIX = 40
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, ValueError)


def require_arrow(feature: str) -> None:
    """Raise ImportError where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(f'{feature} requires pyarrow: pip install "ceiba[files]".') from None


def check_local(path: str | os.PathLike[str], remedy: str, name: str = "path") -> None:
    """Raise ValueError for a URL, of which `Path` would merge the slashes: ``s3:/bucket``."""
    text = os.fspath(path)
    if not isinstance(text, str) or not _URL.match(text):
        return
    if text.lower().startswith("file:///"):
        remedy = f"pass {unquote(text[len('file://') :])!r}"
    raise ValueError(f"{name} must be a local file, got the URL {text!r}: {remedy}.")


def check_file_path(path: str | os.PathLike[str], name: str = "path") -> None:
    """Refuse a path that is no file and cannot become one, before anything is written.

    ``name`` is that of the parameter in error messages.
    """
    check_local(path, "save to a local file, then copy it there", name)
    text, folder = os.fspath(path), os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"{name} must be a file, got the folder {text!r}: add a file name.")
    # A device would be replaced by the file, not written to.
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{name} must be a regular file, got the device or pipe {text!r}.")
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{name} must be in an existing folder, got {text!r}: make the folder {folder!r} first."
        )


@contextmanager
def open_replacement(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` once it is complete; errors name ``path``."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{_temporary_prefix(target)}{token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove what killed processes left of files that were to replace ``path``."""
    target = Path(os.path.realpath(path))
    for temporary in target.parent.glob(f"{glob.escape(_temporary_prefix(target))}*.part"):
        temporary.unlink(missing_ok=True)


def _temporary_prefix(target: Path) -> str:
    return f".{target.name[:_MAX_PREFIX]}."


def split_suffix(path: Path) -> tuple[str, str]:
    """Suffixes of the format and of the compression, in lower case: ``(".csv", ".gz")``."""
    last = path.suffix.lower()
    if last not in _COMPRESSIONS:
        return last, ""
    return Path(path.stem).suffix.lower(), last


def read_bytes(path: Path, max_bytes: int | None = MAX_BYTES) -> tuple[bytes, str]:
    """Read and decompress a file; also return the suffix of its format.

    Decompression stops at ``max_bytes``: a small file may stand for any number of bytes.
    """
    suffix, compression = split_suffix(path)
    raw = path.read_bytes()
    if not compression:
        return raw, suffix
    try:
        if compression == ".zip":
            return _zip_member(path, raw, suffix, max_bytes)
        with _open_compressed(path, raw, compression) as file:
            return _read_limited(path, file, max_bytes), suffix
    except ReadError:
        raise
    except (*_DAMAGE, RuntimeError, NotImplementedError) as error:
        raise ReadError.at(
            path,
            f"cannot decompress the file as {compression} ({error}). It is damaged, truncated or "
            "has the wrong suffix.",
        ) from error


def _read_limited(path: Path, file: Any, max_bytes: int | None) -> bytes:
    if max_bytes is None:
        return bytes(file.read())
    data = bytes(file.read(max_bytes + 1))
    if len(data) > max_bytes:
        raise ReadError.at(
            path,
            f"the file has more than {max_bytes:,} bytes when decompressed. Pass a larger "
            "max_bytes (None for no limit), or decompress it and use ceiba.scan, which reads it "
            "in parts.",
        )
    return data


def _open_compressed(path: Path, raw: bytes, compression: str) -> Any:
    if compression in _STANDARD:
        return _STANDARD[compression](io.BytesIO(raw))
    try:
        zstd = importlib.import_module("compression.zstd")
    except ModuleNotFoundError:
        raise ReadError.at(
            path,
            "decompression of .zst requires Python 3.14: decompress the file with `zstd -d`, or "
            "compress it as .gz.",
        ) from None
    return zstd.ZstdFile(io.BytesIO(raw))


def _zip_member(path: Path, raw: bytes, suffix: str, max_bytes: int | None) -> tuple[bytes, str]:
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
        with archive.open(names[0]) as file:
            data = _read_limited(path, file, max_bytes)
        return data, suffix or Path(names[0]).suffix.lower()


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
            "UTF-8, or pass its encoding, encoding='latin-1' for example.",
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
