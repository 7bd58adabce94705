"""Netlab's mixture functions under their own names: an old lab script moves by its imports.

Arguments, their order and their meaning are those of Nabney's MATLAB toolbox; the work is done by
Ceiba's own mixture and k-means. What Python makes different:

- Indices begin at 0: ``options(14)`` is ``options[13]``, and the labels of `gmmsamp` are 0, 1, ...
- Every output is always returned: ``mix = gmmem(mix, x, options)`` becomes
  ``mix, options, errlog = gmmem(mix, x, options)``. Nothing that is passed in is changed.
- A vector has one axis: ``mix.priors``, spherical ``mix.covars``, ``options``, ``errlog`` and
  densities. Matrices keep Netlab's shapes, so that ``mix.covars(:, :, j)`` is
  ``mix.covars[:, :, j]``. What is passed in may be a row of a matrix, or a list.
- ``lambda`` is a word of the language: the field is called ``mix.lambda_``.
- Random numbers come from NumPy's global state, so that ``numpy.random.seed(42)`` takes the place
  of ``randn('state', 42)``; or give ``random_state``. The numbers themselves are not MATLAB's.
- What in MATLAB would go on with NaN is an error that says what to do.

`ceiba.GaussianMixture` does more: gaps, weights, other forms of covariance, several starts, large
files.

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

from ceiba.compat.netlab.density import gmmactiv, gmmpost, gmmprob
from ceiba.compat.netlab.em import gmmem
from ceiba.compat.netlab.gmm import gmm
from ceiba.compat.netlab.init import gmminit
from ceiba.compat.netlab.kmeans import kmeans
from ceiba.compat.netlab.mix import Mix
from ceiba.compat.netlab.options import foptions
from ceiba.compat.netlab.sample import gmmsamp

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
