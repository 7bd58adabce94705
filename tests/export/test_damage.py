from __future__ import annotations

import io
import os
import pickle
import zipfile

import numpy as np
import pytest

from ceiba.export import ModelFileError, load
from tests.export.toy_model import Toy, loaded, rewritten, rich_toy, saved, setter

pytestmark = pytest.mark.usefixtures("toys")


def test_other_files_are_refused_by_name(tmp_path):
    np.savez(tmp_path / "arrays.npz", a=np.ones(3))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("hello")
    with open(tmp_path / "pickle", "wb") as file:
        pickle.dump({}, file)
    for name in os.listdir(tmp_path):
        with pytest.raises(ModelFileError, match=name):
            load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")


def test_a_newer_format_is_refused_with_a_remedy(tmp_path):
    content = rewritten(saved(Toy().fit()), lambda record: record | {"version": 3})
    with pytest.raises(ModelFileError, match="format 3 is newer than format 2, which Ceiba"):
        loaded(content, tmp_path)


STATE = ("model", "state")
BAD_TEXTS = [
    (setter("format", "other"), "not a Ceiba model file"),
    (setter("version", 0), "format version must be an int >= 1, got 0"),
    (setter("version", True), "format version must be an int >= 1, got True"),
    (setter("version", "1"), "format version must be an int >= 1, got '1'"),
    (setter("version", 1), "format 1 is older than format 2"),
    (setter("model", []), "a model must have class"),
    (setter("model", {"class": "Toy", "parameters": {}, "state": {}}), "the model does not use"),
    (setter("model", "class", "os.system"), "unknown class 'os.system'"),
    (setter("model", "class", "Child"), "unknown class 'Child'"),
    (setter("model", "class", ["Toy"]), "unknown class"),
    (setter("model", "parameters", []), "parameters and state must be dictionaries"),
    (
        setter("model", "parameters", "size", 0),
        "'size' parameter of Toy must be an int >= 1, got 0",
    ),
    (setter("model", "parameters", "color", 1), "has no parameter 'color'"),
    (setter("model", "extra", 1), "a model must have class"),
    (setter(*STATE, "fit", 1), "no fitted attribute 'fit'"),
    (setter(*STATE, "computed_", 1), "no fitted attribute 'computed_'"),
    (setter(*STATE, "__dict__", 1), "no fitted attribute '__dict__'"),
    (setter(*STATE, "a b_", 1), "no fitted attribute 'a b_'"),
    (setter(*STATE, "index_", 11), "invalid model: index_ exceeds"),
    (setter(*STATE, "index_", []), "invalid model"),
    (setter(*STATE, "x_", {}), "unknown kind of value"),
    (setter(*STATE, "x_", {"pickle": "gASV"}), "unknown kind of value"),
    (setter(*STATE, "x_", {"array": "model/centers_.npy"}), "must have the name of its path"),
    (setter(*STATE, "x_", {"array": "model/x_.npy"}), r"model/x_\.npy: the entry is missing"),
    (
        setter(*STATE, "x_", {"array": "../../etc/passwd"}),
        "the entry of an array must have the name",
    ),
    (setter(*STATE, "x_", {"float": "1e5"}), "must be 'inf', '-inf' or 'nan', got '1e5'"),
    (setter(*STATE, "x_", {"tuple": 3}), "must be a list, got 3"),
    (setter(*STATE, "x_", {"dict": [[1, 2], [1, 3]]}), "a key is duplicated or not a plain value"),
    (setter(*STATE, "x_", {"dict": [[[1], 2]]}), "not a plain value"),
    (
        setter(*STATE, "x_", {"dict": [[1, 2, 3]]}),
        r"must be a list of length 2, got \[1, 2, 3\]",
    ),
    (
        setter(*STATE, "x_", {"scalar": ["<f8", 1]}),
        "a scalar of float64 cannot have a value of type int",
    ),
    (setter(*STATE, "x_", {"scalar": ["|O", 1]}), "not allowed in a model file"),
    (setter(*STATE, "x_", {"scalar": ["|i1", 300]}), "model/x_"),
    (setter(*STATE, "x_", {"scalar": ["<f2", 1e300]}), "does not fit float16"),
    (setter(*STATE, "x_", {"scalar": ["<M8[ns]", 2**70]}), "model/x_"),
    (setter(*STATE, "x_", {"objects": {"shape": [2], "items": [1]}}), "1 values for the shape"),
    (
        setter(*STATE, "x_", {"objects": {"shape": [-1], "items": []}}),
        "a size must be an int >= 0, got -1",
    ),
    (setter(*STATE, "x_", {"objects": {"shape": [0, 2**80], "items": []}}), "0 values"),
    (
        setter(*STATE, "x_", {"objects": {"shape": [1], "items": [[]]}}),
        "the items of an object array must be plain",
    ),
    (setter(*STATE, "x_", {"objects": {"items": []}}), "an object array must have shape and items"),
    (setter(*STATE, "x_", {"record": ["Popen", {}]}), "unknown record 'Popen'"),
    (setter(*STATE, "x_", {"record": ["Schema", 3]}), "invalid Schema"),
    (setter(*STATE, "x_", {"record": ["Trace", {"dict": []}]}), "invalid Trace: 'max_frames'"),
    (setter(*STATE, "x_", {"model": {"class": "Toy"}}), "a model must have class"),
    (setter(*STATE, "centers_", 1), r"model/centers_\.npy: the model does not use this entry"),
]


