"""The naive trees of the lecture beside numbers that books print and that a hand can check."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from tests.oracles.lecture_candidates import candidates
from tests.oracles.lecture_choice import Judge
from tests.oracles.lecture_intervals import given_intervals, mdl_intervals, mdl_margin
from tests.oracles.lecture_naive import LectureProblem, Node, Split, ends, grow, leaf_of, predicted
from tests.oracles.lecture_options import C45, CART, HUNT, ID3
from tests.oracles.lecture_stand_in import StandIn
from tests.oracles.lecture_sums import altered, cheapest, gain, impurity, split_info
from tests.oracles.lecture_surrogates import surrogates
from tests.oracles.lecture_tables import lecture_tables
from tests.oracles.lecture_textbook import GOLF, MAMMALS, WEATHER, lenses, outline, textbook
from tests.oracles.lecture_thresholds import cuts_of, rule_cuts
from tests.oracles.lecture_walk import assert_lecture_tree
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


def levels(text, kind="nominal"):
    labels = tuple(sorted(set(text) - {"?"}))
    return Column(kind, [None if c == "?" else labels.index(c) for c in text], labels)


def classes(text, weights=None):
    values = [int(c) for c in text]
    return Target(values, weights or [1] * len(values), max(values) + 1)


def root_scores(book, options):
    """Gain and score of each column's candidate in the root."""
    problem = book.problem(options)
    judge = Judge(problem, Node(problem.rows))
    found = candidates(problem, judge.node, judge.is_large)
    return [judge.scored(c) for column in found.values() for c in column]


# Quinlan's weather, with ID3 and with C4.5


def test_gains_and_ratios_of_the_weather():
    book = textbook(WEATHER)
    gains = [s.gain for s in root_scores(book, ID3)]
    assert gains == pytest.approx([0.247, 0.029, 0.152, 0.048], abs=5e-4)
    ratios = [s.score for s in root_scores(book, replace(ID3, criterion="gain_ratio"))]
    assert ratios == pytest.approx([0.156, 0.019, 0.152, 0.049], abs=5e-4)


def test_the_weather_tree_of_id3():
    book = textbook(WEATHER)
    problem = book.problem(ID3)
    assert outline(book, problem, grow(problem)) == WEATHER_TREE


def test_the_contact_lenses_of_id3():
    book = textbook(lenses())
    problem = book.problem(ID3)
    assert outline(book, problem, grow(problem)) == LENSES_TREE


def test_one_unknown_outlook_as_quinlan_works_it():
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


def test_the_tree_of_the_unknown_outlook_and_what_it_predicts():
    """Its leaves hold 2.0, 3.4, 3.2, 2.4 and 3.0 rows; 44% play if humidity is unknown."""
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
    # The one leaf that stands for the row is that of the heavier branch.
    assert nodes[leaf_of(nodes, problem, row)].rows == [1, 2, 3, 5]


# Hunt on the mammals


def test_hunt_asks_for_body_temperature_then_birth():
    book = textbook(MAMMALS)
    problem = book.problem(HUNT)
    assert outline(book, problem, grow(problem)) == {
        "body_temperature": {
            "cold": "no",
            "warm": {"gives_birth": {"no": "no", "yes": "yes"}},
        }
    }


def test_hunt_splits_without_gain_and_ends_at_equal_rows():
    xor = LectureProblem([levels("aabbb"), levels("ababb")], classes("01101"), HUNT)
    nodes = grow(xor)
    assert [n.reason for n in nodes].count("split") == 3
    assert nodes[-1].reason == "no_split"
    assert nodes[-1].rows == [3, 4]


def test_id3_uses_a_nominal_column_once_and_an_empty_branch_answers_as_above():
    columns = [levels("aabbbc"), numbers(1, 2, 3, 4, 5, 6)]
    target = classes("001011")
    problem = LectureProblem(columns, target, ID3)
    nodes = grow(problem)
    tested = [n.split.test.column for n in nodes if n.split]
    assert tested.count(0) <= 1
    first = LectureProblem(columns, target, replace(HUNT, reuse="none"))
    for node in grow(first):
        assert not node.split or node.split.test.column not in node.used
    ternary = LectureProblem([levels("aabbc"), levels("xyxyx")], classes("01101"), HUNT)
    empty = [n for n in grow(ternary) if n.reason == "empty"]
    assert not empty
    missing = Column("nominal", [0, 0, 1, 1], ("a", "b", "c"))
    problem = LectureProblem([missing], classes("0011"), HUNT)
    nodes = grow(problem)
    assert [n.reason for n in nodes] == ["split", "pure", "pure", "empty"]
    assert predicted(problem, nodes, [2]) == [Fraction(1, 2), Fraction(1, 2)]


