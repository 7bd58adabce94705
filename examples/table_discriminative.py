"""
The tables of discriminative learning
=====================================

Naive Bayes and TAN, trained generatively (counts) and discriminatively (the TM algorithm, which
maximizes the likelihood of the class, given the row), and networks whose columns and arcs are
chosen for classification (structural TM). The tables are those of a talk of the University of the
Basque Country on the TM algorithm (in Spanish): accuracy over five folds with p-values (table 1),
structural TM (table 2), chosen columns (table 3). Its figures are printed beside those of Ceiba.

Categories, thresholds, structures and parameters are learned from the training rows of each fold.
TM is the algorithm of the talk, without a penalty and stopped at a gain below 0.001; TM+ has the
ridge of 3 that is Ceiba's default. Finished folds are kept in ``out/table_discriminative.db``.
"""

import warnings
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np

from ceiba import NaiveBayesClassifier, StructuralTMClassifier, TANClassifier, datasets, plots
from ceiba.data import Table
from ceiba.datasets import DatasetNotFoundError
from ceiba.experiments import Protocol, Split, compare, learner_test, rank_learners, summarize
from ceiba.inference import mark, wilcoxon_test

out = Path("out")
journal = out / "table_discriminative.db"
warnings.simplefilter("ignore", UserWarning)  # without a penalty there is often no maximum
start = perf_counter()

N_FOLDS = 5
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
}
BUNDLED = [
    *datasets.names(task="classification", source="bundled"),
    *datasets.names(task="classification", source="scikit-learn"),
]


# %%
# Rows with missing values are left out, as in the talk, except in the votes, where a missing vote
# is a category. CORRAL has every combination of five binary columns four times; the class is (A0
# and A1) or (B0 and B1), and R agrees with the class in three rows of four.
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
    masks = [data.table.missing_mask(j) for j in range(len(data.table.schema))]
    incomplete = [mask for mask in masks if mask is not None and name != "vote"]
    complete = ~np.any([np.zeros(len(data.table), bool), *incomplete], axis=0)
    return data.table.take(complete), data.y[complete]


tables, absent = {}, []
for name in TABLES:
    try:
        tables[name] = load(name)
    except DatasetNotFoundError:
        absent.append(f"{TABLES[name]}.csv")
if absent:
    print(f"Absent: {', '.join(absent)}. Put them into a folder and name it in CEIBA_DATA.\n")


# %%
# The rows of each class are shuffled and dealt to the folds, each class where the last one ended.
# Stratified folds of `KFold` require as many rows of each class as folds, and lymphography has a
# class of two rows.
@dataclass(frozen=True)
class DealtFolds(Protocol):
    n_folds: int = 5
    seed: int = 0

    def splits(self, y, groups=None):
        rng = np.random.default_rng(self.seed)
        members = [np.flatnonzero(y == label) for label in np.unique(y)]
        for rows in members:
            rng.shuffle(rows)
        folds = np.empty(len(y), int)
        folds[np.concatenate(members)] = np.arange(len(y)) % self.n_folds
        return [
            Split(0, fold, np.flatnonzero(folds != fold), np.flatnonzero(folds == fold))
            for fold in range(self.n_folds)
        ]

    def to_text(self):
        return f"{self.n_folds} dealt folds, seed {self.seed}"


# %%
# Table 1. The p-values are those of Mann and Whitney's test on the accuracies of the folds, as in
# the talk: of NB-TM and NB-TM+ against NB, of TAN-TM and TAN-TM+ against TAN. The filled mark is
# for an accuracy that is higher with p <= 0.05, the empty one with p <= 0.1. Five folds that share
# training rows are no sample of independent values: see the guide for better tests.
tm = {"missing": "category", "training": "tm", "solver": "tm", "penalty": 0}
ridge = {"missing": "category", "training": "tm"}
learners = {
    "NB": NaiveBayesClassifier(missing="category"),
    "NB-TM": NaiveBayesClassifier(**tm),
    "NB-TM+": NaiveBayesClassifier(**ridge),
    "TAN": TANClassifier(missing="category"),
    "TAN-TM": TANClassifier(**tm),
    "TAN-TM+": TANClassifier(**ridge),
    "sTM": StructuralTMClassifier(missing="category", penalty=0),
    "sTM+": StructuralTMClassifier(missing="category"),
}
results = compare(learners, tables, protocol=DealtFolds(N_FOLDS), journal=journal)
accuracy = {
    learner: np.array([100 * results.mean("accuracy", name, learner) for name in tables])
    for learner in learners
}