@pytest.mark.parametrize(("change", "text"), BAD_TEXTS)
def test_invalid_text_is_refused(tmp_path, change, text):
    content = rewritten(saved(rich_toy()), change)
    with pytest.raises(ModelFileError, match=text) as error:
        loaded(content, tmp_path)
    assert str(tmp_path / "model.ceiba") in str(error.value)


def nested(wrap, depth=5000):
    value = "1"
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("depth", [100, 900, 100_000])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda v: ("[", v, "]"),
        lambda v: ('{"tuple":[', v, "]}"),
        lambda v: ('{"record":["Schema",', v, "]}"),
        lambda v: (
            '{"model":{"class":"Toy","parameters":{},"state":{"a_":', v, "}}}",
        ),
    ],
)  # fmt: skip
def test_deep_nesting_is_refused(tmp_path, wrap, depth):
    before, _, after = wrap("")
    deep = before * depth + "1" + after * depth
    content = saved(Toy().fit())
    text = '{"format":"ceiba model","version":2,"model":{"class":"Toy","parameters":{},"state":'
    text += '{"a_":' + deep + "}}}"
    content = rewritten(content, **{"model.json": text.encode()})
    with pytest.raises(ModelFileError, match="deeply"):
        loaded(content, tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", r"invalid JSON: Expecting value: line 1 column 1 \(char"),
        (b"{", "invalid JSON: Expecting property name enclosed in double quotes:"),
        (b"[]", "not a Ceiba model file"),
        (b'{"a": NaN}', "invalid JSON: NaN is not valid JSON"),
        (b'{"a": 1, "a": 2}', "invalid JSON: duplicate key"),
        (b'"\xff"', "not UTF-8"),
        (b"1" * 5000, r"invalid JSON: Exceeds the limit \(4300 digits\) for integer"),
        (None, "the entry is missing"),
    ],
)
def test_broken_json_is_refused(tmp_path, text, reason):
    content = rewritten(saved(Toy().fit()), **{"model.json": text})
    with pytest.raises(ModelFileError, match=reason):
        loaded(content, tmp_path)


def npy(head: str, data: bytes = bytes(48), magic: bytes = b"\x93NUMPY\x01\x00") -> bytes:
    return magic + len(head).to_bytes(2, "little") + head.encode() + data


def head(descr="'<f8'", order="False", shape="(3, 2)") -> str:
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    return text + " " * ((-len(text) - 11) % 64) + "\n"


