from __future__ import annotations

import os
import pickle
import stat
import zipfile
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.random import RandomState
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from ceiba import ESTIMATORS
from ceiba.base import archive
from ceiba.data.schema import Column, Kind, Schema
from ceiba.export import ModelFileError, load, model_file, save
from tests.export.toy_model import PLAIN, Child, Toy, again, rich_toy

pytestmark = pytest.mark.usefixtures("toys")


def test_everything_comes_back(tmp_path):
    model = rich_toy()
    back = again(model, tmp_path)
    assert type(back) is Toy
    assert (back.size, back.random_state, back.member.size, back.member_.size) == (2, 0, 7, 9)
    assert back.member_.value_ == 1.5
    assert not hasattr(back.member, "value_")
    np.testing.assert_array_equal(back.init, np.eye(2))
    assert back.schema_ == model.schema_
    assert back.feature_names_in_.dtype == object
    assert back.feature_names_in_.tolist() == ["color", "age"]
    assert back.labels_.dtype == np.int32
    assert back.pair_ == (1, [2.5, "x"])
    assert back.table_ == {1: None, "a": (True,)}
    assert (type(back._private), back._private) == (np.float32, np.float32(0.1))
    assert (type(back.count_), back.count_) == (np.int64, 3)
    assert back.inf_ == float("-inf")
    assert [frame.step for frame in back.trace_] == [frame.step for frame in model.trace_]
    np.testing.assert_array_equal(back.trace_[-1]["x"], model.trace_[-1]["x"])
    assert back.centers_.flags.writeable
    assert pickle.loads(pickle.dumps(back)).pair_ == (1, [2.5, "x"])


def test_private_scratch_is_not_saved(tmp_path):
    model = Toy().fit()
    model._scratch = object()
    model.__dict__["_hidden_"] = object()
    assert set(vars(again(model, tmp_path))) == set(vars(Toy().fit()))


VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers()), inner, max_size=3),
    ),
    max_leaves=8,
)


def same(a, b) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b or (a != a and b != b)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(VALUES)
def test_plain_values_come_back(tmp_path, value):
    assert same(again(Toy().fit(value_=value), tmp_path).value_, value)


DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    hnp.unicode_string_dtypes(min_len=1, max_len=5),
    hnp.datetime64_dtypes(endianness="="),
    hnp.timedelta64_dtypes(endianness="="),
)
ARRAYS = DTYPES.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ARRAYS, st.sampled_from(["C", "F", "strided"]), st.booleans())
def test_arrays_come_back_bit_for_bit(tmp_path, array, order, mmap):
    array = np.asarray(array, order="F" if order == "F" else "C")
    if order == "strided" and array.ndim:
        array = array[::-1]
    back = again(Toy().fit(array_=array), tmp_path, mmap=mmap).array_
    assert back.dtype == array.dtype.newbyteorder("=")
    assert back.shape == array.shape
    assert back.tobytes() == array.astype(back.dtype).tobytes()
    assert back.flags.f_contiguous == array.flags.f_contiguous or order == "strided"


SCALARS = [
    np.True_,
    np.int8(-3),
    np.uint64(2**64 - 1),
    np.float16(0.1),
    np.float32(1e-45),
    np.float64("nan"),
    np.float64("-inf"),
    np.float64(-0.0),
    np.str_("ü"),
    np.str_(""),
    np.datetime64("2020-02-02T02:02:02.000000002", "ns"),
    np.datetime64("NaT"),
    np.timedelta64(5, "D"),
]


@pytest.mark.parametrize("value", SCALARS, ids=repr)
def test_numpy_scalars_come_back(tmp_path, value):
    back = again(Toy().fit(value_=value), tmp_path).value_
    assert back.dtype == value.dtype
    assert back.tobytes() == value.tobytes()


@pytest.mark.parametrize(
    "categories",
    [
        ("b", "a", "", "ü\ud800"),
        (1, 2, -(2**60)),
        (0.5, 1.0, float("inf")),
        (False, True),
        (np.str_("x"), np.str_("y")),
    ],
    ids=repr,
)
def test_category_labels_keep_their_types(tmp_path, categories):
    schema = Schema((Column("c", Kind.ORDINAL, categories, "codes"),))
    back = again(Toy().fit(schema_=schema), tmp_path).schema_
    assert back == schema
    assert [type(label) for label in back[0].categories] == [type(c) for c in categories]


def test_object_arrays_of_plain_values_come_back(tmp_path):
    classes = np.array([["a", 1], [2.5, None]], dtype=object)
    back = again(Toy().fit(classes_=classes), tmp_path).classes_
    assert back.dtype == object
    assert back.tolist() == [["a", 1], [2.5, None]]


def test_numpy_reads_the_arrays_and_they_are_aligned(tmp_path):
    path = tmp_path / "model.ceiba"
    save(rich_toy(), path)
    with np.load(path, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["model/centers_"], np.ones((3, 2)))
    content = path.read_bytes()
    with zipfile.ZipFile(path) as opened:
        assert opened.testzip() is None
        for info in opened.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            if info.filename.endswith(".npy"):
                data = content.index(b"\x93NUMPY", info.header_offset)
                assert data % 64 == 0


