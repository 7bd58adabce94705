"""
Generative and discriminative training of networks
==================================================

Naive Bayes and TAN are trained in two ways. Generative training counts: it maximizes the likelihood
of the rows and the class together. Discriminative training maximizes the likelihood of the class,
given the row. The third learner also chooses its columns and arcs in this way, and takes one to
five columns of up to twenty.

Accuracies are means over five splits into five folds. Categories, thresholds, structures and
parameters are learned from the training rows of each fold only. TM+ and sTM+ have a ridge of 3,
sTM has no penalty. The tables are those that come with the library, and those in the folder that
the environment variable CEIBA_DATA names.
"""

import warnings
from itertools import product

import numpy as np

from ceiba import NaiveBayesClassifier, StructuralTMClassifier, TANClassifier, datasets
from ceiba.data import Table
from ceiba.datasets import DatasetNotFoundError

N_FOLDS, SEEDS = 5, range(5)
TABLES = {
    "breast": "breast_cancer_wisconsin_original",
    "cleve": "cleve",
    "iris": "iris",
    "german": "german_credit",
    "corral": None,
    "crx": "crx",
    "lymphography": "lymphography",
    "hepatitis": "hepatitis",
    "vote": "vote",
    "heart": "statlog_heart",
    "vertebral": "vertebral_column",
}
LEARNERS = {
    "NB": NaiveBayesClassifier(missing="category"),
    "NB-TM+": NaiveBayesClassifier(missing="category", training="tm"),
    "TAN": TANClassifier(missing="category"),
    "TAN-TM+": TANClassifier(missing="category", training="tm"),
    "sTM": StructuralTMClassifier(missing="category", penalty=0),
    "sTM+": StructuralTMClassifier(missing="category"),
}


# %%
# Rows with missing values are left out, except in the votes, where a missing vote is a category.
# CORRAL has every combination of five binary columns four times; the class is (A0 and A1) or (B0
# and B1), and R agrees with the class in three rows of four.
def corral():
    rows = []
    for a0, a1, b0, b1, i in product("01", repeat=5):
        c = str(int("11" in (a0 + a1, b0 + b1)))
        other = "10"[int(c)]
        rows += [(a0, a1, b0, b1, i, r, c) for r in (c, c, c, other)]
    names = ("A0", "A1", "B0", "B1", "I", "R")
    table = Table.of([dict(zip(names, row, strict=False)) for row in rows])
    return table, np.array([row[-1] for row in rows])


def load(name):
    if TABLES[name] is None:
        return corral()
    data = datasets.load(TABLES[name])
    table, y = data.table, np.asarray(data.y)
    missing = np.zeros(len(table), bool)
    for j in range(len(table.schema)):
        mask = table.missing_mask(j)
        if name != "vote" and mask is not None:
            missing |= mask
    return table.take(~missing), y[~missing]


# %%
# The rows of each class are shuffled and dealt to the folds, each class where the last one ended.
def fold_numbers(y, seed):
    rng = np.random.default_rng(seed)
    folds = np.empty(len(y), int)
    offset = 0
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        rng.shuffle(members)
        folds[members] = (offset + np.arange(len(members))) % N_FOLDS
        offset += len(members)
    return folds


def cross_validate(table, y):
    """Return the accuracy of each learner in each fold, and numbers of columns and arcs."""
    scores = {name: [] for name in LEARNERS}
    sizes = []
    for seed in SEEDS:
        folds = fold_numbers(y, seed)
        for fold in range(N_FOLDS):
            train, test = folds != fold, folds == fold
            for name, learner in LEARNERS.items():
                model = learner.fit(table.take(train), y[train])
                scores[name].append(100 * np.mean(model.predict(table.take(test)) == y[test]))
            sizes.append((len(model.selected_features_), len(model.arcs_)))
    return scores, np.mean(sizes, axis=0)


# %%
# With a ridge, discriminative training improves naive Bayes on many tables; TAN has already more
# parameters than these small tables can bear. The searched networks are close to both with a few
# columns. Without a penalty they warn where the likelihood of the class has no maximum, which is
# usual.
warnings.simplefilter("ignore", UserWarning)
accuracies = {}
print(f"{'':13}" + "".join(f"{name:>15}" for name in LEARNERS) + "  columns/arcs")
for name in TABLES:
    try:
        table, y = load(name)
    except DatasetNotFoundError:
        continue
    accuracies[name], (n_columns, n_arcs) = cross_validate(table, y)
    cells = [f"{np.mean(a):9.2f} ±{np.std(a):4.1f}" for a in accuracies[name].values()]
    print(f"{name:13}" + "".join(cells) + f"{n_columns:9.1f}/{n_arcs:.1f}", flush=True)
means = [np.mean([np.mean(of[name]) for of in accuracies.values()]) for name in LEARNERS]
print(f"{'mean':13}" + "".join(f"{mean:9.2f}      " for mean in means))
