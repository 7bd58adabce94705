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


def test_a_newer_format_says_what_to_do(tmp_path):
    content = rewritten(saved(Toy().fit()), lambda record: record | {"version": 2})
    with pytest.raises(ModelFileError, match=r"newer than the 1 .* install a newer Ceiba"):
        loaded(content, tmp_path)


STATE = ("model", "state")
BAD_TEXTS = [
    (setter("format", "other"), "not a Ceiba model file"),
    (setter("version", 0), "format version 0 is none"),
    (setter("version", True), "format version True is none"),
    (setter("version", "1"), "format version '1' is none"),
    (setter("model", []), "a model needs a class"),
    (setter("model", {"class": "Toy", "parameters": {}, "state": {}}), "nothing in the model uses"),
    (setter("model", "class", "os.system"), "'os.system' is not one that this Ceiba knows"),
    (setter("model", "class", "Child"), "'Child' is not one"),
    (setter("model", "class", ["Toy"]), "is not one that this Ceiba knows"),
    (setter("model", "parameters", []), "no dictionary"),
    (setter("model", "parameters", "size", 0), "size must be an integer of at least 1, not 0"),
    (setter("model", "parameters", "colour", 1), "has no parameter 'colour'"),
    (setter("model", "extra", 1), "a model needs a class"),
    (setter(*STATE, "fit", 1), "no fitted attribute 'fit'"),
    (setter(*STATE, "computed_", 1), "no fitted attribute 'computed_'"),
    (setter(*STATE, "__dict__", 1), "no fitted attribute '__dict__'"),
    (setter(*STATE, "a b_", 1), "no fitted attribute 'a b_'"),
    (setter(*STATE, "index_", 11), "does not fit together: the index passes the limit"),
    (setter(*STATE, "index_", []), "does not fit together"),
    (setter(*STATE, "x_", {}), "does not know"),
    (setter(*STATE, "x_", {"pickle": "gASV"}), "does not know"),
    (setter(*STATE, "x_", {"array": "model/centres_.npy"}), "names the array of another place"),
    (setter(*STATE, "x_", {"array": "model/x_.npy"}), r"model/x_\.npy: it is missing"),
    (setter(*STATE, "x_", {"array": "../../etc/passwd"}), "another place"),
    (setter(*STATE, "x_", {"float": "1e5"}), "it is not a number"),
    (setter(*STATE, "x_", {"tuple": 3}), "not a list"),
    (setter(*STATE, "x_", {"dict": [[1, 2], [1, 3]]}), "twice"),
    (setter(*STATE, "x_", {"dict": [[[1], 2]]}), "not a plain value"),
    (setter(*STATE, "x_", {"dict": [[1, 2, 3]]}), "right length"),
    (setter(*STATE, "x_", {"scalar": ["<f8", 1]}), "not of its type"),
    (setter(*STATE, "x_", {"scalar": ["|O", 1]}), "not one that a model file may hold"),
    (setter(*STATE, "x_", {"scalar": ["|i1", 300]}), "model/x_"),
    (setter(*STATE, "x_", {"scalar": ["<f2", 1e300]}), "does not fit float16"),
    (setter(*STATE, "x_", {"scalar": ["<M8[ns]", 2**70]}), "model/x_"),
    (setter(*STATE, "x_", {"objects": {"shape": [2], "items": [1]}}), "1 values for the shape"),
    (setter(*STATE, "x_", {"objects": {"shape": [-1], "items": []}}), "not a count"),
    (setter(*STATE, "x_", {"objects": {"shape": [0, 2**80], "items": []}}), "0 values"),
    (setter(*STATE, "x_", {"objects": {"shape": [1], "items": [[]]}}), "not plain"),
    (setter(*STATE, "x_", {"objects": {"items": []}}), "without shape"),
    (setter(*STATE, "x_", {"record": ["Popen", {}]}), "'Popen' is not one"),
    (setter(*STATE, "x_", {"record": ["Schema", 3]}), "not a sound Schema"),
    (setter(*STATE, "x_", {"record": ["Trace", {"dict": []}]}), "not a sound Trace"),
    (setter(*STATE, "x_", {"model": {"class": "Toy"}}), "a model needs a class"),
    (setter(*STATE, "centres_", 1), r"model/centres_\.npy: nothing in the model uses it"),
]


