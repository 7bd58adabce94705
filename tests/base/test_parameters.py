from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import ArrayLike

from ceiba.base import (
    Above,
    AtLeast,
    Between,
    Parameter,
    ParameterError,
    Parameters,
    check_unused,
    declared,
    fitted,
    parameter,
    validate,
)


class Learner(Parameters):
    """Learner of the tests.

    {parameters}

    Attributes
    ----------
    state_ : array
    """

    n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = parameter(8, kw_only=False)
    init: Annotated[
        Literal["k-means++", "random"] | ArrayLike | Callable[..., Any], "Initialization."
    ] = "k-means++"
    n_init: Annotated[Literal["auto"] | int, AtLeast(1), "Number of runs."] = "auto"
    tol: Annotated[float, AtLeast(0.0), "Tolerance."] = 1e-4
    rate: Annotated[float, Above(0), "Rate."] = 0.1
    size: Annotated[
        Annotated[int, AtLeast(2)] | Annotated[float, Between(0, 1, closed="right")],
        "Fraction or number.",
    ] = 1.0
    quantile: Annotated[float, Between(0, 1), "Quantile."] = 0.5
    title: Annotated[str, "Title."] = ""
    trace: Annotated[bool, "Whether to record a trace."] = False
    class_weight: Annotated[dict[Any, float] | Literal["balanced"] | None, "Weights."] = None
    random_state: Annotated[int | RandomState | None, AtLeast(0), "Seed."] = 0
    state_: int = fitted()
    kind: ClassVar[str] = "learner"


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
    ("size", 2),
    ("size", 1.0),
    ("size", 0.25),
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
    ("n_clusters", 0, "an int >= 1, got 0"),
    ("n_clusters", 2.0, "an int >= 1, got 2.0"),
    ("n_clusters", True, "an int >= 1, got True"),
    ("n_clusters", np.True_, "an int >= 1, got True"),
    ("n_clusters", "8", "an int >= 1, got '8'"),
    ("n_clusters", None, "an int >= 1, got None"),
    ("n_clusters", np.array(3), "an int >= 1, got an array of int64 and shape ()"),
    ("init", "kmeans", "'k-means++' or 'random', an array-like or a callable, got 'kmeans'"),
    ("init", 3, "'k-means++' or 'random', an array-like or a callable, got 3"),
    ("init", np.float64(3), "'k-means++' or 'random', an array-like or a callable, got 3.0"),
    ("n_init", 0, "'auto' or an int >= 1, got 0"),
    ("tol", -1e-9, "a float >= 0, got -1e-09"),
    ("tol", float("nan"), "a float >= 0, got nan"),
    ("tol", np.float32("nan"), "a float >= 0, got nan"),
    ("tol", "1", "a float >= 0, got '1'"),
    ("tol", 1j, "a float >= 0, got 1j"),
    ("tol", False, "a float >= 0, got False"),
    ("rate", 0.0, "a float > 0, got 0.0"),
    ("size", 1, "an int >= 2 or a float in (0, 1], got 1"),
    ("size", 0.0, "an int >= 2 or a float in (0, 1], got 0.0"),
    ("size", 1.5, "an int >= 2 or a float in (0, 1], got 1.5"),
    ("quantile", 1.0000001, "a float in [0, 1], got 1.0000001"),
    ("title", 1, "a str, got 1"),
    ("trace", 1, "a bool, got 1"),
    ("trace", None, "a bool, got None"),
    ("class_weight", "other", "a dict instance, 'balanced' or None, got 'other'"),
    ("random_state", -1, "an int >= 0, a RandomState instance or None, got -1"),
    ("random_state", 1.5, "an int >= 0, a RandomState instance or None, got 1.5"),
]


@pytest.mark.parametrize(("name", "value"), GOOD)
def test_allowed_values_pass(name, value):
    validate(Learner(**{name: value}))


@pytest.mark.parametrize(("name", "value", "text"), BAD)
def test_error_names_parameter_rule_and_value(name, value, text):
    with pytest.raises(ParameterError) as error:
        validate(Learner(**{name: value}))
    assert str(error.value) == f"The {name!r} parameter of Learner must be {text}."


def test_the_error_is_a_value_error_and_a_type_error():
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ParameterError, TypeError)


def test_a_long_value_is_shortened():
    with pytest.raises(ParameterError) as error:
        validate(Learner(init="x" * 10_000))
    assert len(str(error.value)) < 250


def test_a_bool_is_not_the_choice_1():
    class Numbered(Parameters):
        norm: Annotated[Literal[1, 2, "max"], "Norm."] = 2

    validate(Numbered(norm=1))
    validate(Numbered(norm="max"))
    for bad in (True, 3, 1.0, np.ones(2)):
        with pytest.raises(ParameterError, match="must be 1, 2 or 'max'"):
            validate(Numbered(norm=bad))


@given(st.floats(allow_nan=True), st.sampled_from(["both", "left", "right", "neither"]))
def test_between_agrees_with_its_definition(value, closed):
    inside = Between(-1.5, 2.25, closed=closed).tester()
    low = value >= -1.5 if closed in ("both", "left") else value > -1.5
    high = value <= 2.25 if closed in ("both", "right") else value < 2.25
    assert inside(value) == (low and high)


def test_between_needs_its_ends_in_order():
    with pytest.raises(ValueError, match="low must be smaller"):
        Between(1, 0)


