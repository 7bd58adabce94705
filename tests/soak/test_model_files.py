"""A long campaign against the reader of model files: the golden files, damaged at random."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ceiba.export import ModelFileError, load, save
from tests.paths import GOLDEN_FILES

FOLDER = GOLDEN_FILES
KINDS = ("kmeans*", "forest-weights", "forest-many-classes", "forest-binned")
GOLDEN = [path for kind in KINDS for path in sorted(FOLDER.glob(f"model-v2-{kind}.ceiba"))]

pytestmark = pytest.mark.soak


def outcome(content: bytes, original: bytes, folder: Path, mmap: bool) -> None:
    """Refused, or a model equal to the one that was saved; anything else fails the test."""
    damaged, again = folder / "damaged", folder / "again"
    damaged.write_bytes(content)
    try:
        model = load(damaged, mmap=mmap)
    except ModelFileError:
        return
    save(model, again)
    assert again.read_bytes() == original


def reference(path: Path, folder: Path) -> bytes:
    """The golden model as the present version writes it."""
    save(load(path), folder / "reference")
    return (folder / "reference").read_bytes()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_byte_changed(path, tmp_path):
    content, original = path.read_bytes(), reference(path, tmp_path)
    chance = random.Random(path.name)
    for position in range(len(content)):
        for change in {1, 0x80, chance.randrange(1, 256)}:
            mutant = bytearray(content)
            mutant[position] ^= change
            outcome(bytes(mutant), original, tmp_path, position % 2 == 0)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_truncation(path, tmp_path):
    content, original = path.read_bytes(), reference(path, tmp_path)
    for length in range(len(content)):
        outcome(content[:length], original, tmp_path, length % 2 == 0)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_many_wounds(path, tmp_path):
    content, original = path.read_bytes(), reference(path, tmp_path)
    chance = random.Random(path.stem)
    for round_ in range(20_000):
        mutant = bytearray(content)
        for _ in range(chance.randint(1, 8)):
            first = chance.randrange(len(mutant))
            length = chance.choice([1, 1, 2, 4, 8, 64])
            match chance.randrange(4):
                case 0:
                    mutant[first : first + length] = chance.randbytes(length)
                case 1:
                    del mutant[first : first + length]
                case 2:
                    mutant[first:first] = mutant[first : first + length]
                case 3:
                    mutant[first : first + length] = b"\xff" * length
            if not mutant:
                break
        outcome(bytes(mutant), original, tmp_path, round_ % 2 == 0)