@pytest.mark.parametrize(("change", "text"), BAD_TEXTS)
def test_a_text_that_no_ceiba_wrote_is_refused(tmp_path, change, text):
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
    text = '{"format":"ceiba model","version":1,"model":{"class":"Toy","parameters":{},"state":'
    text += '{"a_":' + deep + "}}}"
    content = rewritten(content, **{"model.json": text.encode()})
    with pytest.raises(ModelFileError, match="deeply"):
        loaded(content, tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not sound JSON"),
        (b"{", "not sound JSON"),
        (b"[]", "not a Ceiba model file"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": 1, "a": 2}', "a key is there twice"),
        (b'"\xff"', "not UTF-8"),
        (b"1" * 5000, "not sound JSON"),
        (None, "model.json: it is missing"),
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
    (b"", "does not begin like an npy array"),
    (npy(head(), magic=b"\x93NUMPY\x03\x00"), "does not begin like"),
    (npy(head())[:30], "its head is cut off"),
    (npy(head("'|O'")), r"'\|O' is not one that a model file may hold"),
    (npy(head("[('a', '<f8')]")), "not that of an npy array"),
    (npy(head("'>f8'")), "may hold"),
    (npy(head("'<f16'")), "may hold"),
    (npy(head("'<U0'")), "may hold"),
    (npy(head("'|V8'")), "may hold"),
    (npy(head(order="0")), "not that of"),
    (npy(head(shape="(3, -2)")), "not that of"),
    (npy(head(shape="[3, 2]")), "not that of"),
    (npy(head(shape="(3, True)")), "not that of"),
    (npy("__import__('os').system('true')\n"), "not that of"),
    (npy(head(shape="(3, 3)")), r"the shape \(3, 3\) of float64 needs 72 bytes, it has 48"),
    (npy(head(shape="(3,)")), "needs 24 bytes, it has 48"),
    (npy(head(shape=f"({2**32}, {2**31})")), "larger than any memory"),
    (npy(head(shape=f"(0, {2**59}, {2**59})"), b""), "larger than any memory"),
    (npy(head(shape="(" + "1, " * 32 + "1)")), "33 dimensions"),
    (npy(head("'|b1'", shape="(48,)"), b"\x01" * 47 + b"\x02"), "neither true nor false"),
    (npy(head("'<U1'", shape="(12,)"), b"\xff" * 48), "no characters"),
]


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize(("entry", "text"), BAD_ARRAYS)
def test_an_array_that_no_ceiba_wrote_is_refused(tmp_path, entry, text, mmap):
    content = rewritten(saved(rich_toy()), model__centres_=None)
    content = rewritten(content, **{"model/centres_.npy": entry})
    with pytest.raises(ModelFileError, match=text) as error:
        loaded(content, tmp_path, mmap=mmap)
    assert mmap or "model/centres_.npy" in str(error.value)


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
    with pytest.raises(ModelFileError, match="not aligned; load the file without mmap"):
        loaded(again, tmp_path, mmap=True)
    with pytest.raises(ModelFileError, match="compressed"):
        loaded(rezipped(content, compression=zipfile.ZIP_DEFLATED), tmp_path)


@pytest.mark.parametrize("name", ["../x.npy", "/x.npy", "a\\b.npy", "x.exe", "ü.npy", "a//b.npy"])
def test_entry_names_do_not_escape(tmp_path, name):
    buffer = io.BytesIO(saved(Toy().fit()))
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.writestr(name, b"x")
    with pytest.raises(ModelFileError, match="is not one of a model file"):
        loaded(buffer.getvalue(), tmp_path)


def test_entries_twice_or_hidden_bytes_are_refused(tmp_path):
    content = saved(Toy().fit(a_=np.arange(5)))
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as opened, pytest.warns(UserWarning, match="Duplicate"):
        opened.writestr("model.json", b"{}")
    with pytest.raises(ModelFileError, match="it is there twice"):
        loaded(buffer.getvalue(), tmp_path)
    for hidden in (b"before" + content, content + b"behind"):
        with pytest.raises(ModelFileError, match=r"entry|right behind"):
            loaded(hidden, tmp_path)
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as opened:
        opened.comment = b"hello"
    with pytest.raises(ModelFileError, match="belong to no entry"):
        loaded(buffer.getvalue(), tmp_path)


def test_a_flipped_bit_in_an_array_is_named(tmp_path):
    content = bytearray(saved(Toy().fit(a_=np.ones(64))))
    place = content.index(np.ones(2).tobytes())
    content[place + 7] ^= 1
    for mmap in (False, True):
        with pytest.raises(ModelFileError, match=r"model/a_\.npy: its checksum is wrong"):
            loaded(bytes(content), tmp_path, mmap=mmap)
