from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import ArrayLike

from ceiba.base.parameters import (
    Above,
    AtLeast,
    Between,
    Parameter,
    ParameterError,
    declare,
    declared,
    validate,
)


class Base:
    def __init_subclass__(cls) -> None:
        declare(cls)


class Learner(Base):
    """Learns.

    {parameters}

    Attributes
    ----------
    state_ : array
    """

    def __init__(
        self,
        n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = 8,
        *,
        init: Annotated[
            Literal["k-means++", "random"] | ArrayLike | Callable[..., Any],
            "How to start.",
        ] = "k-means++",
        n_init: Annotated[Literal["auto"] | int, AtLeast(1), "Number of starts."] = "auto",
        tol: Annotated[float, AtLeast(0.0), "Tolerance."] = 1e-4,
        rate: Annotated[float, Above(0), "Rate."] = 0.1,
        share: Annotated[
            Annotated[int, AtLeast(2)] | Annotated[float, Between(0, 1, closed="right")],
            "Share or number.",
        ] = 1.0,
        quantile: Annotated[float, Between(0, 1), "Quantile."] = 0.5,
        title: Annotated[str, "Title."] = "",
        trace: Annotated[bool, "Whether to keep the steps."] = False,
        class_weight: Annotated[dict[Any, float] | Literal["balanced"] | None, "Weights."] = None,
        random_state: Annotated[int | RandomState | None, AtLeast(0), "Seed."] = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.rate = rate
        self.share = share
        self.quantile = quantile
        self.title = title
        self.trace = trace
        self.class_weight = class_weight
        self.random_state = random_state


GOOD = [
    ("n_clusters", 1),
    ("n_clusters", np.int8(3)),
    ("init", "random"),
    ("init", np.str_("random")),
    ("init", np.zeros((2, 2))),
    ("init", [[1.0]]),
    ("init", max),
    ("n_init", "auto"),
    ("n_init", 3),
    ("tol", 0),
    ("tol", np.float32(1)),
    ("tol", np.inf),
    ("rate", 5e-324),
    ("share", 2),
    ("share", 1.0),
    ("share", 0.25),
    ("quantile", 0),
    ("quantile", 1),
    ("title", "x"),
    ("trace", True),
    ("trace", np.False_),
    ("class_weight", {"a": 1.0}),
    ("class_weight", "balanced"),
    ("class_weight", None),
    ("random_state", None),
    ("random_state", RandomState(1)),
    ("random_state", np.int64(7)),
]

BAD = [
    ("n_clusters", 0, "an integer of at least 1, not 0"),
    ("n_clusters", 2.0, "an integer of at least 1, not 2.0"),
    ("n_clusters", True, "an integer of at least 1, not True"),
    ("n_clusters", np.True_, "an integer of at least 1, not True"),
    ("n_clusters", "8", "an integer of at least 1, not '8'"),
    ("n_clusters", None, "an integer of at least 1, not None"),
    ("n_clusters", np.array(3), "an integer of at least 1, not an array of shape ()"),
    ("init", "kmeans", "'k-means++' or 'random', an array or a function, not 'kmeans'"),
    ("init", 3, "'k-means++' or 'random', an array or a function, not 3"),
    ("init", np.float64(3), "'k-means++' or 'random', an array or a function, not 3.0"),
    ("n_init", 0, "'auto' or an integer of at least 1, not 0"),
    ("tol", -1e-9, "a number of at least 0, not -1e-09"),
    ("tol", float("nan"), "a number of at least 0, not nan"),
    ("tol", np.float32("nan"), "a number of at least 0, not nan"),
    ("tol", "1", "a number of at least 0, not '1'"),
    ("tol", 1j, "a number of at least 0, not 1j"),
    ("tol", False, "a number of at least 0, not False"),
    ("rate", 0.0, "a number above 0, not 0.0"),
    ("share", 1, "an integer of at least 2 or a number in (0, 1], not 1"),
    ("share", 0.0, "an integer of at least 2 or a number in (0, 1], not 0.0"),
    ("share", 1.5, "an integer of at least 2 or a number in (0, 1], not 1.5"),
    ("quantile", 1.0000001, "a number between 0 and 1, not 1.0000001"),
    ("title", 1, "a string, not 1"),
    ("trace", 1, "True or False, not 1"),
    ("trace", None, "True or False, not None"),
    ("class_weight", "other", "a dict, 'balanced' or None, not 'other'"),
    ("random_state", -1, "an integer of at least 0, a RandomState or None, not -1"),
    ("random_state", 1.5, "an integer of at least 0, a RandomState or None, not 1.5"),
]


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_allowed_values_pass(name, value):
    validate(Learner(**{name: value}))


@pytest.mark.parametrize(("name", "value", "text"), BAD)
def test_refused_values_are_told_in_a_sentence(name, value, text):
    with pytest.raises(ParameterError) as error:
        validate(Learner(**{name: value}))
    assert str(error.value) == f"Learner: {name} must be {text}."


def test_the_error_is_a_value_error_and_a_type_error():
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ParameterError, TypeError)


def test_a_long_value_is_shortened():
    with pytest.raises(ParameterError) as error:
        validate(Learner(init="x" * 10_000))
    assert len(str(error.value)) < 250


