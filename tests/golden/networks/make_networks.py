"""Write the golden files of the network exchange, with pgmpy and pyAgrum.

    pip install pgmpy pyagrum hypothesis
    PYTHONPATH=src:. python -m tests.golden.networks.make_networks

Both programs read what Ceiba writes, write it again in both formats, and compute posteriors.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from ceiba.bayes import write_network
from tests.bayes.exchange.networks import asia, random_network

FOLDER = Path(__file__).parent


def queries(network, number):
    """Draw variables with three observed ones each."""
    rng = np.random.default_rng(0)
    for _ in range(number):
        target, *observed = rng.choice(len(network.variables), 4, replace=False).tolist()
        states = {v: network.states[v] for v in observed}
        evidence = {network.variables[v]: str(rng.choice(states[v])) for v in observed}
        yield network.variables[target], evidence


def posteriors(network, path):
    """Compute the posteriors of a network by both programs, in the order of its states."""
    import pyagrum
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import XMLBIFReader

    by_pgmpy = VariableElimination(XMLBIFReader(str(path)).get_model())
    by_pyagrum = pyagrum.LazyPropagation(pyagrum.loadBN(str(path)))
    rows = []
    for name, evidence in queries(network, 12):
        by_pyagrum.setEvidence(evidence)
        try:
            by_pyagrum.makeInference()
            other = by_pyagrum.posterior(name)
        except pyagrum.IncompatibleEvidence:
            continue
        found = by_pgmpy.query([name], evidence=evidence, show_progress=False)
        states = network.states[network.variables.index(name)]
        labels = other.variable(0).labels()
        rows.append(
            {
                "variable": name,
                "evidence": evidence,
                "pgmpy": [float(found.get_value(**{name: state})) for state in states],
                "pyagrum": [float(other.toarray()[labels.index(state)]) for state in states],
            }
        )
    return rows


def main():
    """Write all golden files."""
    import pgmpy
    import pyagrum
    from pgmpy.readwrite import BIFReader, BIFWriter, XMLBIFWriter

    found = {}
    for network in (asia(), random_network(50, 3)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "network.bifxml")
            write_network(network, path)
            write_network(network, path.with_suffix(".bif"))
            found[network.name] = posteriors(network, path)
            if network.name == "asia":
                model = BIFReader(str(path.with_suffix(".bif"))).get_model()
                BIFWriter(model).write(str(FOLDER / "asia_pgmpy.bif"))
                XMLBIFWriter(model).write(str(FOLDER / "asia_pgmpy.xml"))
                other = pyagrum.loadBN(str(path))
                pyagrum.saveBN(other, str(FOLDER / "asia_pyagrum.bif"))
                pyagrum.saveBN(other, str(FOLDER / "asia_pyagrum.bifxml"))
    versions = {"pgmpy": pgmpy.__version__, "pyagrum": pyagrum.__version__}
    text = json.dumps({"versions": versions, "posteriors": found}, indent=1)
    (FOLDER / "posteriors.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
