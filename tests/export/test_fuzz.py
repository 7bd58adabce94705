from __future__ import annotations

import contextlib
import copy

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ceiba.export import ModelFileError, save
from tests.budget import examples
from tests.export.toy_model import PLAIN, Toy, loaded, rewritten, rich_toy, saved, setter

pytestmark = pytest.mark.usefixtures("toys")


def outcome(content: bytes, tmp_path, mmap: bool) -> None:
    """A mutated file is refused or gives an equal model; anything else fails the test."""
    try:
        model = loaded(content, tmp_path, mmap=mmap)
    except ModelFileError:
        return
    assert saved(model) == saved(rich_toy())


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_files_are_refused_or_equal(tmp_path, data):
    content = bytearray(saved(rich_toy()))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] ^= data.draw(st.integers(1, 255))
    outcome(bytes(content), tmp_path, data.draw(st.booleans()))


@examples(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_truncated_and_spliced_files_are_refused(tmp_path, data):
    content = saved(rich_toy())
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
    for mutant in (content[:first], content[last:], content[:first] + content[last:]):
        outcome(mutant, tmp_path, False)


JSON = st.recursive(
    st.one_of(
        PLAIN.filter(lambda v: not isinstance(v, float)),
        st.sampled_from(["Toy", "Schema", "Trace", "<f8", "|O", "nan", "model/centers_.npy"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["array", "tuple", "dict", "objects", "scalar", "record", "model", "float",
                 "class", "parameters", "state", "shape", "items"]
            ),
            inner, max_size=3,
        ),
    ),
    max_leaves=6,
)  # fmt: skip


def spots(record, path=()):
    """Yield every path of a JSON value."""
    yield path
    if isinstance(record, dict | list):
        items = record.items() if isinstance(record, dict) else enumerate(record)
        for key, value in items:
            yield from spots(value, (*path, key))


@examples(200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_made_up_texts_give_a_model_or_the_one_error(tmp_path, data):
    content = saved(rich_toy())

    def change(record):
        record = copy.deepcopy(record)
        path = data.draw(st.sampled_from(list(spots(record))[1:]))
        setter(*path, data.draw(JSON))(record)
        return record

    mutant = rewritten(content, change)
    with contextlib.suppress(ModelFileError):
        model = loaded(mutant, tmp_path)
        assert type(model) is Toy
        save(model, tmp_path / "again")
