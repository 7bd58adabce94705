# Make the golden scores of gbm: Rscript make_gbm.R TABLES_DIRECTORY [OUT_DIRECTORY]
#
# TABLES_DIRECTORY holds the tables of export_tables.py. One JSON file per table; see README.md.

suppressMessages(library(gbm))

CASES <- list(
  list(table = "auto_mpg", distribution = "gaussian"),
  list(table = "auto_mpg", distribution = "gaussian", weighted = TRUE),
  list(table = "auto_mpg", distribution = "laplace"),
  list(table = "auto_cylinders", distribution = "poisson"),
  list(table = "iris_petal_width", distribution = "gaussian"),
  list(table = "iris_petal_width", distribution = "laplace"),
  list(table = "iris_virginica", distribution = "bernoulli"),
  list(table = "iris_virginica", distribution = "bernoulli", weighted = TRUE),
  list(table = "iris_virginica", distribution = "adaboost"))
DEPTHS <- c(1, 3)
N_TREES <- 20
SHRINKAGE <- 0.2
MIN_ROWS <- 7

# --- JSON -------------------------------------------------------------------------------------

json_list <- function(values) paste0("[", paste(values, collapse = ", "), "]")

json_lines <- function(values) paste0("[\n", paste(values, collapse = ",\n"), "\n]")

json <- function(value) {
  if (is.list(value)) {
    if (is.null(names(value))) return(json_lines(vapply(value, json, "")))
    pairs <- sprintf("\"%s\": %s", names(value), vapply(value, json, ""))
    return(paste0("{\n", paste(pairs, collapse = ",\n"), "\n}"))
  }
  scalar <- length(value) == 1 && !inherits(value, "AsIs")
  texts <- if (is.character(value)) sprintf("\"%s\"", value)
           else if (is.logical(value)) tolower(value)
           else sprintf("%.17g", value)
  if (scalar) texts else json_list(texts)
}

# --- fits -------------------------------------------------------------------------------------

fit <- function(case, rows, depth) {
  weighted <- isTRUE(case$weighted)
  w <- if (weighted) 1 + (seq_len(nrow(rows)) - 1) %% 3 else rep(1, nrow(rows))
  # gbm.fit takes the table as it is; gbm() would also shuffle rows of a factor target.
  x <- rows[, -1, drop = FALSE]
  model <- gbm.fit(x, rows$y, distribution = case$distribution, w = w, n.trees = N_TREES,
                   interaction.depth = depth, n.minobsinnode = MIN_ROWS, shrinkage = SHRINKAGE,
                   bag.fraction = 1, nTrain = nrow(rows), keep.data = FALSE, verbose = FALSE)
  scores <- predict(model, x, n.trees = c(1, N_TREES), type = "link")
  list(distribution = case$distribution, weighted = weighted, interaction_depth = depth,
       init = model$initF, scores_1 = unname(scores[, 1]), scores_20 = unname(scores[, 2]))
}

main <- function(arguments) {
  out <- if (length(arguments) > 1) arguments[2] else "."
  for (table in unique(vapply(CASES, `[[`, "", "table"))) {
    rows <- read.csv(file.path(arguments[1], paste0(table, ".csv")))
    fits <- list()
    for (case in Filter(function(case) case$table == table, CASES))
      for (depth in DEPTHS) fits <- c(fits, list(fit(case, rows, depth)))
    golden <- list(gbm = as.character(packageVersion("gbm")), n_trees = N_TREES,
                   shrinkage = SHRINKAGE, n_minobsinnode = MIN_ROWS,
                   columns = names(rows)[-1], y = rows$y,
                   X = lapply(seq_len(nrow(rows)), function(i) I(unlist(rows[i, -1]))),
                   fits = fits)
    writeLines(json(golden), file.path(out, paste0(table, ".json")))
  }
}

main(commandArgs(trailingOnly = TRUE))
