"""Losses of gradient boosting: gradients, Hessians, first scores and line searches.

A loss is a function of the target and the raw scores F, of shape (n_outputs, n_rows). Two classes
and numbers have one output, K > 2 classes one per class. Gradients g and Hessians h are derivatives
with respect to F, multiplied by the weights. In place of Hessians that are 0 almost everywhere
there is 1.

    loss             value of one row                   g                h
    log_loss, K = 2  log(1 + exp(F)) - y F              p - y            p (1 - p)
    log_loss, K > 2  log sum exp(F_k) - F_y             p_k - y_k        K / (K - 1) p_k (1 - p_k)
    exponential      exp(-s F), s = 2 y - 1             -s exp(-s F)     exp(-s F)
    squared_error    (y - F)^2 / 2                      F - y            1
    absolute_error   |y - F|                            sign(F - y)      1
    quantile         (alpha - [y < F]) (y - F)          -alpha, 1-alpha  1
    huber            squared up to delta, then linear   clip(F - y)      1
    poisson          exp(F) - y F + c                   exp(F) - y       exp(F)
    gamma            F + y exp(-F) + c                  1 - y exp(-F)    y exp(-F)
    tweedie          a / (2 - q) + b / (q - 1) + c      a - b            (2 - q) a + (q - 1) b

with a = exp((2 - q) F) and b = y exp((1 - q) F) for the power q between 1 and 2. The last three are
half the deviances: c is a function of y alone, such that the loss is 0 at exp(F) = y. Targets
beyond 1e100 or below 1e-100 are divided by a power of two in squared_error and huber.

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics
29. Friedman, Hastie & Tibshirani (2000), "Additive logistic regression: a statistical view of
boosting", Annals of Statistics 28.
"""
