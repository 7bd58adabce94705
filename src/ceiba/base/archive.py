"""The zip archive of a model file: JSON and npy entries that can be memory-mapped.

Entries are stored uncompressed, and arrays are aligned. The structure of the zip is checked before
its content is used: entries are adjacent, nothing is compressed or hidden, names and lengths are
valid, checksums match. Arrays have NumPy's format 1.0, so that ``numpy.load`` reads them too. Their
headers are parsed by a regular expression, never evaluated, and only the dtypes below are allowed:
no objects and no records.
"""

from __future__ import annotations

import json
import re
import struct
import zipfile
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

import numpy as np

from ceiba._typing import Array
from ceiba.base.value_types import format_value

# Headers of arrays end and entries start at multiples of this, as memory-mapping requires.
ALIGNMENT = 64
# Entries from this size on get 64-bit lengths; the format needs them from 4 GiB on.
LARGE_ENTRY = 2**31 - 2**20
MAX_TEXT_BYTES = 2**28

_ZIP64_EXTRA = 20
# Extra field of padding that zipalign uses; readers skip it.
_PADDING_ID = 0xD935
_DIRECTORY = "directory of the zip"
_NAME = re.compile(r"[A-Za-z0-9_]+(?:/[A-Za-z0-9_]+)*\.(?:json|npy)")
_LOCAL = struct.Struct("<4s5H3I2H")
_START = b"PK\3\4"
# The last record of a zip without a comment.
_END = b"PK\5\6"
_END_LENGTH = 22

_MAGIC = b"\x93NUMPY\x01\x00"
_TYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,8}"
    r"|<[Mm]8(?:\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
_HEADER = re.compile(
    r"\{'descr': '([^']{1,32})', 'fortran_order': (True|False), "
    r"'shape': \(((?:[0-9]{1,18}, )*(?:[0-9]{1,18},?)?)\), \} *\n"
)
_MAX_DIMENSIONS = 32
_MAX_BYTES = 2**62
_LAST_CHARACTER = 0x10FFFF


class DefectError(Exception):
    """A defect, its location and the value received; the caller adds the file or the model."""

    def __init__(self, where: str, reason: str, *received: Any) -> None:
        values = [f", got {format_value(value)}" for value in received]
        super().__init__(f"{where}: {reason}{''.join(values)}")


def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """Return the name of a dtype that a model file can store (``<f8``), else None."""
    if dtype.hasobject or dtype.fields is not None:
        return None
    name = dtype.newbyteorder("<").str
    return name if _TYPE.fullmatch(name) else None


def dtype_from_name(name: object, where: str) -> np.dtype[Any]:
    """Return the dtype of a name; raise DefectError if a model file cannot store it."""
    if not isinstance(name, str) or not _TYPE.fullmatch(name):
        raise DefectError(where, f"the dtype {format_value(name)} is not allowed in a model file")
    try:
        return np.dtype(name)
    except (TypeError, ValueError) as error:  # strings longer than NumPy can hold
        raise DefectError(where, f"the dtype {name!r} is not valid: {error}") from error


def write(file: BinaryIO, entries: Mapping[str, bytes | Array]) -> None:
    """Write the entries as a zip; equal entries give equal bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            parts = [content] if isinstance(content, bytes) else _array_parts(content)
            _write_entry(archive, file.tell(), name, parts)


def _write_entry(archive: zipfile.ZipFile, start: int, name: str, parts: list[Any]) -> None:
    large = sum(memoryview(part).nbytes for part in parts) >= LARGE_ENTRY
    fixed = start + _LOCAL.size + len(name) + 4 + (_ZIP64_EXTRA if large else 0)
    padding = -fixed % ALIGNMENT
    entry = zipfile.ZipInfo(name)  # its date is always 1980-01-01
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    entry.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
    with archive.open(entry, "w", force_zip64=large) as target:
        for part in parts:
            target.write(part)


def _array_parts(array: Array) -> list[Any]:
    """Return the npy header of an array, padded to the alignment, and its bytes."""
    stored = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not _is_fortran(stored):
        stored = np.ascontiguousarray(stored).reshape(array.shape)
    text = f"{{'descr': '{dtype_name(stored.dtype)}', 'fortran_order': {_is_fortran(stored)}, "
    text += f"'shape': {stored.shape!r}, }}"
    length = len(_MAGIC) + 2 + len(text) + 1
    text += " " * (-length % ALIGNMENT) + "\n"
    header = _MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")
    return [header, _bytes_of(stored)]


def _is_fortran(array: Array) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _bytes_of(array: Array) -> Array:
    """Return the memory of a contiguous array as bytes, without a copy."""
    in_order = array.T if _is_fortran(array) else array
    return np.asarray(in_order).reshape(-1).view(np.uint8)


class Entry(NamedTuple):
    """Position of an entry's content in the file."""

    name: str
    offset: int
    size: int
    crc: int


