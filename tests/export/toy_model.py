"""A small estimator for tests of model files, and ways to write, damage and read them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ceiba.base import AtLeast, Parameters, Trace, archive, parameter
from ceiba.data.schema import Column, Kind, Schema
from ceiba.export import load, model_file, save


class Toy(Parameters, BaseEstimator):
    """Estimator that stores the state it is fitted with."""

    _state_names = ("_private",)

    size: Annotated[int, AtLeast(1), "A size."] = parameter(3, kw_only=False)
    init: Annotated[ArrayLike | Callable[..., Any] | None, "An initialization."] = None
    random_state: Annotated[int | RandomState | None, "A seed."] = 0
    member: Annotated[BaseEstimator | None, "A member."] = None

    def fit(self, X=None, y=None, **state):
        self.value_ = 1.5
        for name, value in state.items():
            setattr(self, name, value)
        return self

    @property
    def computed_(self):
        return 1

    def _check_state(self):
        if getattr(self, "index_", 0) > getattr(self, "limit_", 10):
            raise IndexError("index_ exceeds limit_")


class Child(Toy):
    pass


PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**200), 2**200), st.floats(), st.text(max_size=5)
)


def saved(model) -> bytes:
    """The bytes that `save` writes."""
    buffer = io.BytesIO()
    encoder = model_file.Encoder(lambda v, p: model_file._encode_model(encoder, v, p))
    record = model_file._encode_model(encoder, model, "model")
    text = json.dumps(
        {"format": "ceiba model", "version": model_file.VERSION, "ceiba": "x", "model": record}
    )
    archive.write(buffer, {"model.json": text.encode(), **encoder.arrays})
    return buffer.getvalue()


def loaded(content: bytes, tmp_path, **options):
    path = tmp_path / "model.ceiba"
    path.write_bytes(content)
    return load(path, **options)


def again(model, tmp_path, **options):
    save(model, tmp_path / "model.ceiba")
    return load(tmp_path / "model.ceiba", **options)


def rewritten(content: bytes, change=lambda record: record, **entries) -> bytes:
    """The same file with another text and other entries, its checksums right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        kept: dict[str, Any] = {name: old.read(name) for name in old.namelist()}
    record = json.loads(kept["model.json"])
    kept["model.json"] = json.dumps(change(record) or record).encode()
    kept |= {name.replace("__", "/"): value for name, value in entries.items()}
    buffer = io.BytesIO()
    archive.write(buffer, {name: value for name, value in kept.items() if value is not None})
    return buffer.getvalue()


def rich_toy() -> Toy:
    trace = Trace(max_frames=3)
    for step in range(5):
        trace.record(step, {"x": np.arange(step), "loss": 1 / (step + 1), "name": "a"})
    schema = Schema(
        (
            Column("color", Kind.NOMINAL, ("blue", "red"), "codes"),
            Column("age", Kind.NUMERIC, (), "float64"),
        )
    )
    names = np.array(["color", "age"], dtype=object)
    return Toy(2, init=np.eye(2), member=Toy(7)).fit(
        trace_=trace, schema_=schema, feature_names_in_=names, centers_=np.ones((3, 2)),
        labels_=np.arange(4, dtype=np.int32), pair_=(1, [2.5, "x"]), table_={1: None, "a": (True,)},
        member_=Toy(9).fit(), _private=np.float32(0.1), count_=np.int64(3), inf_=float("-inf"),
    )  # fmt: skip


def setter(*path_and_value):
    """A change that puts a value at a path of the text."""
    *path, last, value = path_and_value

    def change(record):
        spot = record
        for part in path:
            spot = spot[part]
        spot[last] = value

    return change
