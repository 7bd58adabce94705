"""The bytes of a text file: brought to UTF-8, or refused."""

from __future__ import annotations

from pathlib import Path

from ceiba.data.io.errors import ReadError

BOM = b"\xef\xbb\xbf"


def as_utf8(raw: bytes, encoding: str, path: Path) -> bytes:
    """The bytes of a text file in UTF-8."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return raw
    try:
        return raw.decode(encoding).encode("utf-8")
    except UnicodeError as error:
        raise ReadError.at(path, f"it is not {encoding}: {error}.") from None
    except LookupError:
        raise ValueError(f"Python knows no encoding {encoding!r}.") from None


def check_text(data: bytes, path: Path, line: int = 1) -> None:
    """Refuse bytes that are not UTF-8 text; ``line`` is the number of the first line."""
    zero = data.find(b"\0")
    if zero >= 0:
        raise ReadError.at(
            path,
            f"it is not text in UTF-8 (byte {zero + 1} from here is zero). Save the file as UTF-8.",
            line=line + data.count(b"\n", 0, zero),
        )
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        raise ReadError.at(
            path,
            f"byte 0x{data[at]:02x} at position {at + 1} is not UTF-8. Save the file as UTF-8, or "
            "name its encoding: ceiba.data.read(path, encoding='latin-1'), for example.",
            line=line + data.count(b"\n", 0, at),
        ) from None