def print_table(controls):
    """Print accuracies with standard deviations, and p-values where there is a control."""
    lines = [f"{'':13}", *(f"{name:13}" for name in tables), f"{'mean':13}"]
    for learner, control in controls.items():
        texts = [f"{learner:>5}"]
        for i, name in enumerate(tables):
            folds = [value.value for value in results.fold_scores("accuracy", name, learner)]
            text = f"{accuracy[learner][i]:5.1f} ±{100 * np.std(folds):4.1f}"
            if control is not None:
                test = learner_test(results, learner, control, dataset=name, test="mann_whitney")
                is_better = accuracy[learner][i] > accuracy[control][i]
                text += f"  {test.p_value:.3f}{mark(test.p_value) if is_better else ''}"
            texts.append(text)
        texts.append(f"{accuracy[learner].mean():5.1f}")
        width = max(map(len, texts)) + 2
        lines = [line + text.ljust(width) for line, text in zip(lines, texts, strict=True)]
    print("\n".join(line.rstrip() for line in lines))


print(f"Table 1. Accuracy in % ± standard deviation of {N_FOLDS} folds, p-value against NB or TAN")
print_table(
    {"NB": None, "NB-TM": "NB", "NB-TM+": "NB", "TAN": None, "TAN-TM": "TAN", "TAN-TM+": "TAN"}
)

# %%
# Table 2. The searched networks, with p-values against naive Bayes of the same training.
print("\nTable 2. Structural TM, p-value of sTM against NB-TM, and of sTM+ against NB-TM+")
print_table({"NB-TM": None, "TAN-TM": None, "sTM": "NB-TM", "NB-TM+": None, "sTM+": "NB-TM+"})

# %%
# The figures of the talk: accuracies of NB, NB-TM, TAN, TAN-TM (its table 1) and structural TM
# (its table 2), and the number of chosen columns (its table 3). What can agree are the columns that
# are results of cross-validation, within the standard deviation over the folds, since the folds are
# others. The columns of NB-TM and TAN-TM are close to accuracies on the rows that the network was
# trained on; this is concluded from the numbers, and no honest experiment can repeat them.
TALK = {
    "breast": (97.37, 98.98, 97.37, 95.46, 95.0, 2),
    "cleve": (83.14, 87.53, 82.77, 87.85, 82.4, 5),
    "iris": (94.67, 95.33, 93.33, 96.00, 95.3, 1),
    "german": (75.40, 78.90, 72.80, 84.00, 73.3, 4),
    "corral": (86.77, 90.61, 100.0, 99.20, 98.5, 5),
    "crx": (86.68, 88.52, 86.06, 89.59, 86.1, 5),
    "lymphography": (83.77, 91.22, 79.08, 98.98, 71.6, 4),
    "hepatitis": (85.00, 93.75, 87.50, 100.0, 87.5, 2),
    "vote": (89.88, 98.39, 93.56, 99.08, 95.6, 3),
    "heart": (83.33, 86.67, 72.90, 81.75, 85.6, 4),
}
talk = np.array([TALK[name] for name in tables])
training = {
    learner: np.array([100 * learners[learner].fit(X, y).score(X, y) for X, y in tables.values()])
    for learner in ("NB", "NB-TM", "TAN", "TAN-TM", "sTM")
}
print("\nThe talk / cross-validation / accuracy on the training rows, in %")
print(f"{'':13}" + "".join(f"{learner:<23}" for learner in training).rstrip())
for i, name in enumerate(tables):
    cells = [
        f"{talk[i, j]:5.1f} / {accuracy[learner][i]:5.1f} / {training[learner][i]:5.1f}  "
        for j, learner in enumerate(training)
    ]
    print(f"{name:13}" + "".join(cells).rstrip())
