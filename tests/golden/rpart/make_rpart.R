# Make the golden trees of rpart: Rscript make_rpart.R TABLES_DIRECTORY [OUT_DIRECTORY]
#
# TABLES_DIRECTORY holds what export_tables.py wrote. One JSON file a tree; README.md says what stands
# in it.

suppressMessages(library(rpart))

CASES <- list(
  list(name = "iris-gini", table = "iris", crossed = TRUE),
  list(name = "cleveland-gini", table = "cleveland", crossed = TRUE),
  list(name = "vote-gini", table = "vote"),
  list(name = "glass-gini", table = "glass"),
  list(name = "crx-gini", table = "crx"),
  list(name = "cleveland-information", table = "cleveland", split = "information"),
  list(name = "cleveland-loss", table = "cleveland", loss = rbind(c(0, 1), c(5, 0))),
  list(name = "iris-loss", table = "iris", loss = rbind(c(0, 1, 2), c(1, 0, 1), c(6, 3, 0))),
  list(name = "automobiles-anova", table = "automobiles", crossed = TRUE),
  list(name = "auto_mpg-anova", table = "auto_mpg", crossed = TRUE))
FOLDS <- 10
# Below zero: no split is taken back because it lowers no error, and the grown tree stays whole.
WHOLE <- -1

# --- fitting ------------------------------------------------------------------------------------

read_table <- function(directory, name) {
  columns <- read.csv(file.path(directory, paste0(name, "-columns.csv")))
  rows <- read.csv(file.path(directory, paste0(name, ".csv")), header = FALSE)
  for (j in which(columns$levels > 0)) {
    rows[[j]] <- factor(rows[[j]], seq_len(columns$levels[j]),
                        ordered = columns$kind[j] == "ordinal")
  }
  list(columns = columns, rows = rows)
}

fit <- function(case, rows, cp, xval) {
  classes <- is.factor(rows$V1)
  control <- rpart.control(cp = cp, minsplit = 20, minbucket = 7, xval = xval, maxcompete = 0,
                           maxsurrogate = 5, usesurrogate = 2, surrogatestyle = 0, maxdepth = 30)
  # na.pass: else rows without a single value would be left out (vote has one).
  if (!classes)
    return(rpart(V1 ~ ., rows, na.action = na.pass, method = "anova", control = control))
  parms <- list(split = if (is.null(case$split)) "gini" else case$split)
  parms$loss <- case$loss
  rpart(V1 ~ ., rows, na.action = na.pass, method = "class", parms = parms, control = control)
}

# --- nodes ------------------------------------------------------------------------------------

# Row `place` of the matrix of splits, in numbers from 0. Of a threshold `below` says where values
# below it go; of levels those that no row of the node has are left out. Ordered factors have levels
# there too, and a threshold here.
test_of <- function(model, place) {
  row <- model$splits[place, ]
  name <- rownames(model$splits)[place]
  column <- match(name, attr(model$terms, "term.labels")) - 1
  if (row[["ncat"]] < 2) {
    side <- if (row[["ncat"]] < 0) "left" else "right"
    return(list(column = column, threshold = row[["index"]], below = side))
  }
  sides <- model$csplit[row[["index"]], seq_len(row[["ncat"]])]
  left <- which(sides == 1) - 1
  right <- which(sides == 3) - 1
  if (!model$ordered[[name]])
    return(list(column = column, left = I(left), right = I(right)))
  low <- if (max(left) < min(right)) left else right
  list(column = column, threshold = max(low) + 0.5, below = if (0 %in% left) "left" else "right")
}

primary <- function(model, place) {
  row <- model$splits[place, ]
  c(test_of(model, place), improve = row[["improve"]], known = row[["count"]])
}

surrogate <- function(model, place) {
  row <- model$splits[place, ]
  c(test_of(model, place), agree = row[["improve"]], adj = row[["adj"]], used = row[["count"]])
}

