"""A long campaign against the reader of model files: the golden files, damaged at random."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ceiba.export import ModelFileError, load, save
from tests.export.golden_models import golden, golden_paths
from tests.export.toy_model import loaded, rewritten
from tests.paths import GOLDEN_FILES
from tests.soak.cases import times

FOLDER = GOLDEN_FILES
KINDS = (
    "kmeans*", "forest-weights", "forest-many-classes", "forest-binned",
    "gradient-*", "network-*", "latent-*", "discretizer",
)  # fmt: skip
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


# With the right checksums

NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 1, 7, 255, 65_536, 1e308, -1e308, 5e-324, 0.5]
INTEGERS = [-(2**63), -1, 0, 1, 2, 7, 255, 65_536, 2**31, 2**63 - 1]
TEXTS = [None, True, 0, -1, 3, 10**9, 2**70, 0.5, "", "zz", [], {}, {"float": "nan"}]


def wrong_array(array: Any, chance: random.Random) -> Any:
    """The array with one row less or more, or with other values."""
    match chance.randrange(6):
        case 0 if array.ndim and len(array):
            return array[:-1]
        case 1 if array.ndim and len(array):
            return np.concatenate([array, array[-1:]])
    flat = array.flatten()
    for _ in range(chance.choice([1, 1, 2, array.size])):
        if array.dtype.kind == "f":
            flat[chance.randrange(array.size)] = chance.choice(NUMBERS)
        elif array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            value = np.clip(chance.choice(INTEGERS), limits.min, limits.max)
            flat[chance.randrange(array.size)] = value
    return flat.reshape(array.shape)


def all_entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over all (container, key) of nested lists and dictionaries."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, own in list(pairs):
        yield value, key
        if isinstance(own, dict | list):
            yield from all_entries(own)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [path for kind in ("gradient-", "network-", "latent-") for path in golden_paths(kind)],
    ids=lambda path: path.stem,
)
def test_wrong_values_are_refused_or_predict(path, tmp_path):
    """No crash, no other error, and predictions of every model that is read."""
    content, chance = path.read_bytes(), random.Random(path.name)
    _, rows, _ = golden(path, False)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name: np.load(io.BytesIO(archive.read(name))) for name in names}
    names = [name for name in names if arrays[name].size]

    def change(record: Any) -> None:
        container, key = chance.choice(list(all_entries(record["model"]["state"])))
        container[key] = chance.choice(TEXTS)

    for round_ in times(3_000):
        if chance.random() < 0.6:
            name = chance.choice(names)
            mutant = rewritten(content, **{name: wrong_array(arrays[name], chance)})
        else:
            mutant = rewritten(content, change)
        try:
            model = loaded(mutant, tmp_path, mmap=round_ % 2 == 0)
        except ModelFileError:
            continue
        if not hasattr(model, "predict_proba"):
            assert np.isfinite(model.predict(rows)).all()
            continue
        probabilities = model.predict_proba(rows)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
