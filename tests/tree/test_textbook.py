"""Trees and hand calculations of textbooks are reproduced node for node."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.tree

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from tests.oracles.preset_naive import PresetProblem
from tests.oracles.preset_options import C45, HUNT, ID3
from tests.oracles.preset_textbook import GOLF, MAMMALS, WEATHER, lenses, outline, textbook
from tests.oracles.preset_walk import assert_preset_tree

WEATHER_TREE = {
    "outlook": {
        "overcast": "yes",
        "rainy": {"windy": {"false": "yes", "true": "no"}},
        "sunny": {"humidity": {"high": "no", "normal": "yes"}},
    }
}
LENSES_TREE = {
    "tear_rate": {
        "normal": {
            "astigmatism": {
                "no": {
                    "age": {
                        "pre-presbyopic": "soft",
                        "presbyopic": {"prescription": {"hypermetrope": "soft", "myope": "none"}},
                        "young": "soft",
                    }
                },
                "yes": {
                    "prescription": {
                        "hypermetrope": {
                            "age": {"pre-presbyopic": "none", "presbyopic": "none", "young": "hard"}
                        },
                        "myope": "hard",
                    }
                },
            }
        },
        "reduced": "none",
    }
}
MAMMALS_TREE = {
    "body_temperature": {"cold": "no", "warm": {"gives_birth": {"no": "no", "yes": "yes"}}}
}
GOLF_TREE = {
    "outlook": {
        "overcast": "play",
        "rain": {"windy": {"false": "play", "true": "don't"}},
        "sunny": {"humidity": {"<= 75": "play", "> 75": "don't"}},
    }
}


def words(model, node=0):
    """Return the tree as nested dictionaries {column: {branch: ...}}, with classes as leaves."""
    tree = model.tree_
    if tree.is_leaf[node]:
        return str(model.classes_[tree.leaf_class[tree.child[node]]])
    split = tree.split(node)
    if split.kind == "threshold":
        labels = [f"<= {split.threshold:g}", f"> {split.threshold:g}"]
    else:
        labels = [", ".join(branch) for branch in split.branches]
    below = [words(model, child) for child in tree.children(node)]
    return {split.name: dict(zip(labels, below, strict=True))}


def grown(algorithm, name, **options):
    table, y = datasets.load(name)
    return DecisionTreeClassifier(algorithm=algorithm, **options).fit(table, y)


def leaves(model):
    """Return the leaves from the first branch to the last."""
    return [node for node in model.tree_.walk() if model.tree_.is_leaf[node]]


# ID3


def test_weather_tree_of_id3():
    model = grown("id3", "weather_nominal", trace=True)
    assert words(model) == WEATHER_TREE
    # Quinlan (1986): outlook, temperature, humidity, windy.
    gains = model.trace_[0]["candidate_gain"]
    assert gains.tolist() == pytest.approx([0.247, 0.029, 0.152, 0.048], abs=5e-4)
    assert model.tree_.gain[0] == pytest.approx(0.247, abs=5e-4)
    assert model.tree_.n_rows[leaves(model)].tolist() == [4, 3, 2, 3, 2]


def test_weather_gain_ratios():
    model = grown("id3", "weather_nominal", criterion="gain_ratio", trace=True)
    ratios = model.trace_[0]["candidate_gain"]
    assert ratios.tolist() == pytest.approx([0.156, 0.019, 0.152, 0.049], abs=5e-4)


def test_contact_lenses_tree_of_id3():
    model = grown("id3", "contact_lenses")
    assert words(model) == LENSES_TREE
    assert model.score(*datasets.load("contact_lenses")) == 1


# Hunt


def test_vertebrates_tree_of_hunt():
    """Skin cover separates all; without it both birth and body temperature are needed."""
    model = grown("hunt", "vertebrates")
    assert model.tree_.split(0).name == "skin_cover"
    assert model.get_depth() == 1
    X, y = datasets.load("vertebrates", as_frame=True)
    model = DecisionTreeClassifier(algorithm="hunt").fit(X.drop(columns="skin_cover"), y)
    mammal, other = "mammal", "non-mammal"
    assert words(model) == {
        "gives_birth": {
            "no": other,
            "yes": {"body_temperature": {"cold": other, "warm": mammal}},
        }
    }


BOOKS = [
    ("hunt", HUNT, MAMMALS, MAMMALS_TREE),
    ("id3", ID3, WEATHER, None),
    ("id3", ID3, lenses(), None),
    ("c45", C45, GOLF, GOLF_TREE),
    ("c45", C45, WEATHER, None),
    ("c45", C45, lenses(), None),
]


@pytest.mark.parametrize(("algorithm", "options", "text", "tree"), BOOKS)
def test_textbook_tables_equal_the_naive_tree(algorithm, options, text, tree):
    book = textbook(text)
    model = DecisionTreeClassifier(algorithm=algorithm, pruning="none", collapse=False)
    model.fit(book.frame(), book.table.target.values)
    problem = PresetProblem(book.table.columns, book.table.target, options)
    nodes = assert_preset_tree(model, problem)
    if tree is not None:
        assert outline(book, problem, nodes) == tree


# C4.5


def test_golf_tree_with_a_missing_outlook():
    """Quinlan (1993), section 3: weights of the leaves, and a row with missing humidity."""
    book = textbook(GOLF)
    model = DecisionTreeClassifier(algorithm="c45", pruning="none").fit(book.frame(), book.labels())
    assert words(model) == GOLF_TREE
    assert model.tree_.gain[0] == pytest.approx(0.199, abs=5e-4)
    weights = model.tree_.weight[leaves(model)]
    assert weights.tolist() == pytest.approx([3.2308, 3.0, 2.3846, 2.0, 3.3846], abs=1e-4)
    row = book.frame().iloc[:1].assign(outlook="sunny", humidity=np.nan, temperature=70.0)
    fraction = model.predict_proba(row)[0][model.classes_.tolist().index("play")]
    assert fraction == pytest.approx(0.44, abs=5e-3)
    assert model.predict(row).tolist() == ["don't"]


# Counts


@pytest.mark.parametrize("depth", [1, 3, None])
def test_poisson_equals_sklearn(depth):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3))
    y = rng.gamma(2, np.exp(X[:, 0] + X[:, 1] ** 2 / 2))  # integer counts would tie
    y[::9] = 0
    options = {"criterion": "poisson", "max_depth": depth, "min_samples_leaf": 4}
    ours = DecisionTreeRegressor(**options).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(**options, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert ours.tree_.impurity[0] == pytest.approx(theirs.tree_.impurity[0])
    assert ours.get_n_leaves() == theirs.get_n_leaves()
