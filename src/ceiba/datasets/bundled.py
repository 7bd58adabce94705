"""The tables that travel with the package, as compressed text files in ``tables/``."""

from __future__ import annotations

import gzip
from functools import partial
from importlib.resources import files
from pathlib import Path

from ceiba.data.schema import Kind
from ceiba.datasets.entry import Entry, Rows, Source, Task
from ceiba.datasets.text_table import Columns, read_rows

# SHA-256 of each table as plain CSV. tools/pack_tables.py refuses a file that differs.
SHA256 = {
    "auto_mpg": "d701eae2d7b420ca535362a098b36885376e107e4cd4c2b4929f0678a4372be3",
    "automobiles": "1a944fc35cd763ed65271ef247aac0ae41563babd3f99172ec9a29fcdf6fd3bf",
    "balance_scale": "4db0be97b6ca2474dd321c41382b97efe454c5441e6639a40f3a813965883134",
    "breast_cancer_wisconsin_original": (
        "1a418397ff52759fdc3afe718d6565957f669fd5ab985bfd8f152d68973906a9"
    ),
    "car": "34bf415672fe458905066990a49629adaa0c019ce01ac2faaaeb613166fd1fb0",
    "cleveland": "543f7e70962f0c09dcea7a45bd996bf4643f4f15bdf7046a684176ebcffb2201",
    "crx": "2efc16946d6633aef1f1bd2765d7d209d4684504e4a29fb5f86137c5c9ba8aaf",
    "german_credit": "4d4f1ca0eb9042ccaaf5ac186687a5d8c205e90d0465b7e2b1502d9e2a975437",
    "glass": "32463121e9b48c4717c636dc1e5a1dc961bdbad868ac218bfd6f77e6791b5ae9",
    "hepatitis": "7fb6f2cb00dbe49ff6aa47a0418b9142c3e7b0f11ff52a5b247859333132b69e",
    "lymphography": "8aef82ce8dd6590a90bf0a2335c996b45f5e196856b08ee518ee23a5cb3912c6",
    "monks1": "355cd2a4ee889c0c1b2ec02a84367f1f2cab50fefb9e9be2d0613a32556bf5a5",
    "servo": "c84cabb67b95c96fb1cecaf6de3ca64b312db3acc00eac9cbcb9901a7ff9e8eb",
    "tic_tac_toe": "a2de0094bc7ac0fafdd94f19003677ea827b2d510c504842c75aa8b6e5051ce2",
    "titanic": "7b6dab2b5783a215692ab4224ec724878ae8be131de6a013ce25bae026a76226",
    "vehicle": "0ec37a40aaec1b492c4c41da2fcaf9e0bf0e40ef69c2bb6b9ab11d116e261671",
    "vote": "6e69301fcac51ca0955c9797763ea320bb33f5379495fb15b14ba512e202d56b",
    "zoo": "647902b72ee83f89c2844b0d462e232bcc733eecf24a46543474dc52e1ab73d4",
}


def content(name: str) -> bytes:
    """Plain CSV of the bundled table ``name``, uncompressed."""
    packed = files("ceiba.datasets").joinpath("tables", f"{name}.csv.gz").read_bytes()
    return gzip.decompress(packed)


def _read(name: str, columns: Columns) -> Rows:
    return read_rows(content(name), columns, Path(f"{name}.csv"))


def _entry(name: str, columns: Columns, description: str, citation: str) -> Entry:
    make = partial(_read, name, columns)
    return Entry(name, Source.BUNDLED, columns.task, columns.target, description, citation, make)


def _uci(authors: str, year: int, title: str, doi: str) -> str:
    return f"{authors} ({year}). {title}. UCI Machine Learning Repository. doi:{doi}"


_PRICES = ("low", "med", "high", "v-high")

