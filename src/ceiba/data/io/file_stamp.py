"""A file as it was when first seen, so that a change underneath is noticed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ceiba.data.io.errors import ReadError


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Path, size and time of change of a file."""

    path: Path
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        """The stamp of a file as it is now."""
        state = path.stat()
        # Absolute: a partition may be loaded by a process that works in another folder.
        return cls(path.absolute(), state.st_size, state.st_mtime_ns)

    def check(self) -> None:
        """Refuse a file that is not as it was."""
        try:
            same = FileStamp.of(self.path) == self
        except FileNotFoundError:
            raise ReadError.at(self.path, "the file was there at the scan and is gone.") from None
        if not same:
            raise ReadError.at(
                self.path, "the file has changed since it was scanned. Call ceiba.scan again."
            )
