# Make randomforest.json and ranger.json: Rscript make_forests.R TABLES_DIRECTORY [OUT_DIRECTORY]
#
# TABLES_DIRECTORY holds what export_tables.py wrote. README.md says what stands in the files.

suppressMessages(library(randomForest))
suppressMessages(library(ranger))

FOLDS <- 5
SEEDS <- 10
TREES <- 100

# --- tables -------------------------------------------------------------------------------------

# With `codes` levels are taken as their numbers.
read_rows <- function(directory, name, codes) {
  columns <- read.csv(file.path(directory, paste0(name, "-columns.csv")))
  cells <- read.csv(file.path(directory, paste0(name, ".csv")), header = FALSE)
  for (j in which(columns$levels > 0)) {
    if (j > 1 && codes) next
    cells[[j]] <- factor(cells[[j]], seq_len(columns$levels[j]),
                         ordered = columns$kind[j] == "ordinal")
  }
  list(y = cells[[1]], fold = cells[[2]], X = cells[-(1:2)], levels = any(columns$levels[-1] > 0))
}

columns_a_node <- function(rows) {
  p <- ncol(rows$X)
  if (is.factor(rows$y)) floor(sqrt(p)) else max(1, floor(p / 3))
}

# --- forests ------------------------------------------------------------------------------------

# What a forest says of rows: `out_of_bag` of those it grew from, `found` of others, and `values`, of
# these the share of votes for their own class, or the number.
with_randomforest <- function(rows, train, test) {
  model <- randomForest(rows$X[train, ], rows$y[train], ntree = TREES, nodesize = 1,
                        mtry = columns_a_node(rows))
  found <- unname(predict(model, rows$X[test, ]))
  values <- found
  if (is.factor(rows$y)) {
    shares <- predict(model, rows$X[test, ], type = "prob")
    values <- shares[cbind(seq_along(test), as.integer(rows$y[test]))]
  }
  list(out_of_bag = model$predicted, found = found, values = values)
}

# Without a seed of its own it draws one from R.
with_ranger <- function(rows, train, test) {
  model <- ranger(x = rows$X[train, ], y = rows$y[train], num.trees = TREES, min.node.size = 1,
                  mtry = columns_a_node(rows), respect.unordered.factors = "partition",
                  num.threads = 1)
  found <- predict(model, rows$X[test, ], num.threads = 1)$predictions
  values <- found
  if (is.factor(rows$y)) {
    votes <- predict(model, rows$X[test, ], predict.all = TRUE, num.threads = 1)$predictions
    values <- rowMeans(votes == as.integer(rows$y[test]))
  }
  list(out_of_bag = model$predictions, found = found, values = values)
}

# --- scores -------------------------------------------------------------------------------------

losses <- function(found, y) if (is.factor(y)) found != y else (found - y)^2

# The loss that scores are measured by: all rows, or the sum of squares around the mean.
spread <- function(y) if (is.factor(y)) length(y) else sum((y - mean(y))^2)

scores_of <- function(rows, grow, seed) {
  values <- lost <- numeric(length(rows$y))
  inside <- total <- 0
  for (fold in seq_len(FOLDS) - 1) {
    test <- which(rows$fold == fold)
    train <- which(rows$fold != fold)
    set.seed(seed)
    said <- grow(rows, train, test)
    lost[test] <- losses(said$found, rows$y[test])
    values[test] <- said$values
    inside <- inside + sum(losses(said$out_of_bag, rows$y[train]))
    total <- total + spread(rows$y[train])
  }
  list(score = 1 - sum(lost) / spread(rows$y), oob_score = 1 - inside / total, values = values)
}

case_of <- function(rows, grow) {
  found <- lapply(seq_len(SEEDS) - 1, function(seed) scores_of(rows, grow, seed))
  list(score = vapply(found, function(one) one$score, 0),
       oob_score = vapply(found, function(one) one$oob_score, 0),
       of_rows = rowMeans(sapply(found, function(one) one$values)))
}

# --- files --------------------------------------------------------------------------------------

json_case <- function(name, case) {
  format <- c(score = "%.17g", oob_score = "%.17g", of_rows = "%.5g")
  lists <- vapply(names(case), function(key) {
    paste0("\"", key, "\": [", paste(sprintf(format[[key]], case[[key]]), collapse = ", "), "]")
  }, "")
  sprintf("\"%s\": {%s}", name, paste(lists, collapse = ", "))
}

write_system <- function(package, grow, directory, out) {
  files <- sort(list.files(directory, "-columns.csv$"))
  lines <- c()
  for (name in sub("-columns.csv", "", files)) {
    rows <- read_rows(directory, name, FALSE)
    lines <- c(lines, json_case(name, case_of(rows, grow)))
    if (!rows$levels) next
    rows <- read_rows(directory, name, TRUE)
    lines <- c(lines, json_case(paste0(name, "-codes"), case_of(rows, grow)))
  }
  text <- c("{", sprintf("\"system\": \"%s %s\",", package, packageVersion(package)),
            "\"cases\": {", paste(lines, collapse = ",\n"), "}", "}")
  writeLines(text, file.path(out, paste0(tolower(package), ".json")))
}

main <- function(arguments) {
  out <- if (length(arguments) > 1) arguments[2] else "."
  write_system("randomForest", with_randomforest, arguments[1], out)
  write_system("ranger", with_ranger, arguments[1], out)
}

main(commandArgs(trailingOnly = TRUE))