ENTRIES = (
    _entry(
        "cleveland",
        Columns(
            "class",
            nominal=(
                "gender",
                "chest_pain",
                "fasting_blood_sugar_120",
                "rest_ecg",
                "exerc_ind_ang",
                "thal",
            ),
            ordinal={"slope_peak_exc_st": ("upsloping", "flat", "downsloping")},
        ),
        "Thirteen findings in 303 patients of a Cleveland clinic; class 1 means a narrowed "
        "coronary artery. Numbers, names, an ordered column and six gaps in one small table: good "
        "for comparing learners on mixed data and for errors of unequal cost.",
        _uci(
            "Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R.",
            1989,
            "Heart Disease",
            "10.24432/C52P4X",
        ),
    ),
    _entry(
        "crx",
        Columns("class", nominal=("a1", "a4", "a5", "a6", "a7", "a9", "a10", "a12", "a13")),
        "690 applications for a credit card, granted (+) or not (-); names and values were made "
        "meaningless to keep them confidential. Nine nominal columns, one with fourteen levels, "
        "and 67 gaps in both kinds of column: good for gaps and for gain ratio against gain.",
        _uci("Quinlan, J. R.", 1987, "Credit Approval", "10.24432/C5FS30"),
    ),
    _entry(
        "lymphography",
        Columns("class", rest=Kind.NOMINAL, numeric=("lym_dimin", "lym_enlar", "no_nodes")),
        "Eighteen findings in lymphographies of 148 patients and one of four diagnoses, two of "
        "which are very rare (4 and 2 patients). Good for smoothing in Bayesian classifiers and "
        "for what stratified folds can and cannot do.",
        _uci("Zwitter, M. & Soklic, M.", 1988, "Lymphography", "10.24432/C54598"),
    ),
    _entry(
        "vote",
        Columns("class", rest=Kind.NOMINAL),
        "Sixteen votes of the 435 members of the US House of Representatives in 1984, and their "
        "party. A gap is the source's '?': a vote that was neither yea nor nay, so a kind of "
        "answer rather than an unknown one. One vote nearly decides the party, and the correlated "
        "rest make naive Bayes overconfident.",
        _uci("Schlimmer, J.", 1987, "Congressional Voting Records", "10.24432/C5C01P"),
    ),
    _entry(
        "car",
        Columns(
            "class",
            ordinal={
                "buying": _PRICES,
                "maint": _PRICES,
                "doors": ("2", "3", "4", "5-more"),
                "persons": ("2", "4", "more"),
                "lugboot": ("small", "med", "big"),
                "safety": ("low", "med", "high"),
            },
        ),
        "All 1728 combinations of six ordered properties of a car and the verdict of an expert "
        "model on each, without noise. Good for trees that grow to the truth, for ordinal against "
        "nominal splits, and for classes of very unequal size.",
        _uci("Bohanec, M.", 1988, "Car Evaluation", "10.24432/C5JP48"),
    ),
    _entry(
        "glass",
        Columns("class"),
        "Refractive index and eight oxides of 214 splinters of glass and the kind of glass they "
        "came from (1 to 3 and 5 to 7; no splinter is of kind 4). Six overlapping classes of "
        "unequal size: good for neighbours, forests and confusion matrices.",
        _uci("German, B.", 1987, "Glass Identification", "10.24432/C5WW2P"),
    ),
    _entry(
        "tic_tac_toe",
        Columns("class", rest=Kind.NOMINAL),
        "The 958 boards on which a game of tic-tac-toe begun by x can end; class p where x has "
        "won. The rule is eight lines of three, and part of a line says little: good for showing "
        "replicated subtrees and what boosting or pairs of attributes add.",
        _uci("Aha, D.", 1991, "Tic-Tac-Toe Endgame", "10.24432/C5688J"),
    ),
    _entry(
        "monks1",
        Columns("class", rest=Kind.NOMINAL),
        "Robots by head shape (a), body shape (b), smile (c), what they hold (d), jacket colour "
        "(e) and tie (f): the 124 training rows and the 432 of the whole domain, 556 together. "
        "The class is 1 where a = b or e = 1: good for concepts that no single column hints at.",
        "Thrun, S. B. et al. (1991). The MONK's Problems: A performance comparison of different "
        "learning algorithms. Report CS-CMU-91-197, Carnegie Mellon University; UCI Machine "
        "Learning Repository (MONK's Problems).",
    ),
    _entry(
        "balance_scale",
        Columns("class"),
        "A balance with a weight at a distance on each side, all 625 combinations of whole numbers "
        "1 to 5; it tips left (L), right (R) or stays level (B) by the larger product. The columns "
        "are numeric, as the law multiplies them; their order is all that a tree uses. Good for "
        "interactions, which naive Bayes and small trees miss.",
        _uci("Siegler, R.", 1976, "Balance Scale", "10.24432/C5488X"),
    ),
    _entry(
        "titanic",
        Columns("class", rest=Kind.NOMINAL),
        "The 2201 people on board the Titanic by status (first, second, third class or crew), age "
        "and sex, and whether they survived. Only fourteen combinations of the three occur: good "
        "for counted probabilities, conditional independence and association rules by hand.",
        "Dawson, R. J. MacG. (1995). The 'unusual episode' data revisited. Journal of Statistics "
        "Education 3(3). doi:10.1080/10691898.1995.11910499",
    ),
    _entry(
        "zoo",
        Columns("class", rest=Kind.NOMINAL, numeric=("legs",)),
        "101 animals by fifteen yes/no properties and their number of legs, in seven classes. "
        "Some classes have one property that tells them (milk, feathers) and some have none: good "
        "for rules, multiway trees and clustering of nominal data.",
        _uci("Forsyth, R.", 1990, "Zoo", "10.24432/C5R59V"),
    ),
    _entry(
        "vehicle",
        Columns("class"),
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
        Columns("mpg", Task.REGRESSION, nominal=("origin",), row_names="car_name"),
        "Miles per gallon of 398 cars of 1970 to 1982 by engine, weight, year and origin (1 USA, "
        "2 Europe, 3 Japan); six horsepowers are missing. The cars' names identify rows and are "
        "kept as row names, not as an attribute. Good for a first regression tree with a curved "
        "relation in it.",
        _uci("Quinlan, R.", 1993, "Auto MPG", "10.24432/C5859H"),
    ),
    _entry(
        "automobiles",
        Columns(
            "price",
            Task.REGRESSION,
            nominal=(
                "make",
                "fuel_type",
                "aspiration",
                "num_of_doors",
                "body_style",
                "drive_wheels",
                "engine_location",
                "engine_type",
                "num_of_cylinders",
                "fuel_system",
            ),
        ),
        "Price of cars imported in 1985 by 25 properties, ten of them nominal (the make has 22 "
        "levels). Of the source's 205 cars the 4 without a price are left out, which leaves 201 "
        "rows and 51 gaps. Good for regression on mixed columns with gaps, and for attributes "
        "with many levels.",
        _uci("Schlimmer, J.", 1985, "Automobile", "10.24432/C5B01C"),
    ),
    _entry(
        "servo",
        Columns("rise_time", Task.REGRESSION, rest=Kind.NOMINAL),
        "Rise time of a servomechanism by motor, screw and two gain settings, 167 simulations. "
        "Strongly non-linear and all nominal: good for regression trees and for what boosting "
        "adds to them.",
        _uci("Ulrich, K.", 1986, "Servo", "10.24432/C5Q30F"),
    ),
    _entry(
        "german_credit",
        Columns(
            "class",
            rest=Kind.NOMINAL,
            numeric=(
                "duration",
                "credit_amount",
                "installment_rate",
                "residence_since",
                "age",
                "existing_credits",
                "num_dependents",
            ),
        ),
        "Twenty facts about each of 1000 borrowers of a German bank, good or bad risks; levels "
        "are the source's codes (A11 and so on). Its makers count a bad risk taken for good five "
        "times as dear as the reverse: good for costs, thresholds and questions of fairness.",
        _uci("Hofmann, H.", 1994, "Statlog (German Credit Data)", "10.24432/C5NC77"),
    ),
    _entry(
        "hepatitis",
        Columns(
            "class",
            rest=Kind.NOMINAL,
            numeric=("age", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime"),
        ),
        "Nineteen findings in 155 patients with hepatitis, who died or lived; the two-valued "
        "columns keep the source's codes 1 and 2. One field in eighteen is a gap and nearly half "
        "of the prothrombin times are: good for comparing ways to treat gaps.",
        _uci("Gong, G. (donor)", 1983, "Hepatitis", "10.24432/C5Q59J"),
    ),
    _entry(
        "breast_cancer_wisconsin_original",
        Columns("class"),
        "Nine cytological scores from 1 to 10 of 699 breast tumours, benign or malignant; 16 "
        "scores of bare nuclei are missing. Nearly every learner does well: good for intervals "
        "and tests that say whether a small difference means anything.",
        _uci(
            "Wolberg, W.",
            1990,
            "Breast Cancer Wisconsin (Original)",
            "10.24432/C5HP4Z",
        ),
    ),
)