class Layout(NamedTuple):
    """Header, dtype, shape and order of an array in its entry."""

    header: bytes
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Any


class Archive:
    """A model file opened for reading; the caller opens and closes ``file``."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        self._mapped: Array | None = None
        self.entries = self._read_directory()

    def text(self, name: str) -> str:
        """Return an entry as text."""
        entry = self._find_entry(name)
        if entry.size > MAX_TEXT_BYTES:
            raise DefectError(name, f"it has {entry.size} bytes, the maximum is {MAX_TEXT_BYTES}")
        content = self._read(entry, entry.size)
        _check_crc(entry, crc32(content))
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DefectError(name, f"not UTF-8 text: {error}") from error

    def json(self, name: str) -> dict[str, Any]:
        """Return an entry as the dictionary of a JSON object; no key may be duplicated."""
        try:
            record = json.loads(
                self.text(name), object_pairs_hook=_reject_duplicates,
                parse_constant=_reject_constant,
            )  # fmt: skip
        except RecursionError as error:
            raise DefectError(name, "nested too deeply") from error
        except ValueError as error:
            raise DefectError(name, f"invalid JSON: {error}") from error
        if not isinstance(record, dict):
            raise DefectError(name, "not a Ceiba model file: must be a dictionary", record)
        return record

    def array(self, name: str, mmap: bool = False) -> Array:
        """Return an entry as an array, in memory or mapped read-only."""
        entry = self._find_entry(name)
        layout = self._read_layout(entry)
        expected = prod(layout.shape) * layout.dtype.itemsize
        if len(layout.header) + expected != entry.size:
            reason = f"shape {layout.shape} of {layout.dtype} requires {expected} bytes"
            raise DefectError(name, reason, entry.size - len(layout.header))
        array = self._map(entry, layout) if mmap else self._load(entry, layout)
        _check_crc(entry, crc32(_bytes_of(array).data, crc32(layout.header)))
        _check_values(entry, array)
        return array.astype(layout.dtype.newbyteorder("="), copy=False)

    def _read_layout(self, entry: Entry) -> Layout:
        start = self._read(entry, min(10, entry.size))
        if len(start) < 10 or not start.startswith(_MAGIC):
            reason = f"not an npy array of format 1.0: it must start with {_MAGIC!r}"
            raise DefectError(entry.name, reason, start)
        length = 10 + int.from_bytes(start[8:10], "little")
        if length > entry.size:
            reason = f"its header is truncated: expected {length} bytes"
            raise DefectError(entry.name, reason, entry.size)
        header = self._read(entry, length)
        text = header[10:].decode("latin-1")
        match = _HEADER.fullmatch(text)
        if match is None:
            raise DefectError(entry.name, "invalid npy header", text)
        dtype = dtype_from_name(match[1], entry.name)
        shape = tuple(int(size) for size in match[3].replace(",", " ").split())
        if len(shape) > _MAX_DIMENSIONS:
            reason = f"the maximum is {_MAX_DIMENSIONS} dimensions"
            raise DefectError(entry.name, reason, len(shape))
        if prod(max(size, 1) for size in shape) * dtype.itemsize > _MAX_BYTES:
            reason = f"the shape is too large: the maximum is {_MAX_BYTES} bytes"
            raise DefectError(entry.name, reason, shape)
        return Layout(header, dtype, shape, "F" if match[2] == "True" else "C")

    def _load(self, entry: Entry, layout: Layout) -> Array:
        array = np.empty(layout.shape, layout.dtype, layout.order)
        self._file.seek(entry.offset + len(layout.header))
        size = self._file.readinto(_bytes_of(array))  # type: ignore[attr-defined]
        _check_read(entry, size, array.nbytes)
        return array

    def _map(self, entry: Entry, layout: Layout) -> Array:
        first = entry.offset + len(layout.header)
        if first % ALIGNMENT:
            reason = f"not aligned: load the file without mmap; {first} % {ALIGNMENT} must be 0"
            raise DefectError(entry.name, reason, first % ALIGNMENT)
        if self._mapped is None:
            self._mapped = np.memmap(self._file, np.uint8, "r")
        raw = self._mapped[first : entry.offset + entry.size].view(layout.dtype)
        return raw.reshape(layout.shape, order=layout.order)

    def _find_entry(self, name: str) -> Entry:
        if name not in self.entries:
            raise DefectError(name, "the entry is missing")
        return self.entries[name]

    def _read(self, entry: Entry, size: int) -> bytes:
        self._file.seek(entry.offset)
        content = self._file.read(size)
        _check_read(entry, len(content), size)
        return content

    def _read_directory(self) -> dict[str, Entry]:
        try:
            archive = zipfile.ZipFile(self._file)
        except Exception as error:
            # For bytes that are not a zip, zipfile raises errors of a dozen classes.
            raise self._not_a_zip(error) from error
        end = 0
        entries: dict[str, Entry] = {}
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            entry = self._check_entry(info, end)
            if entry.name in entries:
                raise DefectError(entry.name, "duplicate entry")
            entries[entry.name] = entry
            end = entry.offset + entry.size
        self._file.seek(max(0, self._size - _END_LENGTH))
        last = self._file.read(4)
        if end != archive.start_dir or last != _END:
            reason = "there are bytes outside of the entries: end and last record must be"
            raise DefectError(_DIRECTORY, f"{reason} {(archive.start_dir, _END)}", (end, last))
        return entries

    def _not_a_zip(self, error: Exception) -> DefectError:
        """Return the error of a file without a directory: truncated, or of another format."""
        if not self._size:
            return DefectError("file", "it is empty, not a Ceiba model file")
        self._file.seek(0)
        if not _START.startswith(self._file.read(len(_START))):
            return DefectError("file", "it is not a Ceiba model file, which is a zip archive")
        # The directory is at the end, so that it is what a truncated file lacks.
        reason = "the file is truncated or damaged, copy or download it again"
        return DefectError(_DIRECTORY, f"{reason} ({error})")

    def _check_entry(self, info: zipfile.ZipInfo, start: int) -> Entry:
        name = info.orig_filename
        if not _NAME.fullmatch(name) or name != info.filename:
            raise DefectError(_DIRECTORY, f"{name!r} is not a valid entry name")
        if info.compress_type or info.flag_bits or info.file_size != info.compress_size:
            raise DefectError(
                name, "the entry must be stored, not compressed, encrypted or flagged", info
            )
        offset = start + self._local_header_length(info, start)
        if offset + info.file_size > self._size:
            reason = f"the entry exceeds the end of the file: it must end before {self._size}"
            raise DefectError(name, reason, offset + info.file_size)
        return Entry(name, offset, info.file_size, info.CRC)

    def _local_header_length(self, info: zipfile.ZipInfo, start: int) -> int:
        name = info.orig_filename.encode("ascii")
        self._file.seek(start)
        local = self._file.read(_LOCAL.size + len(name))
        if info.header_offset != start or len(local) != _LOCAL.size + len(name):
            reason = f"the entry is not adjacent to the one before it: it must start at {start}"
            raise DefectError(info.filename, reason, info.header_offset)
        magic, _, flags, method, _, _, crc, _, _, name_length, extra = _LOCAL.unpack_from(local)
        found = (magic, flags, method, crc, name_length, local[_LOCAL.size :])
        expected = (_START, 0, 0, info.CRC, len(name), name)
        if found != expected:
            reason = f"its header must match the directory of the zip: {expected}"
            raise DefectError(info.filename, reason, found)
        return int(_LOCAL.size + name_length + extra)


def _check_read(entry: Entry, size: int, expected: int) -> None:
    if size != expected:
        reason = f"the file is truncated inside this entry: expected {expected} bytes"
        raise DefectError(entry.name, reason, size)


def _check_crc(entry: Entry, crc: int) -> None:
    if crc != entry.crc:
        reason = f"wrong checksum: the file is damaged; expected {entry.crc}"
        raise DefectError(entry.name, reason, crc)


def _check_values(entry: Entry, array: Array) -> None:
    """Raise for byte patterns that NumPy never writes."""
    if array.size == 0:
        return
    raw = _bytes_of(array)
    if array.dtype.kind == "b" and raw.max() > 1:
        raise DefectError(entry.name, "bools must be 0 or 1", raw.max())
    if array.dtype.kind == "U" and raw.view("<u4").max() > _LAST_CHARACTER:
        reason = f"strings must be valid characters, at most {_LAST_CHARACTER}"
        raise DefectError(entry.name, reason, raw.view("<u4").max())


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError(f"duplicate key among {format_value([key for key, _ in pairs])}")
    return result


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")