def test_large_entries_are_aligned_too(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGE_ENTRY", 0)
    model = rich_toy()
    back = again(model, tmp_path, mmap=True)
    np.testing.assert_array_equal(back.centers_, model.centers_)


def test_equal_models_give_equal_bytes(tmp_path):
    for name in ("a", "b"):
        save(rich_toy(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    save(load(tmp_path / "a", mmap=True), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_mapped_arrays_are_read_only_views_of_the_file(tmp_path):
    model = rich_toy().fit(empty_=np.empty((0, 3)))
    back = again(model, tmp_path, mmap=True)
    assert isinstance(back.centers_, np.memmap)
    assert back.empty_.shape == (0, 3)
    with pytest.raises(ValueError, match="read-only"):
        back.centers_[0] = 0
    np.testing.assert_array_equal(back.centers_, model.centers_)
    assert back.centers_.ctypes.data % 64 == 0


def test_saving_replaces_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "model.ceiba"
    save(Toy(1).fit(), path)
    before = path.read_bytes()

    def fails(*args):
        raise OSError("disk full")

    monkeypatch.setattr(model_file, "write", fails)
    with pytest.raises(OSError, match="disk full"):
        save(Toy(2).fit(), path)
    monkeypatch.undo()
    monkeypatch.setitem(ESTIMATORS, "Toy", "tests.export.toy_model")
    with pytest.raises(ModelFileError):
        save(Toy(2).fit(bad_=object()), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.ceiba"]
    save(Toy(2).fit(), path)
    assert load(path).size == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_permissions_and_links_are_those_of_an_ordinary_write(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    save(Toy().fit(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "target")]
    assert modes[0] == modes[1]


def loop():
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Toy(random_state=RandomState(0)).fit(), "random_state: a RandomState cannot be stored"),
        (Toy(init=max).fit(), "model/init: a callable cannot be stored"),
        (Toy().fit(a_=lambda: 1), "model/a_: a callable cannot be stored"),
        (
            Toy(member=DecisionTreeClassifier()).fit(),
            "model/member: a DecisionTreeClassifier, an estimator of another library, cannot be",
        ),
        (Toy().fit(a_=[Toy(), Child().fit()]), "model/a_/1: a Child, an estimator of"),
        (Toy().fit(a_={"x": {1, 2}}), "model/a_/0: a set cannot be stored, only numbers"),
        (Toy().fit(a_=b"x"), "a bytes cannot be stored"),
        (Toy().fit(a_=1j), "a complex cannot be stored"),
        (Toy().fit(a_=np.ones(2, complex)), "an array of complex128 cannot be stored"),
        (Toy().fit(a_=np.ones(2, np.longdouble)), "an array of .* cannot be stored"),
        (Toy().fit(a_=np.zeros(2, [("x", "f8")])), "an array of .* cannot be stored"),
        (Toy().fit(a_=np.array([object()])), "must be plain values, got <object object"),
        (Toy().fit(a_=np.ma.masked_array([1, 2], [0, 1])), "a MaskedArray cannot be stored"),
        (Toy().fit(a_=np.longdouble(1)), "a scalar of .* cannot be stored"),
        (Toy().fit(a_={(1, 2): 3}), r"keys and .* must be plain values, got \(1, 2\)"),
        (Toy().fit(a_=2**2000), "ints of more than 1024 bits"),
        (Toy().fit(a_=loop()), "nested too deeply"),
        (
            Toy().fit(a_=Schema((Column("c", Kind.NOMINAL, ([1],), "codes"),))),
            "model/a_: invalid Schema",
        ),
        (Toy(0).fit(), "'size' parameter of Toy must be an int >= 1, got 0"),
        (Toy(member=Toy(0)).fit(), "model/member: invalid model: The 'size' parameter"),
        (Toy().fit(index_=11), "invalid model: index_ exceeds"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_stored_are_refused(tmp_path, model, text):
    with pytest.raises(ModelFileError, match=f"This Toy cannot be saved: .*{text}"):
        save(model, tmp_path / "x")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("s3://bucket/m.ceiba", ValueError, "'s3://bucket/m.ceiba': save to a local file, then"),
        (
            "{}/absent/m.ceiba",
            FileNotFoundError,
            "existing folder, got '.*make the folder '.*absen",
        ),
        ("{}", IsADirectoryError, "path must be a file, got the folder '.*': add a file name"),
        ("{}/" + 300 * "x", OSError, f"too long: '.*/{300 * 'x'}'$"),
    ],
)
def test_errors_of_saving_name_the_given_path(tmp_path, path, error, message):
    with pytest.raises(error, match=message) as raised:
        save(Toy().fit(), path.format(tmp_path))
    assert ".part" not in str(raised.value)
    assert os.listdir(tmp_path) == []


def test_a_long_name_can_be_saved(tmp_path):
    save(Toy().fit(), tmp_path / (250 * "x"))
    assert os.listdir(tmp_path) == [250 * "x"]


def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        ValueError, match=r"must be a regular file, got the device or pipe '.*/pipe'"
    ):
        save(Toy().fit(), tmp_path / "pipe")
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_urls_are_not_loaded():
    with pytest.raises(ValueError, match=r"got the URL 's3://bucket/m\.ceiba': download the file"):
        load("s3://bucket/m.ceiba")


def test_a_truncated_file_is_called_truncated(tmp_path):
    save(Toy().fit(), tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for length, message in (
        (0, "it is empty, not a Ceiba model file"),
        (2, "the file is truncated or damaged, copy or download it again"),
        (len(content) // 2, "the file is truncated or damaged, copy or download it again"),
        (len(content) - 1, "the file is truncated or damaged, copy or download it again"),
    ):
        (tmp_path / "part").write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=message):
            load(tmp_path / "part")


def test_another_format_is_not_called_truncated(tmp_path):
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelFileError, match="not a Ceiba model file, which is a zip archive"):
        load(tmp_path / "model.pkl")


def test_foreign_and_unfitted_models_are_refused(tmp_path):
    for model in (DecisionTreeClassifier(), Child().fit(), 3):
        with pytest.raises(ModelFileError, match="model must be an estimator of Ceiba, got"):
            save(model, tmp_path / "x")
    with pytest.raises(NotFittedError):
        save(Toy(), tmp_path / "x")