def test_declared_parameters_have_what_forms_need():
    entries = {entry.name: entry for entry in declared(Learner)}
    assert list(entries)[:3] == ["n_clusters", "init", "n_init"]
    first = entries["n_clusters"]
    assert (first.type, first.default, first.meaning) == ("int", 8, "Number of clusters.")
    assert (first.range.low, first.range.high, first.range.low_open) == (1, np.inf, False)
    assert entries["init"].choices == ("k-means++", "random")
    assert [a.kind for a in entries["init"].options] == ["choice", "array", "callable"]
    assert [a.kind for a in entries["random_state"].options] == ["int", "random_state", "none"]
    assert entries["class_weight"].options[0].cls is dict
    assert entries["title"].range is None
    assert not first.required


def test_a_parameter_may_be_required():
    class Wrapper(Parameters):
        """Wrapper.

        {parameters}
        """

        estimator: Annotated[Learner, "Estimator to wrap."] = parameter(kw_only=False)

    (entry,) = declared(Wrapper)
    assert entry.required
    assert entry.default is Parameter.REQUIRED
    assert "estimator : Learner\n" in Wrapper.__doc__
    validate(Wrapper(Learner()))
    with pytest.raises(ParameterError, match="must be a Learner instance, got 3"):
        validate(Wrapper(3))


def test_the_docstring_is_completed():
    text = Learner.__doc__
    assert "{parameters}" not in text
    for part in (
        "    Parameters\n    ----------\n    n_clusters : int, default=8\n",
        "        Number of clusters. Must be >= 1.\n",
        "    init : {'k-means++', 'random'}, array-like or callable, default='k-means++'\n",
        "    n_init : {'auto'} or int, default='auto'\n",
        "        Tolerance. Must be >= 0.\n",
        "        Rate. Must be > 0.\n",
        "        Fraction or number. Must be an int >= 2 or a float in (0, 1].\n",
        "        Quantile. Must be in [0, 1].\n",
        "    class_weight : dict, {'balanced'} or None, default=None\n",
        "    random_state : int, RandomState instance or None, default=0\n",
        "        Seed. Must be >= 0.\n\n    Attributes\n",
    ):
        assert part in text


def test_a_long_meaning_is_wrapped():
    class Wordy(Parameters):
        """{parameters}"""

        x: Annotated[int, "Many words. " * 30] = 1

    assert max(len(line) for line in Wordy.__doc__.splitlines()) <= 92
    assert Wordy.__doc__.count("Many") == 30


def test_a_subclass_may_repeat_a_parameter_without_its_declaration():
    class Fewer(Learner):
        def __init__(self, n_clusters=3):
            super().__init__(n_clusters)

    (entry,) = declared(Fewer)
    assert (entry.default, entry.meaning) == (3, "Number of clusters.")
    with pytest.raises(ParameterError, match="'n_clusters' parameter of Fewer"):
        validate(Fewer(0))


def test_a_subclass_may_override_a_default_and_inherits_the_rest():
    class Small(Learner):
        n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = parameter(2, kw_only=False)
        depth: Annotated[int, AtLeast(1), "Depth."] = 1

    assert [entry.name for entry in declared(Small)][:2] == ["n_clusters", "init"]
    small = Small(3, depth=4)
    assert (Small().n_clusters, small.n_clusters, small.depth, small.tol) == (2, 3, 4, 1e-4)


def test_the_signature_is_a_true_one():
    signature = inspect.signature(Learner)
    assert list(signature.parameters)[:2] == ["n_clusters", "init"]
    assert signature.parameters["n_clusters"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert signature.parameters["init"].kind is inspect.Parameter.KEYWORD_ONLY
    assert signature.parameters["init"].default == "k-means++"
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        Learner(n_cluster=3)
    with pytest.raises(TypeError, match="positional"):
        Learner(3, "random")


def test_defaults_and_fitted_attributes_are_not_class_attributes():
    assert not hasattr(Learner, "tol")
    assert not hasattr(Learner(), "state_")
    assert Learner.kind == "learner"


def test_an_option_without_effect_is_refused():
    check_unused(Learner(), ["tol", "class_weight"], "init='random'")
    with pytest.raises(
        ParameterError, match=r"'tol' has no effect with init='random': .* default 0.0001, got 0.5"
    ):
        check_unused(Learner(tol=0.5), ["tol"], "init='random'")


def test_a_class_without_parameters_is_fine():
    class Empty(Parameters):
        pass

    assert declared(Empty) == []
    validate(Empty())


def _define(annotation: Any) -> type:
    return type("Made", (Parameters,), {"__annotations__": {"x": annotation}, "x": 1})


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Annotated[Any, "Meaning."], r"Made.x: typing.Any is not a type"),
        (Annotated[object, "Meaning."], "is not a type that"),
        (Annotated[int, AtLeast(1)], "x needs one description"),
        (Annotated[int, "One.", "Two."], "x needs one description"),
        (int, "x needs one description"),
        (Annotated[str, AtLeast(1), "Meaning."], "has a range but accepts no number"),
        (Annotated[int, AtLeast(1), Above(0), "Meaning."], "two ranges"),
        (Annotated[int, 5, "Meaning."], "5 is neither a range"),
        (Annotated[int, AtLeast(2), "Meaning."], "default is not allowed: The 'x' parameter"),
        ("Annotated[Nowhere, 'Meaning.']", "Nowhere.*Import .* at run time"),
    ],
)
def test_a_bad_declaration_raises_at_the_definition(annotation, text):
    with pytest.raises(TypeError, match=text):
        _define(annotation)


def test_an_undeclared_parameter_raises_at_the_definition():
    with pytest.raises(TypeError, match="x is not declared"):

        class Bare(Parameters):
            def __init__(self, x=1):
                self.x = x


def test_positional_catch_all_is_refused():
    with pytest.raises(TypeError, match=r"\*args is not allowed"):

        class Catch(Parameters):
            def __init__(self, *args: int) -> None:
                pass
