"""Parts that all ensembles share: sampling, input rows, member fits and votes."""
