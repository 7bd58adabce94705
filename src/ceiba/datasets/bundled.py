"""Tables that are part of the package, as NumPy archives in ``tables/``.

`tools/pack_tables.py` writes the archives from CSV files, with the declared kinds of their columns.
"""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.datasets.dataset import CatalogEntry, LoadedTable, Origin, Task


def load_archive(name: str) -> LoadedTable:
    """Load the archive of a bundled table."""
    with (
        files("ceiba.datasets").joinpath("tables", f"{name}.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        arrays = dict(archive)
    schema = Schema.from_json(json.loads(arrays["schema"].tobytes()))
    if "matrix" in arrays:
        table = Table.of(arrays["matrix"], schema)
    else:
        columns = [arrays[f"column_{j}"] for j in range(len(schema))]
        table = Table.from_columns(columns, schema)
    row_names = arrays.get("row_names", np.array([], "U"))
    return LoadedTable(table, arrays["target"], tuple(row_names.tolist()))


def _entry(name: str, description: str, citation: str, **more: Any) -> CatalogEntry:
    load = partial(load_archive, name)
    return CatalogEntry(name, Origin.BUNDLED, description, citation, load, **more)


def _uci(authors: str, year: int, title: str, doi: str) -> str:
    return f"{authors} ({year}). {title}. UCI Machine Learning Repository. doi:{doi}"


ENTRIES = (
    _entry(
        "cleveland",
        "Thirteen findings in 303 patients of a Cleveland clinic; class 1 means a narrowed "
        "coronary artery. Numbers, names, an ordered column and six missing values in one small "
        "table: good for comparing learners on mixed data and for errors of unequal cost.",
        _uci(
            "Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R.",
            1989,
            "Heart Disease",
            "10.24432/C52P4X",
        ),
    ),
    _entry(
        "crx",
        "690 applications for a credit card, granted (+) or not (-); names and values were made "
        "meaningless to keep them confidential. Nine nominal columns, one with fourteen "
        "categories, and 67 missing values in both kinds of column: good for missing values and "
        "for gain ratio against gain.",
        _uci("Quinlan, J. R.", 1987, "Credit Approval", "10.24432/C5FS30"),
    ),
    _entry(
        "lymphography",
        "Eighteen findings in lymphographies of 148 patients and one of four diagnoses, two of "
        "which are very rare (4 and 2 patients). Good for smoothing in Bayesian classifiers and "
        "for what stratified folds can and cannot do.",
        _uci("Zwitter, M. & Soklic, M.", 1988, "Lymphography", "10.24432/C54598"),
    ),
    _entry(
        "vote",
        "Sixteen votes of the 435 members of the US House of Representatives in 1984, and their "
        "party. A missing value is the source's '?', a vote that was neither yea nor nay: a kind "
        "of answer rather than an unknown one. One vote nearly decides the party, and the "
        "correlated rest make naive Bayes overconfident.",
        _uci("Schlimmer, J.", 1987, "Congressional Voting Records", "10.24432/C5C01P"),
    ),
    _entry(
        "car",
        "All 1728 combinations of six ordered properties of a car and the rating of each by "
        "an expert model, without noise. Good for trees that recover the model, for ordinal "
        "against nominal splits, and for classes of very unequal size.",
        _uci("Bohanec, M.", 1988, "Car Evaluation", "10.24432/C5JP48"),
    ),
    _entry(
        "glass",
        "Refractive index and eight oxides of 214 fragments of glass and the type of glass they "
        "came from (1 to 3 and 5 to 7; no fragment is of type 4). Six overlapping classes of "
        "unequal size: good for nearest neighbors, forests and confusion matrices.",
        _uci("German, B.", 1987, "Glass Identification", "10.24432/C5WW2P"),
    ),
    _entry(
        "tic_tac_toe",
        "The 958 boards on which a game of tic-tac-toe begun by x can end; class p where x has "
        "won. The rule is eight lines of three, and part of a line is little evidence: good for "
        "showing replicated subtrees and what boosting or pairs of attributes add.",
        _uci("Aha, D.", 1991, "Tic-Tac-Toe Endgame", "10.24432/C5688J"),
    ),
    _entry(
        "monks1",
        "Robots by head shape (a), body shape (b), smile (c), what they hold (d), jacket color "
        "(e) and tie (f): the 124 training rows and the 432 of the whole domain, 556 together. "
        "The class is 1 where a = b or e = 1: good for concepts that no single column indicates.",
        "Thrun, S. B. et al. (1991). The MONK's Problems: A performance comparison of different "
        "learning algorithms. Report CS-CMU-91-197, Carnegie Mellon University; UCI Machine "
        "Learning Repository (MONK's Problems).",
    ),
    _entry(
        "balance_scale",
        "A balance with a weight at a distance on each side, all 625 combinations of whole numbers "
        "1 to 5; it tips left (L), right (R) or balances (B) by the larger product. The columns "
        "are numeric, as the rule multiplies them; a tree uses only their order. Good for "
        "interactions, which naive Bayes and small trees miss.",
        _uci("Siegler, R.", 1976, "Balance Scale", "10.24432/C5488X"),
    ),
    _entry(
        "titanic",
        "The 2201 people on board the Titanic by status (first, second, third class or crew), age "
        "and sex, and whether they survived. Only fourteen combinations of the three occur: good "
        "for counted probabilities, conditional independence and association rules by hand.",
        "Dawson, R. J. MacG. (1995). The 'unusual episode' data revisited. Journal of Statistics "
        "Education 3(3). doi:10.1080/10691898.1995.11910499",
    ),
    _entry(
        "zoo",
        "101 animals by fifteen yes/no properties and their number of legs, in seven classes. "
        "Some classes have one property that identifies them (milk, feathers), some have none: "
        "good for rules, multiway trees and clustering of nominal data.",
        _uci("Forsyth, R.", 1990, "Zoo", "10.24432/C5R59V"),
    ),
    _entry(
        "vehicle",
        "Eighteen shape measures of the silhouettes of four model vehicles (bus, van, Opel, Saab) "
        "seen from many angles, 846 views. The two cars are hard to tell apart and the columns "
        "strongly correlated: good for Gaussian classifiers against trees.",
        _uci(
            "Mowforth, P. & Shepherd, B.",
            1987,
            "Statlog (Vehicle Silhouettes)",
            "10.24432/C5HG6N",
        ),
    ),
    _entry(
        "auto_mpg",
        "Miles per gallon of 398 cars of 1970 to 1982 by engine, weight, year and origin (1 USA, "
        "2 Europe, 3 Japan); six horsepowers are missing. The cars' names identify rows and are "
        "kept as row names, not as an attribute. Good for a first regression tree with a curved "
        "relation in it.",
        _uci("Quinlan, R.", 1993, "Auto MPG", "10.24432/C5859H"),
        target="mpg",
        task=Task.REGRESSION,
    ),
    _entry(
        "automobiles",
        "Price of cars imported in 1985 by 25 properties, ten of them nominal (the make has 22 "
        "categories). Of the source's 205 cars the 4 without a price are left out, which leaves "
        "201 rows and 51 missing values. Good for regression on mixed columns with missing "
        "values, and for attributes with many categories.",
        _uci("Schlimmer, J.", 1985, "Automobile", "10.24432/C5B01C"),
        target="price",
        task=Task.REGRESSION,
    ),
    _entry(
        "servo",
        "Rise time of a servomechanism by motor, screw and two gain settings, 167 simulations. "
        "Strongly non-linear and all nominal: good for regression trees and for what boosting "
        "adds to them.",
        _uci("Ulrich, K.", 1986, "Servo", "10.24432/C5Q30F"),
        target="rise_time",
        task=Task.REGRESSION,
    ),
    _entry(
        "german_credit",
        "Twenty facts about each of 1000 borrowers of a German bank, good or bad risks; the "
        "categories are the source's codes (A11 and so on). Its authors set the cost of a bad "
        "risk taken for good to five times that of the reverse: good for costs, thresholds and "
        "fairness.",
        _uci("Hofmann, H.", 1994, "Statlog (German Credit Data)", "10.24432/C5NC77"),
    ),
    _entry(
        "hepatitis",
        "Nineteen findings in 155 patients with hepatitis, and whether they lived; the two-valued "
        "columns keep the source's codes 1 and 2. One value in eighteen is missing, and nearly "
        "half of the prothrombin times: good for comparing policies for missing values.",
        _uci("Gong, G. (donor)", 1983, "Hepatitis", "10.24432/C5Q59J"),
    ),
    _entry(
        "breast_cancer_wisconsin_original",
        "Nine cytological scores from 1 to 10 of 699 breast tumors, benign or malignant; 16 "
        "scores of bare nuclei are missing. Nearly every learner does well: good for intervals "
        "and tests of whether a small difference is significant.",
        _uci("Wolberg, W.", 1990, "Breast Cancer Wisconsin (Original)", "10.24432/C5HP4Z"),
    ),
)
