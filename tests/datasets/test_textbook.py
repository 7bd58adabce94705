"""The textbook tables against published figures."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from ceiba import datasets
from ceiba.data import Kind


def columns(dataset) -> dict[str, np.ndarray]:
    table = dataset.table
    return {
        column.name: table.column(j)
        if column.kind is Kind.NUMERIC
        else np.array(column.categories)[table.column(j)]
        for j, column in enumerate(table.schema)
    }


def entropy(y: np.ndarray) -> float:
    fractions = np.unique(y, return_counts=True)[1] / len(y)
    return float(-(fractions * np.log2(fractions)).sum())


def gain(values: np.ndarray, y: np.ndarray) -> float:
    parts = [y[values == value] for value in np.unique(values)]
    return entropy(y) - sum(len(part) / len(y) * entropy(part) for part in parts)


def test_weather_gains_equal_the_published_ones():
    dataset = datasets.load("weather_nominal")
    assert Counter(dataset.y.tolist()) == {"yes": 9, "no": 5}
    assert entropy(dataset.y) == pytest.approx(0.940, abs=5e-4)
    gains = {name: gain(values, dataset.y) for name, values in columns(dataset).items()}
    published = {"outlook": 0.247, "temperature": 0.029, "humidity": 0.152, "windy": 0.048}
    assert gains == pytest.approx(published, abs=5e-4)


def test_weather_tables_agree():
    words, numbers = (datasets.load(f"weather_{form}") for form in ("nominal", "numeric"))
    assert [column.kind for column in numbers.schema] == [
        "nominal",
        "numeric",
        "numeric",
        "nominal",
    ]
    nominal, numeric = columns(words), columns(numbers)
    np.testing.assert_array_equal(words.y, numbers.y)
    for name in ("outlook", "windy"):
        np.testing.assert_array_equal(nominal[name], numeric[name])
    bands = np.digitize(numeric["temperature"], [69.5, 77.5])
    np.testing.assert_array_equal(np.array(["cool", "mild", "hot"])[bands], nominal["temperature"])
    np.testing.assert_array_equal(numeric["humidity"] > 82, nominal["humidity"] == "high")


def test_weather_numeric_class_means_equal_the_published_ones():
    dataset = datasets.load("weather_numeric")
    values, play = columns(dataset), dataset.y == "yes"
    assert values["temperature"][play].mean() == pytest.approx(73)
    assert values["temperature"][~play].mean() == pytest.approx(74.6)
    assert values["humidity"][play].mean() == pytest.approx(79.1, abs=0.05)
    assert values["humidity"][~play].mean() == pytest.approx(86.2)


def test_contact_lenses_contain_every_combination_once():
    dataset = datasets.load("contact_lenses")
    assert Counter(dataset.y.tolist()) == {"none": 15, "soft": 5, "hard": 4}
    rows = list(zip(*columns(dataset).values(), strict=True))
    domain = product(*(column.categories for column in dataset.schema))
    assert sorted(rows) == sorted(domain)


def test_contact_lenses_follow_the_published_rules():
    # The nine rules of Cendrowska's PRISM for this table, as one decision.
    def decide(age, prescription, astigmatism, tear_rate):
        if tear_rate == "reduced":
            return "none"
        if astigmatism == "no":
            return "none" if (age, prescription) == ("presbyopic", "myope") else "soft"
        return "hard" if prescription == "myope" or age == "young" else "none"

    dataset = datasets.load("contact_lenses")
    rows = zip(*columns(dataset).values(), strict=True)
    assert [decide(*row) for row in rows] == dataset.y.tolist()


def test_vertebrates_column_by_column():
    dataset = datasets.load("vertebrates")
    animals, values = np.array(dataset.row_names), columns(dataset)

    def which(name, value):
        return set(animals[values[name] == value])

    assert ", ".join(dataset.row_names) == (
        "human, python, salmon, whale, frog, komodo dragon, bat, pigeon, cat, shark, turtle, "
        "penguin, porcupine, eel, salamander"
    )
    mammals = {"human", "whale", "bat", "cat", "porcupine"}
    assert set(animals[dataset.y == "mammal"]) == mammals
    assert which("body_temperature", "warm") == mammals | {"pigeon", "penguin"}
    assert which("gives_birth", "yes") == mammals | {"shark"}
    assert which("aquatic", "yes") == {"salmon", "whale", "shark", "eel"}
    assert which("aquatic", "semi") == {"frog", "turtle", "penguin", "salamander"}
    assert which("aerial", "yes") == {"bat", "pigeon"}
    assert which("legs", "no") == {"python", "salmon", "whale", "shark", "eel"}
    assert which("hibernates", "yes") == {"python", "frog", "bat", "porcupine", "salamander"}
    assert {cover: which("skin_cover", cover) for cover in ("hair", "fur", "quills", "none")} == {
        "hair": {"human", "whale", "bat"},
        "fur": {"cat"},
        "quills": {"porcupine"},
        "none": {"frog", "salamander"},
    }
    assert which("skin_cover", "feathers") == {"pigeon", "penguin"}
    assert len(which("skin_cover", "scales")) == 6


def test_mammals_are_warm_blooded_and_give_birth():
    dataset = datasets.load("vertebrates")
    values, mammal = columns(dataset), dataset.y == "mammal"
    warm, birth = values["body_temperature"] == "warm", values["gives_birth"] == "yes"
    np.testing.assert_array_equal(warm & birth, mammal)
    assert (warm & ~mammal).any()
    assert (birth & ~mammal).any()
    perfect = [name for name, column in values.items() if gain(column, dataset.y) > 0.91]
    assert perfect == ["skin_cover"]
