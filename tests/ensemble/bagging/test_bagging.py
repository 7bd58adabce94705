"""Bagging compared with computations by hand: draws, members, means, votes; options."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from ceiba import BaggingClassifier, BaggingRegressor
from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
NEW, _ = hand.groups(40, seed=1)
XR, YR = hand.slope()
NEW_R, _ = hand.slope(40, seed=1)
SEED = 5


def seeds(model, seed=SEED):
    return [hand.member_seed(seed, number) for number in range(len(model.estimators_))]


# Draws


@pytest.mark.parametrize("max_samples", [None, 37, 0.4])
def test_bootstrap_samples_match_naive_draws(max_samples):
    model = BaggingClassifier(n_estimators=4, max_samples=max_samples, random_state=SEED).fit(X, Y)
    draws = {None: 90, 37: 37, 0.4: 36}[max_samples]
    for found, seed in zip(model.estimators_samples_, seeds(model), strict=True):
        assert found.tolist() == hand.rows_with_replacement(seed, [1] * 90, draws)


@pytest.mark.parametrize("max_samples", [37, 0.4])
def test_subsamples_match_naive_draws(max_samples):
    model = BaggingClassifier(
        n_estimators=4, bootstrap=False, max_samples=max_samples, random_state=SEED
    ).fit(X, Y)
    draws = {37: 37, 0.4: 36}[max_samples]
    for found, seed in zip(model.estimators_samples_, seeds(model), strict=True):
        assert found.tolist() == hand.rows_without_replacement(seed, 90, draws)


def test_members_get_all_rows_without_bootstrap_and_max_samples():
    model = BaggingClassifier(n_estimators=2, bootstrap=False).fit(X, Y)
    assert all(rows.tolist() == list(range(90)) for rows in model.estimators_samples_)


@pytest.mark.parametrize("bootstrap_features", [False, True])
@pytest.mark.parametrize("max_features", [2, 0.6, 1.0])
def test_columns_match_naive_draws(max_features, bootstrap_features):
    X, Y = hand.groups(n_columns=9)
    model = BaggingClassifier(
        n_estimators=6,
        max_features=max_features,
        bootstrap_features=bootstrap_features,
        random_state=SEED,
    ).fit(X, Y)
    wanted = {2: 2, 0.6: 5, 1.0: 9}[max_features]
    for found, seed in zip(model.estimators_features_, seeds(model), strict=True):
        assert found.tolist() == hand.columns(seed, 9, wanted, replace=bootstrap_features)


def test_random_states_are_set_by_parameter_name():
    pipe = Pipeline([("zebra", PCA(random_state=1)), ("ant", SGDClassifier())])
    model = BaggingClassifier(pipe, 3, random_state=SEED).fit(X, Y)
    for member, seed in zip(model.estimators_, seeds(model), strict=True):
        assert member["ant"].random_state == hand.random_state(seed, 0)
        assert member["zebra"].random_state == hand.random_state(seed, 1)
    nested = BaggingClassifier(BaggingClassifier(DecisionTreeClassifier()), 3, random_state=SEED)
    for member, seed in zip(nested.fit(X, Y).estimators_, seeds(nested), strict=True):
        assert member.estimator.random_state == hand.random_state(seed, 0)
        assert member.random_state == hand.random_state(seed, 1)


# Members fitted by hand


CLASSIFIERS = {
    "their tree, by weights": TheirClassifier(max_features=2),
    "logistic regression, by weights": LogisticRegression(C=0.1),
    "naive Bayes, by weights": GaussianNB(),
    "neighbors, by repeated rows": KNeighborsClassifier(3),
    "a pipeline, by repeated rows": make_pipeline(StandardScaler(), TheirClassifier()),
    "the order of the draws, by repeated rows": make_pipeline(
        StandardScaler(), Perceptron(shuffle=False, max_iter=3, tol=None)
    ),
    "our tree, by weights": DecisionTreeClassifier(max_features=2),
}
TAKES_WEIGHTS = "by weights"


def again(model, X, y, by_weight, seed=SEED):
    """Fit the members of a model by hand on their rows and columns."""
    members = []
    for number, rows in enumerate(model.estimators_samples_):
        own = hand.member_seed(seed, number)
        member = clone(model.estimator)
        names = sorted(name for name in member.get_params() if name.endswith("random_state"))
        member.set_params(
            **{name: hand.random_state(own, index) for index, name in enumerate(names)}
        )
        chosen = model.estimators_features_[number]
        if by_weight:
            counts = np.bincount(rows, minlength=len(X))
            rows = np.flatnonzero(counts)
            member.fit(X[rows][:, chosen], y[rows], sample_weight=counts[rows].astype(float))
        else:
            member.fit(X[rows][:, chosen], y[rows])
        members.append((member, chosen))
    return members


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("voting", ["probability", "majority"])
def test_classifier_matches_members_fitted_by_hand(name, voting):
    model = BaggingClassifier(
        CLASSIFIERS[name], 6, max_features=3, voting=voting, random_state=SEED, max_samples=60
    ).fit(X, Y)
    members = again(model, X, Y, TAKES_WEIGHTS in name)
    classes = model.classes_.tolist()
    votes = np.zeros((len(NEW), 3), int)
    probabilities = np.zeros((len(NEW), 3))
    for member, chosen in members:
        predicted = member.predict(NEW[:, chosen])
        for row, label in enumerate(predicted):
            votes[row, classes.index(label)] += 1
        if hasattr(member, "predict_proba"):
            probabilities += member.predict_proba(NEW[:, chosen])
        else:
            probabilities[np.arange(len(NEW)), [classes.index(label) for label in predicted]] += 1
    np.testing.assert_array_equal(model.votes(NEW).counts, votes)
    if voting == "probability":
        expected, indices = probabilities / 6, (probabilities / 6).argmax(axis=1)
    else:
        expected = votes / 6
        indices = [hand.elected(row, SEED, number) for number, row in enumerate(votes.tolist())]
    np.testing.assert_array_equal(model.predict_proba(NEW), expected)
    np.testing.assert_array_equal(model.predict(NEW), model.classes_[indices])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(NEW), np.log(expected))


@pytest.mark.parametrize(
    ("estimator", "by_weight"),
    [
        (TheirRegressor(max_depth=4), True),
        (LinearRegression(), True),
        (KNeighborsRegressor(3), False),
        (DecisionTreeRegressor(max_depth=4), True),
    ],
    ids=["their tree", "linear regression", "neighbors", "our tree"],
)
@pytest.mark.parametrize("bootstrap", [True, False])
def test_regressor_matches_members_fitted_by_hand(estimator, by_weight, bootstrap):
    model = BaggingRegressor(
        estimator, 5, max_features=3, bootstrap=bootstrap, max_samples=0.7, random_state=SEED
    ).fit(XR, YR)
    total = np.zeros(len(NEW_R))
    for member, chosen in again(model, XR, YR, by_weight):
        total += member.predict(NEW_R[:, chosen])
    np.testing.assert_array_equal(model.predict(NEW_R), total / 5)


@pytest.mark.parametrize("columns", [False, True])
def test_sklearn_bagging_with_the_same_members_predicts_the_same(columns):
    from sklearn.ensemble import BaggingClassifier as Theirs

    ours = BaggingClassifier(
        TheirClassifier(), 7, max_features=0.5 if columns else 1.0, random_state=SEED
    ).fit(X, Y)
    theirs = Theirs(TheirClassifier(), 7).fit(X, Y)
    codes = np.unique(Y, return_inverse=True)[1]
    for number, (rows, chosen) in enumerate(
        zip(ours.estimators_samples_, ours.estimators_features_, strict=True)
    ):
        state = ours.estimators_[number].random_state
        weight = np.bincount(rows, minlength=len(X)).astype(float)
        member = TheirClassifier(random_state=state)
        theirs.estimators_[number] = member.fit(X[:, chosen], codes, sample_weight=weight)
        theirs.estimators_features_[number] = chosen
    np.testing.assert_allclose(theirs.predict_proba(NEW), ours.predict_proba(NEW), rtol=1e-15)
    np.testing.assert_array_equal(theirs.predict(NEW), ours.predict(NEW))


@pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier(3)])
def test_classes_absent_from_a_sample_have_probability_zero(estimator):
    y = np.array(["another"] + ["bee", "cow"] * 20)
    rows = np.arange(41.0).reshape(-1, 1)
    model = BaggingClassifier(estimator, 8, random_state=SEED).fit(rows, y)
    without = [0 not in sample for sample in model.estimators_samples_]
    assert 0 < sum(without) < 8
    total = np.zeros((41, 3))
    for member, absent in zip(model.estimators_, without, strict=True):
        # Those that accept weights have all classes.
        assert ("another" in member.classes_) == (not absent or isinstance(estimator, GaussianNB))
        with np.errstate(divide="ignore"):
            probabilities = member.predict_proba(rows)
        for index, label in enumerate(member.classes_):
            assert not absent or label != "another" or not probabilities[:, index].any()
            total[:, ["another", "bee", "cow"].index(label)] += probabilities[:, index]
    np.testing.assert_array_equal(model.predict_proba(rows), total / 8)


# Weights


def test_rows_are_drawn_by_integer_weights():
    weight = np.arange(90) % 4
    model = BaggingClassifier(n_estimators=3, max_samples=1.0, random_state=SEED)
    model.fit(X, Y, weight)
    for found, seed in zip(model.estimators_samples_, seeds(model), strict=True):
        assert found.tolist() == hand.rows_with_replacement(
            seed, weight.tolist(), int(weight.sum())
        )


def test_integer_weights_equal_repeated_rows():
    weight = np.random.default_rng(1).integers(0, 4, 90)
    rows = np.repeat(np.arange(90), weight)
    one = BaggingClassifier(n_estimators=8, max_samples=1.0).fit(X, Y, weight)
    two = BaggingClassifier(n_estimators=8).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(one.predict_proba(NEW), two.predict_proba(NEW))


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_draw_frequencies_are_proportional_to_weights(scale):
    """Replaces the check that a weight equals a repetition, which random draws cannot pass."""
    weight = scale * (1 + np.arange(90) % 3)
    model = BaggingClassifier(n_estimators=60, max_samples=90).fit(X, Y, weight)
    drawn = np.bincount(np.concatenate(model.estimators_samples_), minlength=90)
    thirds = np.array([drawn[first::3].sum() for first in range(3)])
    expected = 5400 * np.array([1, 2, 3]) / 6
    deviation = np.sqrt(expected * (1 - expected / 5400))
    assert (np.abs(thirds - expected) < 4 * deviation).all()


def test_weights_and_shuffled_repetitions_have_the_same_distribution():
    weight = np.where(Y == "ant", 3, 1)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(90), weight))
    tree = DecisionTreeClassifier(max_depth=2)

    def moments(X, Y, weight):
        model = BaggingClassifier(tree, 200, max_samples=1.0).fit(X, Y, weight)
        predicted = np.array([member.predict_proba(NEW[:8])[:, 0] for member in model.estimators_])
        return predicted.mean(axis=0), predicted.var(axis=0) / len(predicted)

    (one, e1), (two, e2) = moments(X, Y, weight), moments(X[rows], Y[rows], None)
    (plain, e3) = moments(X, Y, None)
    assert (np.abs(one - two) < 4.5 * np.sqrt(e1 + e2)).all()
    assert (np.abs(one - plain) > 4.5 * np.sqrt(e1 + e3)).any()  # the weights matter


def test_rows_keep_their_weights_without_replacement():
    weight = np.random.default_rng(4).exponential(size=90)
    model = BaggingClassifier(
        TheirClassifier(max_depth=3), 4, bootstrap=False, max_samples=50, random_state=SEED
    ).fit(X, Y, weight)
    total = np.zeros((len(NEW), 3))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        by_hand = clone(member).fit(X[rows], Y[rows], sample_weight=weight[rows])
        total += by_hand.predict_proba(NEW)
    np.testing.assert_array_equal(model.predict_proba(NEW), total / 4)


def test_integer_weights_repeat_rows_if_sample_weight_is_not_accepted():
    weight = np.random.default_rng(4).integers(1, 4, 90)
    model = BaggingRegressor(
        KNeighborsRegressor(3), 3, bootstrap=False, max_samples=40, random_state=SEED
    ).fit(XR, YR, weight)
    total = np.zeros(len(NEW_R))
    for rows in model.estimators_samples_:
        many = np.repeat(rows, weight[rows])
        total += KNeighborsRegressor(3).fit(XR[many], YR[many]).predict(NEW_R)
    np.testing.assert_array_equal(model.predict(NEW_R), total / 3)


def test_fractional_weights_that_no_member_accepts_are_an_error():
    model = BaggingClassifier(KNeighborsClassifier(), bootstrap=False)
    with pytest.raises(ValueError, match=r"does not accept sample_weight.*bootstrap=True"):
        model.fit(X, Y, np.full(90, 0.5))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_rows_of_weight_zero_are_ignored(bootstrap):
    weight = np.random.default_rng(5).exponential(size=90)
    weight[::3] = 0  # every ant
    there = np.flatnonzero(weight)
    options = {"n_estimators": 5, "bootstrap": bootstrap, "max_samples": 0.6}
    one = BaggingClassifier(**options).fit(X, Y, weight)
    two = BaggingClassifier(**options).fit(X[there], Y[there], weight[there])
    assert one.classes_.tolist() == ["ant", "bee", "cow"]
    assert not one.predict_proba(NEW)[:, 0].any()
    np.testing.assert_array_equal(one.predict_proba(NEW)[:, 1:], two.predict_proba(NEW))
    for mine, other in zip(one.estimators_samples_, two.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, there[other])


def test_all_weights_zero_is_an_error():
    with pytest.raises(ValueError, match="sample_weight must have at least one positive entry"):
        BaggingClassifier().fit(X, Y, np.zeros(90))


# Options and threads


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": DecisionTreeClassifier(max_depth=1)},
        {"n_estimators": 11},
        {"max_samples": 20},
        {"max_samples": 0.2},
        {"max_features": 2},
        {"max_features": 0.5},
        {"bootstrap": False},
        {"bootstrap_features": True},
        {"voting": "majority"},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_option_changes_the_classifier(options):
    tree = DecisionTreeClassifier(max_depth=3)  # whose leaves are not pure
    plain = BaggingClassifier(tree).fit(X, Y)
    other = BaggingClassifier(**{"estimator": tree, **options}).fit(X, Y)
    assert (plain.predict_proba(NEW) != other.predict_proba(NEW)).any()


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": DecisionTreeRegressor(max_depth=1)},
        {"n_estimators": 11},
        {"max_samples": 20},
        {"max_samples": 0.2},
        {"max_features": 2},
        {"max_features": 0.5},
        {"bootstrap": False},
        {"bootstrap_features": True},
        {"random_state": 1},
    ],
    ids=str,
)
def test_every_option_changes_the_regressor(options):
    plain, other = BaggingRegressor().fit(XR, YR), BaggingRegressor(**options).fit(XR, YR)
    assert (plain.predict(NEW_R) != other.predict(NEW_R)).any()


@pytest.mark.parametrize("member", [None, KNeighborsClassifier(3)], ids=["ours", "theirs"])
def test_model_does_not_depend_on_number_of_threads(member):
    one, two, three = (
        BaggingClassifier(member, 13, max_features=3, n_jobs=n, oob_score=True).fit(X, Y)
        for n in (1, 2, 3)
    )
    for other in (two, three):
        np.testing.assert_array_equal(one.predict_proba(NEW), other.predict_proba(NEW))
        np.testing.assert_array_equal(one.oob_decision_function_, other.oob_decision_function_)


def test_random_state_none_draws_a_new_seed():
    one, two = (BaggingRegressor(random_state=None).fit(XR, YR) for _ in range(2))
    assert one.seed_ != two.seed_
    assert (one.predict(NEW_R) != two.predict(NEW_R)).any()
    generator = BaggingRegressor(random_state=np.random.default_rng(0)).fit(XR, YR)
    assert generator.seed_ == np.random.default_rng(0).integers(2**63)


def test_importances_are_means_over_members():
    model = BaggingRegressor(n_estimators=6, max_features=3, bootstrap_features=True).fit(XR, YR)
    total = np.zeros(4)
    for member, chosen in zip(model.estimators_, model.estimators_features_, strict=True):
        for index, column in enumerate(chosen):
            total[column] += member.feature_importances_[index]
    np.testing.assert_allclose(model.feature_importances_, total / 6, rtol=1e-12)
    without = BaggingRegressor(KNeighborsRegressor(), 2).fit(XR, YR)
    assert not hasattr(without, "feature_importances_")
    assert not hasattr(BaggingRegressor(), "feature_importances_")
    assert not hasattr(BaggingRegressor(), "estimators_samples_")
