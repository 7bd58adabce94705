"""The zip archive of a model file, with entries that can be memory-mapped.

Entries are stored uncompressed, and arrays are aligned. The structure of the zip is checked before
its content is used: entries are adjacent, nothing is compressed or hidden, names and lengths are
valid, checksums match.
"""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np

from ceiba.export.defect import DefectError
from ceiba.export.npy import ALIGNMENT, Layout, header_length, is_fortran, make_header, parse_header

# Entries from this size on get 64-bit lengths; the format needs them from 4 GiB on.
LARGE_ENTRY = 2**31 - 2**20
_ZIP64_EXTRA = 20
# Extra field of padding that zipalign uses; readers skip it.
_PADDING_ID = 0xD935
_DIRECTORY = "directory of the zip"
_NAME = re.compile(r"[A-Za-z0-9_]+(?:/[A-Za-z0-9_]+)*\.(?:json|npy)")
_LOCAL = struct.Struct("<4s5H3I2H")
# The last record of a zip without a comment.
_END = b"PK\5\6"
_END_LENGTH = 22
MAX_TEXT_BYTES = 2**28
_LAST_CHARACTER = 0x10FFFF


def write(file: BinaryIO, entries: Mapping[str, bytes | np.ndarray[Any, Any]]) -> None:
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


def _array_parts(array: np.ndarray[Any, Any]) -> list[Any]:
    stored = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if not is_fortran(stored):
        stored = np.ascontiguousarray(stored).reshape(array.shape)
    return [make_header(stored), _bytes_of(stored)]


def _bytes_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the memory of a contiguous array as bytes, without a copy."""
    in_order = array.T if is_fortran(array) else array
    return np.asarray(in_order).reshape(-1).view(np.uint8)


@dataclass(frozen=True, slots=True)
class Entry:
    """Position of an entry's content in the file."""

    name: str
    offset: int
    size: int
    crc: int


