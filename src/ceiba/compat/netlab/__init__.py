"""Netlab's mixture functions under their own names.

An old script needs new imports only. Arguments, their order and their meaning are those of Nabney's
MATLAB toolbox, on top of Ceiba's own mixture and k-means. Differences in Python:

- Indices start at 0: ``options(14)`` is ``options[13]``, and the labels of `gmmsamp` are 0, 1, ...
- Every output is always returned: ``mix = gmmem(mix, x, options)`` becomes
  ``mix, options, errlog = gmmem(mix, x, options)``. No argument is changed.
- A vector has one axis: ``mix.priors``, spherical ``mix.covars``, ``options``, ``errlog`` and
  densities. Matrices keep Netlab's shapes, so that ``mix.covars(:, :, j)`` is
  ``mix.covars[:, :, j]``. An argument may be a row of a matrix, or a list.
- ``lambda`` is a keyword of Python: the field is ``mix.lambda_``.
- Random numbers come from NumPy's global state, so that ``numpy.random.seed(42)`` replaces
  ``randn('state', 42)``; or pass ``random_state``. The numbers themselves are not MATLAB's.
- Where MATLAB would continue with NaN, an error names the remedy.

`ceiba.GaussianMixture` does more: missing values, weights, other forms of covariance, several
initializations, large files.

Examples
--------
>>> from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmpost
>>> x = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]]
>>> options = foptions()
>>> options[0], options[13] = -1, 10
>>> mix = gmm(1, 2, "diag", random_state=0)
>>> mix = gmminit(mix, x, options, random_state=0)
>>> mix, options, errlog = gmmem(mix, x, options)
>>> sorted(mix.centres[:, 0].round(3).tolist())
[0.2, 5.2]

References
----------
Nabney (2002), "NETLAB: Algorithms for Pattern Recognition", Springer.
"""

from ceiba.compat.netlab.density import gmmactiv, gmmpost, gmmprob, gmmsamp
from ceiba.compat.netlab.em import gmmem
from ceiba.compat.netlab.inputs import foptions
from ceiba.compat.netlab.kmeans import gmminit, kmeans
from ceiba.compat.netlab.mix import Mix, gmm

__all__ = [
    "Mix",
    "foptions",
    "gmm",
    "gmmactiv",
    "gmmem",
    "gmminit",
    "gmmpost",
    "gmmprob",
    "gmmsamp",
    "kmeans",
]