# Thresholds


def test_rules_for_thresholds_on_ten_numbers():
    column = numbers(0, 1, 2, 3, 10)
    target, rows = classes("00000"), range(5)
    cuts = lambda rule, n=1, target=target: rule_cuts(rule, column, target, rows, n)  # noqa: E731
    assert cuts("mean") == [Fraction(16, 5)]
    assert cuts("median") == [2]
    assert cuts("equal_width", 4) == [2, 4, 6, 8]
    # A third of the weight is reached at 1, two thirds at 3.
    assert cuts("quantile", 2) == [1.5, 6.5]
    heavy = replace(target, weights=[1, 1, 1, 1, 4])
    assert cuts("mean", target=heavy) == [Fraction(46, 8)]
    assert cuts("median", target=heavy) == [Fraction(13, 2)]
    heavier = replace(target, weights=[1, 1, 1, 1, 5])
    assert cuts("median", target=heavier) == [3]  # no value lies above 10


def test_a_node_tries_the_cuts_of_the_root_that_part_its_rows():
    column, target = numbers(0, 1, 2, 3, 10), classes("00000")
    root = target, range(5)
    options = replace(CART, thresholds="equal_width", n_thresholds=4, at="root")
    assert cuts_of(column, target, [0, 3, 4], options, root) == [2, 4]
    assert cuts_of(column, target, [0, 1], options, root) == []
    assert cuts_of(column, target, [0, 1], replace(options, at="node"), root) == [0.2]
    value = replace(CART, thresholds="value")
    assert cuts_of(column, target, [0, 4], value, root) == [3]


# Intervals


def test_description_length_accepts_a_clean_cut_of_eight_and_refuses_noise():
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


def test_intervals_of_a_given_number_are_added_best_first():
    target = Target([0, 0, 5, 5, 1, 1], [1] * 6)
    rows, column = list(range(6)), numbers(*range(6))
    first = given_intervals(column, "squared_error", target, rows, 2, lambda side: True)
    assert first == [[1.5]]  # lowers the sum by 12 of 28; between 5 and 1 it would be 6.75
    found = given_intervals(column, "squared_error", target, rows, 3, lambda side: True)
    assert found == [[1.5, 3.5]]
    more = given_intervals(column, "squared_error", target, rows, 9, lambda side: len(side) > 1)
    assert more == [[1.5, 3.5]]


# C4.5's guard and corrections


def test_the_correction_charges_for_the_choice_of_a_cut():
    column = numbers(*range(8))
    options = replace(CART, criterion="entropy", mdl_correction=True)
    problem = LectureProblem([column], classes("00001111"), options)
    judge = Judge(problem, Node(problem.rows))
    best = judge.verdict().best[0]
    assert best.raw == 1
    assert best.gain == pytest.approx(1 - math.log2(7) / 8)
    noise = LectureProblem([column], classes("01010101"), options)
    assert Judge(noise, Node(noise.rows)).verdict().reason == "no_gain"


def test_the_guard_keeps_a_sliver_from_winning_by_its_ratio():
    """One row apart gains less than the mean of 0.252 and 0.197, and its ratio is larger."""
    columns = [levels("ppqqpppqp"), levels("yxyyyyyyy")]
    options = replace(CART, criterion="gain_ratio", splits="multiway")
    problem = LectureProblem(columns, classes("110010000"), options)
    judge = Judge(problem, Node(problem.rows))
    found = candidates(problem, judge.node, judge.is_large)
    scores = [judge.scored(column[0]) for column in found.values()]
    assert [s.gain for s in scores] == pytest.approx([0.252, 0.197], abs=5e-4)
    assert [s.score for s in scores] == pytest.approx([0.274, 0.392], abs=5e-4)
    assert judge.verdict().best[0].candidate.column == 1
    guarded = replace(problem, options=replace(options, gain_guard=True))
    assert Judge(guarded, judge.node).verdict().best[0].candidate.column == 0


def test_a_cut_needs_its_share_of_the_rows():
    options = replace(CART, cut_share=0.5)
    problem = LectureProblem([numbers(*range(8))], classes("01111111"), options)
    # A half of 8 by two classes: 2 rows on either side.
    best = Judge(problem, Node(problem.rows)).verdict().best[0]
    assert best.candidate.test.cuts == (1.5,)


