"""Criteria that weigh how well a mixture fits against how many numbers it takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from ceiba.mixture.form import Form


def n_parameters(form: Form, k: int, d: int) -> int:
    """Free parameters of a mixture: weights, means and covariances."""
    return k - 1 + k * d + form.numbers(k, d)


@dataclass(frozen=True, slots=True)
class Criteria:
    """AIC, BIC and ICL of one mixture on some rows; less is better.

    Parameters
    ----------
    log_likelihood : float
    n_parameters : int
    weight : float
        Weight of the rows: their number, unless they are weighted.
    entropy : float
        Of the rows' posteriors.

    References
    ----------
    Akaike (1974), "A new look at the statistical model identification", IEEE TAC 19.
    Schwarz (1978), "Estimating the dimension of a model", Annals of Statistics 6.
    Biernacki, Celeux & Govaert (2000), "Assessing a mixture model for clustering with the
    integrated completed likelihood", IEEE PAMI 22.
    """

    log_likelihood: float
    n_parameters: int
    weight: float
    entropy: float = 0.0

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's Bayesian information criterion."""
        return self.n_parameters * log(self.weight) - 2.0 * self.log_likelihood

    @property
    def icl(self) -> float:
        """Integrated completed likelihood: BIC, and twice the entropy of the posteriors."""
        return self.bic + 2.0 * self.entropy