class Archive:
    """A model file opened for reading.

    Parameters
    ----------
    file : binary file
        Opened and closed by the caller.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        self._mapped: np.ndarray[Any, Any] | None = None
        self.entries = self._read_directory()

    def text(self, name: str) -> str:
        """Return an entry as text."""
        entry = self._find_entry(name)
        if entry.size > MAX_TEXT_BYTES:
            raise DefectError(name, f"it has {entry.size} bytes, the maximum is {MAX_TEXT_BYTES}")
        content = self._read(entry, entry.offset, entry.size)
        _check_crc(entry, crc32(content))
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DefectError(name, "not UTF-8 text") from error

    def array(self, name: str, mmap: bool = False) -> np.ndarray[Any, Any]:
        """Return an entry as an array, in memory or mapped read-only."""
        entry = self._find_entry(name)
        header, layout = self._read_header(entry)
        array = self._map(entry, layout) if mmap else self._load(entry, layout)
        _check_crc(entry, crc32(_bytes_of(array).data, crc32(header)))
        _check_values(entry, array)
        return array.astype(layout.dtype.newbyteorder("="), copy=False)

    def _read_header(self, entry: Entry) -> tuple[bytes, Layout]:
        try:
            start = self._read(entry, entry.offset, min(10, entry.size))
            length = header_length(start)
            if length > entry.size:
                raise ValueError("its header is truncated")
            header = self._read(entry, entry.offset, length)
            layout = parse_header(header)
        except ValueError as error:
            raise DefectError(entry.name, str(error)) from error
        if length + layout.nbytes != entry.size:
            expected = f"shape {layout.shape} of {layout.dtype} requires {layout.nbytes} bytes"
            raise DefectError(entry.name, f"{expected}, got {entry.size - length}")
        return header, layout

    def _load(self, entry: Entry, layout: Layout) -> np.ndarray[Any, Any]:
        array = np.empty(layout.shape, layout.dtype, "F" if layout.fortran else "C")
        self._file.seek(entry.offset + layout.offset)
        if self._file.readinto(_bytes_of(array)) != array.nbytes:  # type: ignore[attr-defined]
            raise DefectError(entry.name, "the file is truncated inside this entry")
        return array

    def _map(self, entry: Entry, layout: Layout) -> np.ndarray[Any, Any]:
        first = entry.offset + layout.offset
        if first % ALIGNMENT:
            raise DefectError(entry.name, "not aligned: load the file without mmap")
        if self._mapped is None:
            self._mapped = np.memmap(self._file, np.uint8, "r")
        raw = self._mapped[first : first + layout.nbytes].view(layout.dtype)
        return raw.reshape(layout.shape, order="F" if layout.fortran else "C")

    def _find_entry(self, name: str) -> Entry:
        if name not in self.entries:
            raise DefectError(name, "the entry is missing")
        return self.entries[name]

    def _read(self, entry: Entry, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        content = self._file.read(size)
        if len(content) != size:
            raise DefectError(entry.name, "the file is truncated inside this entry")
        return content

    def _read_directory(self) -> dict[str, Entry]:
        try:
            archive = zipfile.ZipFile(self._file)
        except Exception as error:
            # For bytes that are not a zip, zipfile raises errors of a dozen classes.
            raise DefectError(_DIRECTORY, f"{error}; not a Ceiba model file") from error
        infos = sorted(archive.infolist(), key=lambda info: info.header_offset)
        end = 0
        entries: dict[str, Entry] = {}
        for info in infos:
            entry = self._check_entry(info, end)
            if entry.name in entries:
                raise DefectError(entry.name, "duplicate entry")
            entries[entry.name] = entry
            end = entry.offset + entry.size
        self._file.seek(max(0, self._size - _END_LENGTH))
        has_end_record = self._file.read(4) == _END
        if end != archive.start_dir or not has_end_record:
            raise DefectError(_DIRECTORY, "there are bytes outside of the entries")
        return entries

    def _check_entry(self, info: zipfile.ZipInfo, start: int) -> Entry:
        name = info.orig_filename
        if not _NAME.fullmatch(name) or name != info.filename:
            raise DefectError(_DIRECTORY, f"{name!r} is not a valid entry name")
        if info.compress_type or info.flag_bits or info.file_size != info.compress_size:
            raise DefectError(
                name, "the entry must be stored, not compressed, encrypted or flagged"
            )
        entry = Entry(
            name, start + self._local_header_length(info, start), info.file_size, info.CRC
        )
        if entry.offset + entry.size > self._size:
            raise DefectError(name, "the entry exceeds the end of the file")
        return entry

    def _local_header_length(self, info: zipfile.ZipInfo, start: int) -> int:
        name = info.orig_filename.encode("ascii")
        self._file.seek(start)
        local = self._file.read(_LOCAL.size + len(name))
        if info.header_offset != start or len(local) != _LOCAL.size + len(name):
            raise DefectError(info.filename, "the entry is not adjacent to the one before it")
        magic, _, flags, method, _, _, crc, _, _, name_length, extra = _LOCAL.unpack_from(local)
        same = (magic, flags, method, crc, name_length) == (b"PK\3\4", 0, 0, info.CRC, len(name))
        if not same or local[_LOCAL.size :] != name:
            raise DefectError(info.filename, "its header does not match the directory of the zip")
        return int(_LOCAL.size + name_length + extra)


def _check_crc(entry: Entry, crc: int) -> None:
    if crc != entry.crc:
        raise DefectError(entry.name, "wrong checksum: the file is damaged")


def _check_values(entry: Entry, array: np.ndarray[Any, Any]) -> None:
    """Raise for byte patterns that NumPy never writes."""
    if array.size == 0:
        return
    raw = _bytes_of(array)
    if array.dtype.kind == "b" and raw.max() > 1:
        raise DefectError(entry.name, "bools must be 0 or 1")
    if array.dtype.kind == "U" and raw.view("<u4").max() > _LAST_CHARACTER:
        raise DefectError(entry.name, "strings must be valid characters")