def test_two_large_branches_are_enough_or_every_one_is_needed():
    column = levels("aaabbbc")
    options = replace(HUNT, min_samples_leaf=2)
    problem = LectureProblem([column], classes("0001110"), options)
    assert grow(problem)[0].reason == "min_samples_leaf"
    assert grow(replace(problem, options=replace(options, leaf_rule="two")))[0].reason == "split"


# Surrogates, costs, counts


def test_surrogates_are_ranked_by_what_they_send_right():
    columns = [
        numbers(1, 2, 3, 4, 5, None, None),
        numbers(1, 2, 3, 4, 0, 9, None),  # right in 4 of 5
        levels("aabbb?a"),  # right in all of 5
        numbers(1, 1, 1, 1, 1, 1, 1),
    ]
    options = replace(CART, missing="surrogate")
    problem = LectureProblem(columns, classes("0011101"), options)
    node = Node(problem.rows)
    best = Judge(problem, node).verdict().best[0].candidate
    assert best.test.cuts == (2.5,)
    found = surrogates(problem, node, best)
    assert [s.column for s in found] == [2, 1]
    assert [s.agree for s in found] == [1, Fraction(4, 5)]
    assert [s.adj for s in found] == [1, Fraction(1, 2)]
    nodes = grow(problem)
    # Row 5 lacks the level too and follows the number; row 6 follows its level.
    assert nodes[1].rows == [0, 1, 6]
    assert nodes[2].rows == [2, 3, 4, 5]
    assert leaf_of(nodes, problem, [None] * 4) in (2, *nodes[2].children)


def test_costs_weigh_classes_and_choose_the_cheaper_label():
    target = classes("0001")
    costs = ((0, 1), (5, 0))
    found = altered(target, costs)
    assert sum(found.weights) == 4
    assert found.weights[3] == 5 * found.weights[0] == Fraction(5, 2)
    assert cheapest([Fraction(3, 4), Fraction(1, 4)], costs) == 1
    assert cheapest([Fraction(3, 4), Fraction(1, 4)], None) == 0
    # Of equal costs the first.
    assert cheapest([Fraction(5, 6), Fraction(1, 6)], costs) == 0


def test_poisson_is_half_the_mean_deviance():
    target = Target([0, 1, 3], [1, 1, 2])
    # Mean 7/4: (log(4/7) + 2 * 3 log(12/7)) / 4.
    expected = (math.log(4 / 7) + 6 * math.log(12 / 7)) / 4
    assert impurity("poisson", target, [0, 1, 2]) == pytest.approx(expected)
    column = numbers(0, 1, 2, 3)
    options = replace(CART, criterion="poisson")
    problem = LectureProblem([column], Target([0, 0, 1, 5], [1] * 4), options)
    # No branch may hold zeros alone, so neither 0.5 nor 1.5 is a cut.
    assert Judge(problem, Node(problem.rows)).verdict().best[0].candidate.test.cuts == (2.5,)


# The walk


WAYS = [
    HUNT,
    ID3,
    C45,
    replace(C45, splits="binary"),
    replace(CART, missing="fractional"),
    replace(CART, missing="surrogate"),
    replace(CART, thresholds="median", at="root", missing="branch"),
    replace(ID3, splits="intervals"),
    replace(CART, splits="intervals", n_intervals=3, min_samples_leaf=2, missing="majority"),
]


@pytest.mark.parametrize("options", WAYS)
@settings(max_examples=6, deadline=None)
@given(table=lecture_tables(gaps=True, rows=16))
def test_the_walk_passes_on_naive_trees(options, table):
    problem = LectureProblem(table.columns, table.target, options)
    assert_lecture_tree(StandIn(problem), problem)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda tree: tree.weight.__setitem__(1, tree.weight[1] + 1e-6),
        lambda tree: tree.gain.__setitem__(0, tree.gain[0] + 1e-6),
        lambda tree: tree.value.__setitem__((2, 0), 3.0),
        lambda tree: tree.reasons.__setitem__(1, "no_gain"),
        lambda tree: tree.n_rows.__setitem__(3, 9),
        lambda tree: tree.nodes[0].children.reverse(),
        lambda tree: setattr(
            tree.nodes[0], "split", Split(replace(tree.nodes[0].split.test, gap=2))
        ),
    ],
)
def test_the_walk_fails_on_spoiled_trees(spoil):
    problem = textbook(GOLF).problem(C45)
    model = StandIn(problem)
    assert_lecture_tree(model, problem)
    spoil(model.tree_)
    with pytest.raises(AssertionError):
        assert_lecture_tree(model, problem)