node_of <- function(model, i, first) {
  row <- model$frame[i, ]
  node <- list(id = as.integer(rownames(row)), n = row$n, wt = row$wt, dev = row$dev,
               complexity = row$complexity)
  if (is.null(row$yval2)) {
    node$yval <- row$yval
  } else {
    node$yval <- row$yval - 1
    node$counts <- I(unname(row$yval2[1, 1 + seq_len((ncol(row$yval2) - 2) / 2)]))
  }
  if (row$var == "<leaf>") return(node)
  node$split <- primary(model, first)
  node$surrogates <- lapply(seq_len(row$nsurrogate), function(k) surrogate(model, first + k))
  node
}

nodes_of <- function(model) {
  inner <- model$frame$var != "<leaf>"
  steps <- ifelse(inner, 1 + model$frame$ncompete + model$frame$nsurrogate, 0)
  first <- cumsum(c(1, steps))
  lapply(seq_len(nrow(model$frame)), function(i) node_of(model, i, first[i]))
}

ids <- function(model) as.integer(rownames(model$frame))

# --- JSON with 17 digits ------------------------------------------------------------------------

# Named lists are objects; unnamed lists, matrices and what I() marks are lists at any length.
json <- function(value) {
  if (is.list(value) && (length(value) == 0 || is.null(names(value))))
    return(json_list(vapply(value, json, "")))
  if (is.list(value)) return(json_object(value))
  if (length(dim(value)) > 1) return(json_list(apply(value, 1, function(row) json(I(row)))))
  texts <- if (is.character(value)) sprintf("\"%s\"", value) else sprintf("%.17g", value)
  if (length(texts) == 1 && !inherits(value, "AsIs")) texts else json_list(texts)
}

json_object <- function(value) {
  pairs <- sprintf("\"%s\": %s", names(value), vapply(value, json, ""))
  paste0("{", paste(pairs, collapse = ", "), "}")
}

json_list <- function(values) paste0("[", paste(values, collapse = ", "), "]")

# The outermost object has a line for each entry, and `nodes` a line for each node.
json_document <- function(value) {
  entries <- vapply(value, json, "")
  nodes <- vapply(value$nodes, json, "")
  entries[["nodes"]] <- paste0("[\n", paste(nodes, collapse = ",\n"), "\n]")
  paste0("{\n", paste(sprintf("\"%s\": %s", names(value), entries), collapse = ",\n"), "\n}")
}

# --- one file -------------------------------------------------------------------------------

complexity_table <- function(model) {
  names <- c(CP = "cp", nsplit = "nsplit", "rel error" = "rel_error",
             xerror = "xerror", xstd = "xstd")
  table <- model$cptable
  found <- lapply(colnames(table), function(name) I(unname(table[, name])))
  names(found) <- names[colnames(table)]
  found
}

golden_of <- function(case, directory) {
  read <- read_table(directory, case$table)
  rows <- read$rows
  fold <- (seq_len(nrow(rows)) - 1) %% FOLDS + 1
  whole <- fit(case, rows, WHOLE, 0)
  least <- fit(case, rows, 0, if (isTRUE(case$crossed)) fold else 0)
  stopifnot(all(ids(least) %in% ids(whole)))
  golden <- list(rpart = as.character(packageVersion("rpart")),
                 table = case$table,
                 method = if (is.factor(rows$V1)) "class" else "anova",
                 split = if (is.null(case$split)) "gini" else case$split,
                 loss = if (is.null(case$loss)) list() else case$loss,
                 columns = I(read$columns$name[-1]),
                 n_rows = nrow(rows),
                 cptable = complexity_table(least),
                 kept = I(ids(least)),
                 leaf_of_row = I(ids(whole)[whole$where]),
                 nodes = nodes_of(whole))
  if (golden$method == "anova") golden$split <- "anova"
  golden
}

main <- function(arguments) {
  directory <- if (length(arguments) > 1) arguments[2] else "."
  for (case in CASES) {
    golden <- golden_of(case, arguments[1])
    writeLines(json_document(golden), file.path(directory, paste0(case$name, ".json")))
  }
}

main(commandArgs(trailingOnly = TRUE))
