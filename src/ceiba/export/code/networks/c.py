"""C code of a network: C99 functions of an array of doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ceiba._typing import Array
from ceiba.export.checks import check_float64_threshold
from ceiba.export.code.languages.c import comment_text, double_literal, head
from ceiba.export.code.networks.model import REFUSED, CodeNetwork


def c_code(network: CodeNetwork) -> str:
    """Return C functions ``predict`` and ``predict_proba``."""
    parts = [head(network.title, network.schema, network.classes), _priors(network)]
    if network.features:
        parts += [*_codes(network), *_tables(network)]
        parts += _messages(network) if network.sends_messages else [_lookups(network)]
    parts += [*_densities(network), _predict_proba(network), _predict(network)]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _priors(network: CodeNetwork) -> list[str]:
    return [f"static const double log_priors[N_CLASSES] = {_array(network.bias)};"]


def _codes(network: CodeNetwork) -> list[list[str]]:
    """Return functions that fill the codes of the columns."""
    lines = []
    for j, feature in enumerate(network.features):
        note = f"  /* {comment_text(feature.column.name)} */"
        x = f"x[{feature.index}]"
        if not feature.is_numeric:
            n = len(feature.column.categories)
            lines.append(f"    codes[{j}] = category({x}, {n});{note}")
            continue
        for threshold in feature.thresholds:
            check_float64_threshold(feature.column, threshold, "C compares doubles")
        n = len(feature.thresholds)
        values = [float(threshold) for threshold in feature.thresholds]
        lines += [
            f"    static const double thresholds_{j}[{max(n, 1)}] = {_array(values or [0.0])};",
            f"    codes[{j}] = interval({x}, thresholds_{j}, {n});{note}",
        ]
    category = [
        "static int category(double x, int n) {",
        "    return x >= 0 && x < n && x == (int)x ? (int)x : n;",
        "}",
    ]
    interval = [
        "static int interval(double x, const double *thresholds, int n) {",
        "    int code = 0;",
        "    if (isnan(x)) return n + 1;",
        "    while (code < n && x >= thresholds[code]) ++code;",
        "    return code;",
        "}",
    ]
    numeric = [feature.is_numeric for feature in network.features]
    return [
        ["/* A missing value, or no category, has the code after the last category. */"]
        + (category if not all(numeric) else [])
        + (interval if any(numeric) else []),
        ["static void encode(const double *x, int *codes) {", *lines, "}"],
    ]


def _tables(network: CodeNetwork) -> list[list[str]]:
    """Return the log probabilities of each class, by the codes of parents and column."""
    parts = []
    for f, family in enumerate(network.families):
        table = family.known_table if network.sends_messages else family.table
        rows = table.reshape(-1, table.shape[-1])
        parts.append(
            [
                f"static const double table_{f}[{len(rows)}][N_CLASSES] = {{",
                *(f"    {_array(row)}," for row in rows),
                "};",
            ]
        )
    return parts


def _lookups(network: CodeNetwork) -> list[str]:
    """Return a function that adds one row of each table."""
    lines = []
    for f, family in enumerate(network.families):
        index = ""
        for j in family.members:
            n = network.features[j].n_codes
            index = f"({index}) * {n} + codes[{j}]" if index else f"codes[{j}]"
        lines.append(f"    add(scores, table_{f}[{index}]);")
    note = [f"/* NaN where {REFUSED}. */"] if network.refuses_missing else []
    return [
        "static void add(double *scores, const double *row) {",
        "    for (int k = 0; k < N_CLASSES; ++k) scores[k] += row[k];",
        "}",
        "",
        *note,
        "static void add_log_probabilities(const double *x, double *scores) {",
        *_encode(network),
        *lines,
        "}",
    ]


def _encode(network: CodeNetwork) -> list[str]:
    return [f"    int codes[{len(network.features)}];", "    encode(x, codes);"]


def _messages(network: CodeNetwork) -> list[list[str]]:
    """Return functions that sum over missing values by messages from children to parents."""
    n_known = [feature.n_codes - 1 for feature in network.features]
    starts = [sum(n_known[:j]) for j in range(len(n_known))]
    lines = []
    for f, family in reversed(list(enumerate(network.families))):
        j = family.feature
        own = f"codes[{j}], {n_known[j]}, messages + {starts[j]}"
        target = "0, 1, scores + k"
        if family.parents:
            p = family.parents[0]
            target = f"codes[{p}], {n_known[p]}, messages + {starts[p]}"
        lines.append(f"        send_message(table_{f}, k, {own}, {target});")
    return [
        [
            "/* Add the log probability of a column, and of all below it, to each category of its",
            " * parent. A missing value, of code n, may be each of the n categories. */",
            "static void send_message(const double (*table)[N_CLASSES], int k, int code, int n,",
            "                         const double *below, int given, int n_given,",
            "                         double *target) {",
            "    int first = code < n ? code : 0, end = code < n ? code + 1 : n;",
            "    int last = given < n_given ? given : n_given - 1;",
            "    for (int row = given < n_given ? given : 0; row <= last; ++row) {",
            "        double top = -INFINITY, sum = 0.0;",
            "        for (int c = first; c < end; ++c)",
            "            top = fmax(top, table[row * n + c][k] + below[c]);",
            "        for (int c = first; c < end; ++c)",
            "            sum += exp(table[row * n + c][k] + below[c] - top);",
            "        target[row] += top + log(sum);",
            "    }",
            "}",
        ],
        [
            "static void add_log_probabilities(const double *x, double *scores) {",
            *_encode(network),
            "    for (int k = 0; k < N_CLASSES; ++k) {",
            f"        double messages[{sum(n_known)}] = {{0.0}};",
            *lines,
            "    }",
            "}",
        ],
    ]


def _densities(network: CodeNetwork) -> list[list[str]]:
    parts = []
    if network.normals:
        parts.append(
            [
                "static void add_normal(double *scores, double x, const double *mean,",
                "                       const double *factor, const double *constant) {",
                "    for (int k = 0; !isnan(x) && k < N_CLASSES; ++k) {",
                "        double z = (x - mean[k]) * factor[k];",
                "        scores[k] += constant[k] - z * z;",
                "    }",
                "}",
            ]
        )
    if network.counts:
        parts.append(
            [
                "/* NaN for a number that is no count. */",
                "static void add_count(double *scores, double x, const double *log_rate,",
                "                      const double *rate) {",
                "    for (int k = 0; !isnan(x) && k < N_CLASSES; ++k)",
                "        scores[k] += x < 0 || fmod(x, 1.0) != 0 ? NAN",
                "                                                 : x * log_rate[k] - rate[k];",
                "}",
            ]
        )
    return parts


def _predict_proba(network: CodeNetwork) -> list[str]:
    lines = [
        "    double scores[N_CLASSES], top = -INFINITY, sum = 0.0;",
        "    for (int k = 0; k < N_CLASSES; ++k) scores[k] = log_priors[k];",
    ]
    if network.features:
        lines.append("    add_log_probabilities(x, scores);")
    elif not network.has_densities:
        lines.append("    (void)x;")
    for i, normal in enumerate(network.normals):
        arrays = {"mean": normal.mean, "factor": normal.factor, "constant": normal.constant}
        lines += _constants(arrays, i)
        names = ", ".join(f"{name}_{i}" for name in arrays)
        lines.append(f"    add_normal(scores, x[{normal.index}], {names});")
    for i, count in enumerate(network.counts):
        lines += _constants({"log_rate": count.log_rate, "rate": count.rate}, i)
        lines.append(f"    add_count(scores, x[{count.index}], log_rate_{i}, rate_{i});")
    note = "/* Fill the probability of each class. */"
    if network.refuses_missing or network.counts:
        note = "/* Fill the probability of each class; NaN for a row that is refused. */"
    if network.has_densities:
        lines += [
            "    /* Values so far away that every density is zero: the frequencies. */",
            "    int lost = 1;",
            "    for (int k = 0; k < N_CLASSES; ++k) lost = lost && isinf(scores[k]);",
            "    for (int k = 0; lost && k < N_CLASSES; ++k) scores[k] = log_priors[k];",
        ]
    return [
        note,
        "void predict_proba(const double *x, double *probabilities) {",
        *lines,
        "    for (int k = 0; k < N_CLASSES; ++k) top = fmax(top, scores[k]);",
        "    for (int k = 0; k < N_CLASSES; ++k) sum += probabilities[k] = exp(scores[k] - top);",
        "    for (int k = 0; k < N_CLASSES; ++k) probabilities[k] /= sum;",
        "}",
    ]


def _constants(arrays: dict[str, list[float]], i: int) -> list[str]:
    return [
        f"    static const double {name}_{i}[N_CLASSES] = {_array(values)};"
        for name, values in arrays.items()
    ]


def _predict(network: CodeNetwork) -> list[str]:
    refuses = network.refuses_missing or bool(network.counts)
    note = "; -1 for a row that is refused" if refuses else ""
    return [
        f"/* Return the index of the predicted class{note}. */",
        "int predict(const double *x) {",
        "    double p[N_CLASSES];",
        "    int best = 0;",
        "    predict_proba(x, p);",
        *(["    if (isnan(p[0])) return -1;"] if refuses else []),
        "    for (int k = 1; k < N_CLASSES; ++k) if (p[k] > p[best]) best = k;",
        "    return best;",
        "}",
    ]


def _array(values: Sequence[float] | Array) -> str:
    texts = ("NAN" if math.isnan(value) else double_literal(value) for value in values)
    return f"{{{', '.join(texts)}}}"