BAD_ARRAYS = [
    (b"", "not an npy array of format"),
    (npy(head(), magic=b"\x93NUMPY\x03\x00"), "not an npy array of format"),
    (npy(head())[:30], "its header is truncated"),
    (npy(head("'|O'")), r"'\|O' is not allowed in a model file"),
    (npy(head("[('a', '<f8')]")), "invalid npy header"),
    (npy(head("'>f8'")), "the dtype '>f8' is not allowed in a model"),
    (npy(head("'<f16'")), "the dtype '<f16' is not allowed in a model"),
    (npy(head("'<U0'")), "the dtype '<U0' is not allowed in a model"),
    (npy(head("'|V8'")), r"the dtype '\|V8' is not allowed in a model"),
    (npy(head(order="0")), "invalid npy header"),
    (npy(head(shape="(3, -2)")), "invalid npy header"),
    (npy(head(shape="[3, 2]")), "invalid npy header"),
    (npy(head(shape="(3, True)")), "invalid npy header"),
    (npy("__import__('os').system('true')\n"), "invalid npy header"),
    (npy(head(shape="(3, 3)")), r"shape \(3, 3\) of float64 requires 72 bytes, got 48"),
    (npy(head(shape="(3,)")), "requires 24 bytes, got 48"),
    (npy(head(shape=f"({2**32}, {2**31})")), "is too large"),
    (npy(head(shape=f"(0, {2**59}, {2**59})"), b""), "is too large"),
    (npy(head(shape="(" + "1, " * 32 + "1)")), "maximum is 32 dimensions, got 33"),
    (npy(head("'|b1'", shape="(48,)"), b"\x01" * 47 + b"\x02"), "bools must be 0 or 1"),
    (npy(head("'<U1'", shape="(12,)"), b"\xff" * 48), "strings must be valid"),
]


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(("entry", "text"), BAD_ARRAYS)
def test_an_invalid_array_is_refused(tmp_path, entry, text, mmap):
    content = rewritten(saved(rich_toy()), model__centers_=None)
    content = rewritten(content, **{"model/centers_.npy": entry})
    with pytest.raises(ModelFileError, match=text) as error:
        loaded(content, tmp_path, mmap=mmap)
    assert mmap or "model/centers_.npy" in str(error.value)


def rezipped(content: bytes, **options) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", **options) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return buffer.getvalue()


def test_a_file_packed_by_another_tool(tmp_path):
    content = saved(Toy().fit(a_=np.arange(5)))
    again = rezipped(content)
    assert loaded(again, tmp_path).a_.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ModelFileError, match="not aligned: load the file without mmap"):
        loaded(again, tmp_path, mmap=True)
    with pytest.raises(ModelFileError, match="compressed"):
        loaded(rezipped(content, compression=zipfile.ZIP_DEFLATED), tmp_path)


@pytest.mark.parametrize("name", ["../x.npy", "/x.npy", "a\\b.npy", "x.exe", "ü.npy", "a//b.npy"])
def test_entry_names_do_not_escape(tmp_path, name):
    buffer = io.BytesIO(saved(Toy().fit()))
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr(name, b"x")
    with pytest.raises(ModelFileError, match="is not a valid entry name"):
        loaded(buffer.getvalue(), tmp_path)


def test_entries_twice_or_hidden_bytes_are_refused(tmp_path):
    content = saved(Toy().fit(a_=np.arange(5)))
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("model.json", b"{}")
    with pytest.raises(ModelFileError, match="duplicate entry"):
        loaded(buffer.getvalue(), tmp_path)
    for hidden in (b"before" + content, content + b"behind"):
        with pytest.raises(ModelFileError, match=r"entr"):
            loaded(hidden, tmp_path)
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.comment = b"hello"
    with pytest.raises(ModelFileError, match="bytes outside of the entries"):
        loaded(buffer.getvalue(), tmp_path)


def test_a_flipped_bit_in_an_array_is_named(tmp_path):
    content = bytearray(saved(Toy().fit(a_=np.ones(64))))
    position = content.index(np.ones(2).tobytes())
    content[position + 7] ^= 1
    for mmap in (False, True):
        with pytest.raises(ModelFileError, match="wrong checksum: the file is damaged"):
            loaded(bytes(content), tmp_path, mmap=mmap)