def test_a_bool_is_not_the_choice_1():
    class Numbered(Base):
        def __init__(self, norm: Annotated[Literal[1, 2, "max"], "Norm."] = 2) -> None:
            self.norm = norm

    validate(Numbered(norm=1))
    validate(Numbered(norm="max"))
    for bad in (True, 3, 1.0, np.ones(2)):
        with pytest.raises(ParameterError, match="norm must be 1, 2 or 'max'"):
            validate(Numbered(norm=bad))


@given(st.floats(allow_nan=True), st.sampled_from(["both", "left", "right", "neither"]))
def test_between_agrees_with_its_definition(value, closed):
    inside = Between(-1.5, 2.25, closed=closed).tester()
    low = value >= -1.5 if closed in ("both", "left") else value > -1.5
    high = value <= 2.25 if closed in ("both", "right") else value < 2.25
    assert inside(value) == (low and high)


def test_between_needs_its_ends_in_order():
    with pytest.raises(ValueError, match="smaller"):
        Between(1, 0)


def test_the_list_says_what_a_form_needs():
    entries = {entry.name: entry for entry in declared(Learner)}
    assert list(entries)[:3] == ["n_clusters", "init", "n_init"]
    first = entries["n_clusters"]
    assert (first.type, first.default, first.meaning) == ("int", 8, "Number of clusters.")
    assert (first.range.low, first.range.high, first.range.low_open) == (1, np.inf, False)
    assert entries["init"].choices == ("k-means++", "random")
    assert [a.kind for a in entries["init"].alternatives] == ["choice", "array", "callable"]
    assert [a.kind for a in entries["random_state"].alternatives] == ["int", "random_state", "none"]
    assert entries["class_weight"].alternatives[0].cls is dict
    assert entries["title"].range is None
    assert not first.required


def test_a_parameter_may_be_required():
    class Wrapper(Base):
        """Wraps.

        {parameters}
        """

        def __init__(self, estimator: Annotated[Learner, "What to wrap."]) -> None:
            self.estimator = estimator

    (entry,) = declared(Wrapper)
    assert entry.required
    assert entry.default is Parameter.REQUIRED
    assert "estimator : Learner\n" in Wrapper.__doc__
    validate(Wrapper(Learner()))
    with pytest.raises(ParameterError, match="estimator must be a Learner, not 3"):
        validate(Wrapper(3))


def test_the_docstring_is_completed():
    text = Learner.__doc__
    assert "{parameters}" not in text
    for part in (
        "    Parameters\n    ----------\n    n_clusters : int, default=8\n",
        "        Number of clusters. At least 1.\n",
        "    init : {'k-means++', 'random'}, array-like or callable, default='k-means++'\n",
        "    n_init : {'auto'} or int, default='auto'\n",
        "        Tolerance. At least 0.\n",
        "        Rate. Above 0.\n",
        "        Share or number. An integer of at least 2; a number in (0, 1].\n",
        "        Quantile. Between 0 and 1.\n",
        "    class_weight : dict, {'balanced'} or None, default=None\n",
        "    random_state : int, RandomState instance or None, default=0\n",
        "        Seed. At least 0.\n\n    Attributes\n",
    ):
        assert part in text


def test_a_long_meaning_is_wrapped():
    class Talkative(Base):
        """{parameters}"""

        def __init__(self, x: Annotated[int, "Many words. " * 30] = 1) -> None:
            self.x = x

    assert max(len(line) for line in Talkative.__doc__.splitlines()) <= 92
    assert Talkative.__doc__.count("Many") == 30


def test_a_subclass_may_repeat_a_parameter_without_its_declaration():
    class Fewer(Learner):
        def __init__(self, n_clusters=3):
            super().__init__(n_clusters)

    (entry,) = declared(Fewer)
    assert (entry.default, entry.meaning) == (3, "Number of clusters.")
    with pytest.raises(ParameterError, match="Fewer: n_clusters"):
        validate(Fewer(0))


def test_a_class_without_parameters_is_fine():
    class Empty(Base):
        pass

    assert declared(Empty) == []
    validate(Empty())


def _define(annotation: Any, default: Any = 1) -> type:
    def start(self, x=default):
        self.x = x

    start.__annotations__["x"] = annotation
    return type("Made", (Base,), {"__init__": start})


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Annotated[Any, "Meaning."], r"Made.__init__: x: typing.Any is not a type"),
        (Annotated[object, "Meaning."], "is not a type that"),
        (Annotated[int, AtLeast(1)], "x needs one meaning"),
        (Annotated[int, "One.", "Two."], "x needs one meaning"),
        (int, "x needs one meaning"),
        (Annotated[str, AtLeast(1), "Meaning."], "has a range but takes no number"),
        (Annotated[int, AtLeast(1), Above(0), "Meaning."], "two ranges"),
        (Annotated[int, 5, "Meaning."], "mark 5 is neither"),
        (Annotated[int, AtLeast(2), "Meaning."], "default is not allowed: Made: x must be"),
        ("Annotated[Nowhere, 'Meaning.']", "Nowhere.*imported at run time"),
    ],
)
def test_a_bad_declaration_shows_at_the_definition(annotation, text):
    with pytest.raises(TypeError, match=text):
        _define(annotation)


def test_an_undeclared_parameter_shows_at_the_definition():
    with pytest.raises(TypeError, match="x is not declared"):

        class Bare(Base):
            def __init__(self, x=1):
                self.x = x


def test_positional_catch_all_is_refused():
    with pytest.raises(TypeError, match=r"\*args is not allowed"):

        class Catch(Base):
            def __init__(self, *args: int) -> None:
                pass
