"""Protocols beside scikit-learn's splitters; what holds for all splits; texts and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import model_selection

from ceiba.experiments import (
    SCORES,
    Bootstrap,
    GivenFolds,
    GroupFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    Predictions,
    TimeOrder,
    bootstrap_632_plus,
    no_information_rate,
    parse_protocol,
)
from tests.budget import examples

SEEDS = st.integers(0, 2**32 - 1)
Y = np.repeat(["a", "b", "c"], [20, 13, 8])
PROTOCOLS = [
    KFold(4, 2),
    KFold(4, 2, stratified=False),
    HoldOut(0.3, 3),
    HoldOut(0.3, 3, stratified=False),
    LeaveOneOut(),
    Bootstrap(5),
    TimeOrder(4),
    GivenFolds(np.arange(len(Y)) % 3),
]


def rows_of(splits):
    return [(split.train.tolist(), split.test.tolist()) for split in splits]


def same_rows(splits, pairs):
    return rows_of(splits) == [(sorted(train), sorted(test)) for train, test in pairs]


@st.composite
def labels_and_folds(draw):
    n_splits = draw(st.integers(2, 5))
    counts = draw(st.lists(st.integers(n_splits, 15), min_size=1, max_size=4))
    y = np.repeat(np.arange(len(counts)), counts)
    return np.random.default_rng(draw(SEEDS)).permutation(y), n_splits


@examples(60)
@given(labels_and_folds(), st.integers(1, 3), SEEDS)
def test_stratified_folds(case, n_repeats, seed):
    y, n_splits = case
    splits = KFold(n_splits, n_repeats, random_state=seed).splits(y)
    assert [(s.repeat, s.fold) for s in splits] == [
        (repeat, fold) for repeat in range(n_repeats) for fold in range(n_splits)
    ]
    for repeat in range(n_repeats):
        tests = [split.test for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate(tests)) == list(range(len(y)))
        for label in np.unique(y):
            counts = [(y[test] == label).sum() for test in tests]
            assert max(counts) - min(counts) <= 1
    theirs = model_selection.RepeatedStratifiedKFold(
        n_splits=n_splits, n_repeats=n_repeats, random_state=seed
    )
    assert same_rows(splits, theirs.split(y, y))
    first = model_selection.StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    assert same_rows(splits[:n_splits], first.split(y, y))


@examples(30)
@given(st.integers(2, 6), st.integers(0, 30), st.integers(1, 3), SEEDS)
def test_plain_folds(n_splits, more, n_repeats, seed):
    y = np.linspace(0, 1, n_splits + more)
    splits = KFold(n_splits, n_repeats, stratified=False, random_state=seed).splits(y)
    theirs = model_selection.RepeatedKFold(
        n_splits=n_splits, n_repeats=n_repeats, random_state=seed
    )
    assert same_rows(splits, theirs.split(y))
    for repeat in range(n_repeats):
        tests = [split.test for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate(tests)) == list(range(len(y)))
        assert max(map(len, tests)) - min(map(len, tests)) <= 1


@examples(40)
@given(labels_and_folds(), st.floats(0.1, 0.9), SEEDS)
def test_hold_out(case, test_size, seed):
    y, _ = case
    n_test = int(np.ceil(test_size * len(y)))
    assume(min(n_test, len(y) - n_test) > max(y))
    (split,) = HoldOut(test_size, random_state=seed).splits(y)
    for label, count in enumerate(np.bincount(y)):
        expected = count * n_test / len(y)
        assert abs((y[split.test] == label).sum() - expected) <= 1
    theirs = model_selection.train_test_split(
        np.arange(len(y)), test_size=test_size, stratify=y, random_state=seed
    )
    assert same_rows([split], [theirs])
    plain = HoldOut(test_size, 2, stratified=False, random_state=seed).splits(y)
    shuffled = model_selection.ShuffleSplit(2, test_size=test_size, random_state=seed)
    assert same_rows(plain, shuffled.split(y))
    assert [s.repeat for s in plain] == [0, 1]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_training_and_test_rows_are_disjoint_sorted_and_reproducible(protocol):
    splits = protocol.splits(Y)
    assert rows_of(splits) == rows_of(protocol.splits(Y.tolist()))
    assert len({(split.repeat, split.fold) for split in splits}) == len(splits)
    for split in splits:
        assert len(split.train)
        assert len(split.test)
        assert not np.intersect1d(split.train, split.test).size
        assert (np.diff(split.train) >= 0).all()
        assert (np.diff(split.test) > 0).all()
        assert split.train.dtype == split.test.dtype == np.int64


@pytest.mark.parametrize("kind", [KFold, HoldOut, Bootstrap])
def test_random_state_changes_the_splits(kind):
    assert rows_of(kind(random_state=1, **_small(kind)).splits(Y)) != rows_of(
        kind(random_state=2, **_small(kind)).splits(Y)
    )


def _small(kind):
    return {"n_splits": 4} if kind is KFold else {}


@pytest.mark.parametrize("kind", [KFold, HoldOut, Bootstrap])
def test_fewer_repeats_are_the_first_of_more(kind):
    many = kind(n_repeats=4, **_small(kind)).splits(Y)
    few = kind(n_repeats=2, **_small(kind)).splits(Y)
    assert rows_of(few) == rows_of(many)[: len(few)]


@pytest.mark.parametrize("protocol", [KFold(4), HoldOut(0.4), GroupFolds(3, stratified=True)])
def test_labels_in_any_container_give_the_same_folds(protocol):
    y = Y[::-1]
    codes = np.unique(y, return_inverse=True)[1]
    names = np.array([f"g{i}" for i in range(len(y))])[::-1] if "groups" in str(protocol) else None
    expected = rows_of(protocol.splits(y, names))
    objects = None if names is None else names.astype(object)
    assert rows_of(protocol.splits(y.astype(object), objects)) == expected
    assert rows_of(protocol.splits(codes + 0.5, names)) == expected


def test_leave_one_out():
    splits = LeaveOneOut().splits(Y)
    assert same_rows(splits, model_selection.LeaveOneOut().split(Y))
    with pytest.raises(ValueError, match=r"at most 10000 rows, got 10001\. Use '10-fold'"):
        LeaveOneOut().splits(range(10_001))


@examples(40)
@given(st.integers(2, 40), SEEDS)
def test_bootstrap_samples(n, seed):
    for split in Bootstrap(4, seed).splits(range(n)):
        assert len(split.train) == n
        assert sorted({*split.train, *split.test}) == list(range(n))


def test_share_of_out_of_bag_rows():
    splits = Bootstrap(200).splits(range(500))
    assert np.mean([len(split.test) for split in splits]) / 500 == pytest.approx(0.368, abs=0.004)
    assert Bootstrap(20).splits([0, 1])[19].test.tolist() in ([0], [1])


@examples(40)
@given(st.integers(2, 5), st.lists(st.integers(0, 7), min_size=5, max_size=40), SEEDS)
def test_groups_are_not_divided(n_splits, groups, seed):
    assume(len(set(groups)) >= n_splits)
    y = np.random.default_rng(seed).integers(2, size=len(groups))
    protocols = [GroupFolds(n_splits)]
    if min(np.bincount(y, minlength=2)) >= n_splits:
        protocols.append(GroupFolds(n_splits, stratified=True))
    groups = np.array(groups)
    for protocol in protocols:
        splits = protocol.splits(y, groups)
        assert len(splits) == n_splits
        assert sorted(np.concatenate([split.test for split in splits])) == list(range(len(y)))
        for split in splits:
            assert not np.intersect1d(groups[split.train], groups[split.test]).size
    theirs = model_selection.GroupKFold(n_splits).split(y, y, groups)
    assert same_rows(protocols[0].splits(y, [f"g{group}" for group in groups]), theirs)


def test_stratified_groups_keep_the_shares_of_classes():
    groups = np.repeat(np.arange(8), 4)
    y = np.repeat([0, 1] * 4, 4)
    for split in GroupFolds(4, stratified=True).splits(y, groups):
        assert y[split.test].mean() == 0.5
    plain = GroupFolds(4).splits(y, groups)
    assert any(y[split.test].mean() != 0.5 for split in plain)


@examples(20)
@given(st.integers(2, 6), st.integers(1, 30))
def test_time_order_tests_the_future(n_splits, more):
    n = n_splits + more
    splits = TimeOrder(n_splits).splits(np.zeros(n))
    assert same_rows(splits, model_selection.TimeSeriesSplit(n_splits).split(np.zeros(n)))
    for split in splits:
        assert split.train.tolist() == list(range(split.test[0]))
    assert splits[-1].test[-1] == n - 1


def test_given_folds():
    numbers = GivenFolds(np.array([3, 7, 3, -1]))
    assert rows_of(numbers.splits(range(4))) == [([1, 3], [0, 2]), ([0, 2, 3], [1])]
    assert numbers == GivenFolds([3, 7, 3, -1])
    assert hash(numbers) == hash(GivenFolds((3, 7, 3, -1)))
    pairs = GivenFolds(model_selection.StratifiedKFold(3).split(Y, Y))
    assert same_rows(pairs.splits(Y), model_selection.StratifiedKFold(3).split(Y, Y))
    assert len(repr(pairs)) < 500
    assert str(pairs) == "given folds"


# ---- texts -----------------------------------------------------------------------------------

COUNTS = st.integers(2, 10**6)
TEXT_PROTOCOLS = st.one_of(
    st.builds(KFold, COUNTS, st.integers(1, 999), st.booleans(), SEEDS),
    st.builds(
        HoldOut,
        st.floats(0, 1, exclude_min=True, exclude_max=True),
        st.integers(1, 999),
        st.booleans(),
        SEEDS,
    ),
    st.just(LeaveOneOut()),
    st.builds(Bootstrap, COUNTS, SEEDS),
    st.builds(GroupFolds, COUNTS, st.booleans()),
    st.builds(TimeOrder, COUNTS),
)


@examples(200)
@given(TEXT_PROTOCOLS)
def test_text_is_read_again(protocol):
    assert parse_protocol(protocol.to_text()) == protocol
    assert str(protocol) == protocol.to_text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10-fold", KFold(10)),
        (" 10  Fold", KFold(10)),
        ("1x10-fold", KFold(10)),
        ("5x2-fold", KFold(2, 5)),
        ("5 x 2-folds plain", KFold(2, 5, stratified=False)),
        ("10-fold seed 3", KFold(10, random_state=3)),
        ("holdout 0.3", HoldOut(0.3)),
        ("5x hold-out .25", HoldOut(0.25, 5)),
        ("loo", LeaveOneOut()),
        ("leave-one-out", LeaveOneOut()),
        ("bootstrap 50", Bootstrap(50)),
        ("groups 5", GroupFolds(5)),
        ("groups 5 stratified", GroupFolds(5, stratified=True)),
        ("time 5", TimeOrder(5)),
    ],
)
def test_texts(text, expected):
    assert parse_protocol(text) == expected


def test_a_regression_is_not_stratified():
    assert parse_protocol("10-fold", task="regression") == KFold(10, stratified=False)
    assert parse_protocol("holdout 0.5", task="regression") == HoldOut(0.5, stratified=False)
    assert parse_protocol("bootstrap 9", random_state=4) == Bootstrap(9, 4)
    assert parse_protocol("bootstrap 9 seed 2", random_state=4) == Bootstrap(9, 2)
    assert parse_protocol("time 3", random_state=4) == TimeOrder(3)


@pytest.mark.parametrize(
    "text",
    ["", "ten-fold", "10", "x-fold", "-3-fold", "holdout", "holdout 1.2.3", "bootstrap", "groups",
     "time", "loo 3", "10-fold seed", "bootstrap 5 plain", "9999999999-fold", "٣-fold", 10],
)  # fmt: skip
def test_an_unknown_text_lists_the_forms(text):
    with pytest.raises(ValueError, match=r"'10-fold', '5x2-fold' .*'time 5', got"):
        parse_protocol(text)


# ---- .632+ -----------------------------------------------------------------------------------


def test_632_plus_of_the_extremes():
    assert bootstrap_632_plus(0.0, 0.0, 0.5) == 0
    assert bootstrap_632_plus(0.0, 0.5, 0.5) == pytest.approx(0.5)
    # No overfitting: the .632 estimate.
    assert bootstrap_632_plus(0.2, 0.2, 0.5) == pytest.approx(0.2)
    assert bootstrap_632_plus(0.3, 0.2, 0.5) == pytest.approx(0.368 * 0.3 + 0.632 * 0.2)
    # Worse than no information: the excess enters with .632 only.
    assert bootstrap_632_plus(0.0, 0.6, 0.5) == pytest.approx(0.632 * 0.6 + 0.368 * 0.5)


@examples(100)
@given(st.tuples(*[st.integers(0, 1000).map(lambda n: n / 1000)] * 3).map(sorted))
def test_632_plus_is_a_weighted_mean(errors):
    training, oob, no_information = errors
    estimate = bootstrap_632_plus(training, oob, no_information)
    assert 0.368 * training + 0.632 * oob - 1e-12 <= estimate <= oob + 1e-12
    if no_information > training:
        overfitting = (oob - training) / (no_information - training)
        weight = 0.632 / (1 - 0.368 * overfitting)
        assert estimate == pytest.approx((1 - weight) * training + weight * oob, abs=1e-12)


@examples(40)
@given(st.lists(st.tuples(*[st.sampled_from("abcd")] * 2), min_size=1, max_size=20))
def test_no_information_rate_is_the_error_of_all_pairs(pairs):
    y_true, y_pred = np.array(pairs).T
    wrong = [a != b for a in y_true for b in y_pred]
    assert no_information_rate(y_true, y_pred) == pytest.approx(np.mean(wrong))


def test_632_plus_of_a_nearest_neighbor_of_noise():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 2)), np.repeat([0, 1], 30)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    errors = []
    for split in Bootstrap(50).splits(y):
        nearest = split.train[distances[np.ix_(split.test, split.train)].argmin(axis=1)]
        errors.append(SCORES["error"](Predictions(y[split.test], y[nearest])).value)
    estimate = bootstrap_632_plus(0.0, np.mean(errors), no_information_rate(y, y))
    assert estimate == pytest.approx(0.5, abs=0.08)


# ---- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: KFold(1), "n_splits must be an int >= 2, got 1"),
        (lambda: KFold(2.0), "n_splits must be an int"),
        (lambda: KFold(2, 0), "n_repeats must be an int >= 1"),
        (lambda: KFold(2, True), "n_repeats must be an int"),
        (lambda: KFold(2, stratified="yes"), "stratified must be a bool"),
        (lambda: KFold(2, random_state=-1), r"random_state must be an int in \[0, 4294967295\]"),
        (lambda: parse_protocol("2-fold seed 4294967296"), "random_state must be an int in"),
        (lambda: KFold(9).splits(Y), "at least 9 rows of every class, got 8 of class 'c'. Use at "),
        (lambda: KFold(9).splits(Y), "at most 8 folds, stratified=False"),
        (lambda: KFold(2).splits([1.5, 2.5, 3.5]), "Use stratified=False .'plain', also for the"),
        (lambda: KFold(5, stratified=False).splits([1, 2]), "at least 5 rows, got 2"),
        (lambda: KFold(2).splits([]), "at least one row"),
        (lambda: KFold(2).splits([[1, 2]]), "must be 1D"),
        (lambda: KFold(2).splits(["a", None]), "missing"),
        (lambda: KFold(2).splits(Y, groups=Y), "groups have no effect on '2-fold'"),
        (lambda: HoldOut(1.0), r"test_size must be a float in \(0, 1\), got 1.0"),
        (lambda: HoldOut(5), "test_size must be a float"),
        (lambda: HoldOut(0.99).splits([0, 1] * 5), "leaves no training rows of 10"),
        (lambda: HoldOut(0.1).splits([0, 1] * 5), "got 1 test rows and 9 training rows"),
        (lambda: HoldOut(0.5).splits([0, 0, 1]), "hold-out requires at least 2 rows .* got 1 of"),
        (lambda: LeaveOneOut().splits([1]), "leave-one-out requires at least 2 rows, got 1"),
        (lambda: Bootstrap(5).splits([1]), "at least 2 rows"),
        (lambda: GroupFolds(5).splits(Y), "groups are required by 'groups 5'"),
        (lambda: GroupFolds(2).splits([1, 2], [1]), "2 in y and 1 in groups"),
        (lambda: GroupFolds(3).splits([1, 2, 3], [1, 2, 2]), "at least 3 groups, got 2"),
        (lambda: GroupFolds(2).splits([1, 2], ["a", None]), "groups must not have missing"),
        (lambda: GroupFolds(3, True).splits([0, 0, 0, 1], [1, 2, 3, 4]), "3 rows of every class"),
        (lambda: TimeOrder(5).splits(range(5)), "at least 6 rows, got 5"),
        (lambda: GivenFolds([]), "at least one"),
        (lambda: GivenFolds([0, 0]), "at least two different numbers"),
        (lambda: GivenFolds([-1, -1]), "at least two different numbers"),
        (lambda: GivenFolds([0.5, 1]), "1D ints"),
        (lambda: GivenFolds([0, -2]), "1D ints >= -1"),
        (lambda: GivenFolds([([0], [1], [2])]), "pairs"),
        (lambda: GivenFolds([([0], [])]), "training rows and test rows"),
        (lambda: GivenFolds([([0, 1], [1])]), "disjoint, got row 1"),
        (lambda: GivenFolds([([0], [-1])]), r"folds\[0\]\[1\] must be 1D ints >= 0"),
        (lambda: GivenFolds([([0], [5])]).splits([1, 2]), "row numbers below 2, got 5"),
        (lambda: GivenFolds([0, 1]).splits([1, 2, 3]), "3 in y and 2 in folds"),
        (lambda: parse_protocol("given folds"), "pass GivenFolds"),
        (lambda: parse_protocol("loo seed 3"), "'seed' has no effect"),
        (lambda: parse_protocol("groups 3 stratified", task="regression"), "requires the labels"),
        (lambda: parse_protocol("10-fold", task="ranking"), "task must be"),
        (lambda: parse_protocol("1-fold"), "n_splits must be an int >= 2, got 1"),
        (lambda: parse_protocol("holdout 1.5"), "test_size must be"),
        (lambda: bootstrap_632_plus(0.1, float("nan"), 0.5), "oob_error must be"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
