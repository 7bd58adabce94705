"""The naive trees of all presets agree with textbooks and with hand calculations."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from tests.budget import examples
from tests.oracles.preset_candidates import candidates
from tests.oracles.preset_choice import SplitChooser
from tests.oracles.preset_intervals import given_intervals, mdl_intervals, mdl_margin
from tests.oracles.preset_naive import Node, PresetProblem, Split, ends, grow, leaf_of, predicted
from tests.oracles.preset_naive_model import NaiveModel
from tests.oracles.preset_options import C45, CART, HUNT, ID3
from tests.oracles.preset_sums import cheapest, cost_weighted, gain, impurity, split_info
from tests.oracles.preset_surrogates import surrogates
from tests.oracles.preset_tables import preset_tables
from tests.oracles.preset_textbook import GOLF, MAMMALS, WEATHER, lenses, outline, textbook
from tests.oracles.preset_thresholds import method_thresholds, thresholds_of
from tests.oracles.preset_walk import assert_preset_tree
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target

WEATHER_TREE = {
    "outlook": {
        "overcast": "yes",
        "rain": {"windy": {"false": "yes", "true": "no"}},
        "sunny": {"humidity": {"high": "no", "normal": "yes"}},
    }
}
LENSES_TREE = {
    "tear_rate": {
        "normal": {
            "astigmatism": {
                "no": {
                    "age": {
                        "middle": "soft",
                        "old": {"prescription": {"far": "soft", "near": "none"}},
                        "young": "soft",
                    }
                },
                "yes": {
                    "prescription": {
                        "far": {"age": {"middle": "none", "old": "none", "young": "hard"}},
                        "near": "hard",
                    }
                },
            }
        },
        "reduced": "none",
    }
}
GOLF_TREE = {
    "outlook": {
        "overcast": "play",
        "rain": {"windy": {"false": "play", "true": "don't"}},
        "sunny": {"humidity": {"<= 75": "play", "> 75": "don't"}},
    }
}


def numbers(*values):
    return Column("float", [None if v is None else float(v) for v in values])


def categories(text, kind="nominal"):
    labels = tuple(sorted(set(text) - {"?"}))
    return Column(kind, [None if c == "?" else labels.index(c) for c in text], labels)


def classes(text, weights=None):
    values = [int(c) for c in text]
    return Target(values, weights or [1] * len(values), max(values) + 1)


def root_scores(book, options):
    """Return the scored candidate of each column in the root."""
    problem = book.problem(options)
    chooser = SplitChooser(problem, Node(problem.rows))
    found = candidates(problem, chooser.node, chooser.is_large)
    return [chooser.scored(c) for column in found.values() for c in column]


# Quinlan's weather, with ID3 and with C4.5


def test_weather_gains_and_ratios():
    book = textbook(WEATHER)
    gains = [s.gain for s in root_scores(book, ID3)]
    assert gains == pytest.approx([0.247, 0.029, 0.152, 0.048], abs=5e-4)
    ratios = [s.score for s in root_scores(book, replace(ID3, criterion="gain_ratio"))]
    assert ratios == pytest.approx([0.156, 0.019, 0.152, 0.049], abs=5e-4)


def test_weather_tree_of_id3():
    book = textbook(WEATHER)
    problem = book.problem(ID3)
    assert outline(book, problem, grow(problem)) == WEATHER_TREE


def test_contact_lenses_tree_of_id3():
    book = textbook(lenses())
    problem = book.problem(ID3)
    assert outline(book, problem, grow(problem)) == LENSES_TREE


def test_gain_with_a_missing_value_as_in_quinlan():
    """Quinlan (1993), section 3.3: 0.961, 0.747, 0.199, 1.809, 0.110."""
    book = textbook(GOLF)
    problem = book.problem(C45)
    root = Node(problem.rows)
    outlook = candidates(problem, root, lambda rows: True)[0][0]
    known = [i for branch in outlook.known for i in branch]
    assert impurity("entropy", problem.target, known) == pytest.approx(0.961, abs=5e-4)
    found = gain("entropy", problem.target, problem.rows, outlook.branches)
    assert 0.961 - float(found) * 14 / 13 == pytest.approx(0.747, abs=1e-3)
    assert float(found) == pytest.approx(0.199, abs=5e-4)
    info = split_info(problem.target, problem.rows, outlook.branches)
    assert info == pytest.approx(1.809, abs=5e-4)
    assert float(found) / info == pytest.approx(0.110, abs=5e-4)


def test_golf_tree_and_prediction_with_missing_humidity():
    """Its leaves have 2.0, 3.4, 3.2, 2.4 and 3.0 rows; 44% play if humidity is missing."""
    book = textbook(GOLF)
    problem = book.problem(C45)
    nodes = grow(problem)
    assert outline(book, problem, nodes) == GOLF_TREE
    leaves = [n for n in nodes if n.split is None]
    weights = [float(sum(problem.given(n).weights[i] for i in n.rows)) for n in leaves]
    assert weights == pytest.approx([3.2308, 3.0, 2.3846, 2.0, 3.3846], abs=1e-4)
    row = book.row(outlook="sunny", temperature=70.0, windy="false")
    play = predicted(problem, nodes, row)[book.classes.index("play")]
    assert float(play) == pytest.approx(0.44, abs=5e-3)
    assert sorted(map(float, ends(problem, nodes, row).values())) == pytest.approx(
        [2 / (5 + 5 / 13), (3 + 5 / 13) / (5 + 5 / 13)]
    )
    # `leaf_of` follows the heavier branch.
    assert nodes[leaf_of(nodes, problem, row)].rows == [1, 2, 3, 5]


# Hunt on the mammals


def test_mammals_tree_of_hunt():
    book = textbook(MAMMALS)
    problem = book.problem(HUNT)
    assert outline(book, problem, grow(problem)) == {
        "body_temperature": {
            "cold": "no",
            "warm": {"gives_birth": {"no": "no", "yes": "yes"}},
        }
    }


def test_hunt_splits_without_gain_and_stops_at_equal_rows():
    xor = PresetProblem([categories("aabbb"), categories("ababb")], classes("01101"), HUNT)
    nodes = grow(xor)
    assert [n.reason for n in nodes].count("split") == 3
    assert nodes[-1].reason == "no_split"
    assert nodes[-1].rows == [3, 4]


def test_id3_tests_a_nominal_column_once_and_empty_branches_predict_as_their_parent():
    columns = [categories("aabbbc"), numbers(1, 2, 3, 4, 5, 6)]
    target = classes("001011")
    problem = PresetProblem(columns, target, ID3)
    nodes = grow(problem)
    tested = [n.split.test.column for n in nodes if n.split]
    assert tested.count(0) <= 1
    first = PresetProblem(columns, target, replace(HUNT, feature_reuse="none"))
    for node in grow(first):
        assert not node.split or node.split.test.column not in node.used
    ternary = PresetProblem([categories("aabbc"), categories("xyxyx")], classes("01101"), HUNT)
    empty = [n for n in grow(ternary) if n.reason == "empty"]
    assert not empty
    missing = Column("nominal", [0, 0, 1, 1], ("a", "b", "c"))
    problem = PresetProblem([missing], classes("0011"), HUNT)
    nodes = grow(problem)
    assert [n.reason for n in nodes] == ["split", "pure", "pure", "empty"]
    assert predicted(problem, nodes, [2]) == [Fraction(1, 2), Fraction(1, 2)]


# Thresholds


def test_threshold_methods_by_hand():
    column = numbers(0, 1, 2, 3, 10)
    target, rows = classes("00000"), range(5)
    thresholds = lambda rule, n=1, target=target: method_thresholds(rule, column, target, rows, n)  # noqa: E731
    assert thresholds("mean") == [Fraction(16, 5)]
    assert thresholds("median") == [2]
    assert thresholds("equal_width", 4) == [2, 4, 6, 8]
    # A third of the weight is reached at 1, two thirds at 3.
    assert thresholds("quantile", 2) == [1.5, 6.5]
    heavy = replace(target, weights=[1, 1, 1, 1, 4])
    assert thresholds("mean", target=heavy) == [Fraction(46, 8)]
    assert thresholds("median", target=heavy) == [Fraction(13, 2)]
    heavier = replace(target, weights=[1, 1, 1, 1, 5])
    assert thresholds("median", target=heavier) == [3]  # no value lies above 10


def test_node_tries_root_thresholds_that_separate_its_rows():
    column, target = numbers(0, 1, 2, 3, 10), classes("00000")
    root = target, range(5)
    options = replace(CART, thresholds="equal_width", n_thresholds=4, threshold_scope="root")
    assert thresholds_of(column, target, [0, 3, 4], options, root) == [2, 4]
    assert thresholds_of(column, target, [0, 1], options, root) == []
    assert thresholds_of(
        column, target, [0, 1], replace(options, threshold_scope="node"), root
    ) == [0.2]
    value = replace(CART, thresholds="value")
    assert thresholds_of(column, target, [0, 4], value, root) == [3]


# Intervals


def test_description_length_accepts_a_clean_threshold_and_rejects_noise():
    target = classes("00001111")
    column, rows = numbers(*range(8)), list(range(8))
    # Gain 1 bit; cost (log2 7 + log2 7 - 2) / 8 = 0.452.
    margin = mdl_margin(target, rows, [rows[:4], rows[4:]])
    assert margin == pytest.approx(1 - (2 * math.log2(7) - 2) / 8)
    assert mdl_intervals(column, target, rows, lambda side: True) == [[3.5]]
    assert mdl_intervals(column, classes("01010101"), rows, lambda side: True) == [[]]
    three = classes("000000111111222222")
    found = mdl_intervals(numbers(*range(18)), three, list(range(18)), lambda side: True)
    assert found == [[5.5, 11.5]]


def test_given_number_of_intervals_is_found_best_first():
    target = Target([0, 0, 5, 5, 1, 1], [1] * 6)
    rows, column = list(range(6)), numbers(*range(6))
    first = given_intervals(column, "squared_error", target, rows, 2, lambda side: True)
    assert first == [[1.5]]  # lowers the sum by 12 of 28; between 5 and 1 it would be 6.75
    found = given_intervals(column, "squared_error", target, rows, 3, lambda side: True)
    assert found == [[1.5, 3.5]]
    more = given_intervals(column, "squared_error", target, rows, 9, lambda side: len(side) > 1)
    assert more == [[1.5, 3.5]]


# Average gain and corrections of C4.5


def test_mdl_correction_lowers_the_gain_of_a_threshold():
    column = numbers(*range(8))
    options = replace(CART, criterion="entropy", mdl_correction=True)
    problem = PresetProblem([column], classes("00001111"), options)
    chooser = SplitChooser(problem, Node(problem.rows))
    best = chooser.decision().best[0]
    assert best.raw == 1
    assert best.gain == pytest.approx(1 - math.log2(7) / 8)
    noise = PresetProblem([column], classes("01010101"), options)
    assert SplitChooser(noise, Node(noise.rows)).decision().reason == "no_gain"


def test_above_average_gain_excludes_a_small_branch_with_a_large_ratio():
    """Splitting off one row gains less than the mean of 0.252 and 0.197, with a larger ratio."""
    columns = [categories("ppqqpppqp"), categories("yxyyyyyyy")]
    options = replace(CART, criterion="gain_ratio", splits="multiway")
    problem = PresetProblem(columns, classes("110010000"), options)
    chooser = SplitChooser(problem, Node(problem.rows))
    found = candidates(problem, chooser.node, chooser.is_large)
    scores = [chooser.scored(column[0]) for column in found.values()]
    assert [s.gain for s in scores] == pytest.approx([0.252, 0.197], abs=5e-4)
    assert [s.score for s in scores] == pytest.approx([0.274, 0.392], abs=5e-4)
    assert chooser.decision().best[0].candidate.column == 1
    guarded = replace(problem, options=replace(options, above_average_gain=True))
    assert SplitChooser(guarded, chooser.node).decision().best[0].candidate.column == 0


def test_min_split_fraction_applies_to_both_sides():
    options = replace(CART, min_split_fraction=0.5)
    problem = PresetProblem([numbers(*range(8))], classes("01111111"), options)
    # A half of 8 by two classes: 2 rows on either side.
    best = SplitChooser(problem, Node(problem.rows)).decision().best[0]
    assert best.candidate.test.thresholds == (1.5,)


def test_min_leaf_branches_all_or_two():
    column = categories("aaabbbc")
    options = replace(HUNT, min_samples_leaf=2)
    problem = PresetProblem([column], classes("0001110"), options)
    assert grow(problem)[0].reason == "min_samples_leaf"
    assert (
        grow(replace(problem, options=replace(options, min_leaf_branches="two")))[0].reason
        == "split"
    )


# Surrogates, costs, counts


def test_surrogates_are_ranked_by_agreement():
    columns = [
        numbers(1, 2, 3, 4, 5, None, None),
        numbers(1, 2, 3, 4, 0, 9, None),  # right in 4 of 5
        categories("aabbb?a"),  # right in all of 5
        numbers(1, 1, 1, 1, 1, 1, 1),
    ]
    options = replace(CART, missing="surrogate")
    problem = PresetProblem(columns, classes("0011101"), options)
    node = Node(problem.rows)
    best = SplitChooser(problem, node).decision().best[0].candidate
    assert best.test.thresholds == (2.5,)
    found = surrogates(problem, node, best)
    assert [s.column for s in found] == [2, 1]
    assert [s.agree for s in found] == [1, Fraction(4, 5)]
    assert [s.adj for s in found] == [1, Fraction(1, 2)]
    nodes = grow(problem)
    # Row 5 lacks the category too and follows the number; row 6 follows its category.
    assert nodes[1].rows == [0, 1, 6]
    assert nodes[2].rows == [2, 3, 4, 5]
    assert leaf_of(nodes, problem, [None] * 4) in (2, *nodes[2].children)


def test_costs_weight_classes_and_choose_the_cheaper_class():
    target = classes("0001")
    costs = ((0, 1), (5, 0))
    found = cost_weighted(target, costs)
    assert sum(found.weights) == 4
    assert found.weights[3] == 5 * found.weights[0] == Fraction(5, 2)
    assert cheapest([Fraction(3, 4), Fraction(1, 4)], costs) == 1
    assert cheapest([Fraction(3, 4), Fraction(1, 4)], None) == 0
    # Ties go to the first.
    assert cheapest([Fraction(5, 6), Fraction(1, 6)], costs) == 0


def test_poisson_is_half_the_mean_deviance():
    target = Target([0, 1, 3], [1, 1, 2])
    # Mean 7/4: (log(4/7) + 2 * 3 log(12/7)) / 4.
    expected = (math.log(4 / 7) + 6 * math.log(12 / 7)) / 4
    assert impurity("poisson", target, [0, 1, 2]) == pytest.approx(expected)
    column = numbers(0, 1, 2, 3)
    options = replace(CART, criterion="poisson")
    problem = PresetProblem([column], Target([0, 0, 1, 5], [1] * 4), options)
    # No branch may have zeros only, so neither 0.5 nor 1.5 is a threshold.
    assert SplitChooser(problem, Node(problem.rows)).decision().best[
        0
    ].candidate.test.thresholds == (2.5,)


# The comparison


OPTIONS = [
    HUNT,
    ID3,
    C45,
    replace(C45, splits="binary"),
    replace(CART, missing="fractional"),
    replace(CART, missing="surrogate"),
    replace(CART, thresholds="median", threshold_scope="root", missing="branch"),
    replace(ID3, splits="intervals"),
    replace(CART, splits="intervals", n_intervals=3, min_samples_leaf=2, missing="majority"),
]


@pytest.mark.parametrize("options", OPTIONS)
@examples(6)
@given(table=preset_tables(with_missing=True, rows=16))
def test_comparison_passes_on_naive_trees(options, table):
    problem = PresetProblem(table.columns, table.target, options)
    assert_preset_tree(NaiveModel(problem), problem)


@pytest.mark.parametrize(
    "corrupt",
    [
        lambda tree: tree.weight.__setitem__(1, tree.weight[1] + 1e-6),
        lambda tree: tree.gain.__setitem__(0, tree.gain[0] + 1e-6),
        lambda tree: tree.node_values.__setitem__((2, 0), 3.0),
        lambda tree: tree.reasons.__setitem__(1, "no_gain"),
        lambda tree: tree.n_rows.__setitem__(3, 9),
        lambda tree: tree.nodes[0].children.reverse(),
        lambda tree: setattr(
            tree.nodes[0], "split", Split(replace(tree.nodes[0].split.test, missing_branch=2))
        ),
    ],
)
def test_comparison_fails_on_corrupted_trees(corrupt):
    problem = textbook(GOLF).problem(C45)
    model = NaiveModel(problem)
    assert_preset_tree(model, problem)
    corrupt(model.tree_)
    with pytest.raises(AssertionError):
        assert_preset_tree(model, problem)