distances = {
    learner: [np.median(np.abs(talk[:, j] - ours[learner])) for ours in (accuracy, training)]
    for j, learner in enumerate(training)
}
cells = [f"{'':8}{held_out:5.1f} / {fitted:5.1f}  " for held_out, fitted in distances.values()]
print(f"{'distance':13}" + "".join(cells).rstrip() + "  (median, to the talk)")

# %%
# Table 3. The columns and arcs that structural TM takes from all rows, and their pictures.
print("\nTable 3. Columns that structural TM takes")
print(f"{'':13}{'of':>3}{'talk':>6}{'here':>6}  columns, and arcs between them")
n_chosen = []
for (name, (X, y)), row in zip(tables.items(), talk, strict=True):
    model = StructuralTMClassifier(missing="category").fit(X, y)
    n_chosen.append(len(model.selected_features_))
    arcs = [f"{parent} -> {child}" for parent, child in model.arcs_]
    chosen = ", ".join([*model.selected_features_, *arcs])
    print(f"{name:13}{len(X.schema):3}{row[5]:6.0f}{n_chosen[-1]:6}  {chosen}")
    plots.network(model).save(out / f"network_{name}.png")
print(f"networks -> {out / 'network_NAME.png'}")

# %%
# A second table: all bundled classification tables, with missing values as categories. Accuracy
# with Wilson's interval; marks are those of the corrected t test against naive Bayes.
compared = {name: learners[name] for name in ("NB", "NB-TM+", "TAN", "TAN-TM+", "sTM+")}
loaded = {name: datasets.load(name) for name in BUNDLED}
bundled = compare(
    compared,
    {name.replace("_original", ""): (data.table, data.y) for name, data in loaded.items()},
    protocol=DealtFolds(N_FOLDS),
    journal=journal,
)
print("\nAll bundled tables")
print(summarize(bundled, control="NB"))
print(rank_learners(bundled))
plots.rank_diagram(bundled, "accuracy").save(out / "discriminative_ranks.png")
print(f"average ranks -> {out / 'discriminative_ranks.png'}")

# %%
# What the numbers answer. Wilcoxon's test is over the tables. Its p-values are optimistic, because
# cleve and heart have patients in common, and the ridge of 3 was chosen on these tables.
print("\nAnswers")
for trained, control in (("NB-TM", "NB"), ("NB-TM+", "NB"), ("TAN-TM", "TAN"), ("TAN-TM+", "TAN")):
    difference = accuracy[trained] - accuracy[control]
    p = wilcoxon_test(accuracy[trained], accuracy[control]).p_value
    print(
        f"{trained} against {control}: {difference.mean():+.1f} points, better on "
        f"{np.sum(difference > 0)} of {len(tables)} tables and worse on {np.sum(difference < 0)}, "
        f"p = {p:.3f} (Wilcoxon, over tables)."
    )
share = np.mean([n / len(X.schema) for n, (X, _) in zip(n_chosen, tables.values(), strict=True)])
change = accuracy["sTM+"].mean() - accuracy["NB-TM+"].mean()
print(
    f"Structural TM takes {min(n_chosen)} to {max(n_chosen)} columns, {share:.0%} of those of a "
    f"table on average, and its accuracy differs by {change:+.1f} points from that of NB-TM+. It "
    f"takes as many as in the talk on {np.sum(talk[:, 5] == n_chosen)} of {len(tables)} tables."
)
for learner, (held_out, fitted) in distances.items():
    closer = "cross-validation" if held_out < fitted else "the accuracy on training rows"
    closer = closer if abs(held_out - fitted) > 0.5 else "neither"
    print(
        f"The talk's {learner} is closer to {closer}: its median distance is {held_out:.2f} points "
        f"from cross-validation, and {fitted:.2f} from the accuracy on training rows."
    )
means = {
    name: np.array([bundled.mean("accuracy", data.name, name) for data in bundled.datasets])
    for name in compared
}
best = max(means, key=lambda name: means[name].mean())
n_best = np.sum(means[best] == np.max(list(means.values()), axis=0))
print(
    f"On the bundled tables {best} has the highest mean accuracy, {means[best].mean():.3f}, and "
    f"the highest of all learners on {n_best} of {len(bundled.datasets)} tables."
)
print(f"{perf_counter() - start:.0f} seconds; folds are kept in {journal}")
