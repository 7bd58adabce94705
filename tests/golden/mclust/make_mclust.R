# Make the golden mixtures of mclust: Rscript make_mclust.R GLASS_CSV [OUT_DIRECTORY]
#
# For every table, start and covariance form: mclust's own EM (`me`, no prior) from hard labels,
# after a few steps and at its end. One JSON file a start; README.md says what stands in it.

suppressMessages(library(mclust))

FORMS <- c("EII", "VII", "EEI", "VEI", "EVI", "VVI",
           "EEE", "VEE", "EVV", "EEV", "VEV", "VVV")
FEW_STEPS <- 3
MOST_STEPS <- 5000
INNER_STEPS <- 300    # of VEI, VEE and VEV within one M step; 25 reach the last digits here
SETTLED <- 1e-12      # largest change of a responsibility over the last call of `me`
# Columns of glass without a zero. Of mg, k, ba and fe up to 176 of 214 values are zero: with them
# five of the forms fail in their first step from the types.
GLASS_COLUMNS <- c("ri", "na", "al", "si", "ca")

# --- EM ---------------------------------------------------------------------------------------

# At most `most` steps, M then E; only an unchanged log-likelihood ends them sooner. The inner loop
# always takes INNER_STEPS: it judges itself by a sum that is flat at its minimum, and with a
# tolerance of 1e-14 VEE stops some 1e-8 short. A tolerance below zero, which `emControl` would
# refuse, is never reached.
steps <- function(form, rows, z, most) {
  control <- emControl(tol = 0, itmax = c(most, INNER_STEPS))
  control$tol[2] <- -1
  me(data = rows, modelName = form, z = z, control = control, warn = FALSE)
}

taken <- function(fit) abs(unlist(attr(fit, "info"))[[1]])

failed <- function(fit) attr(fit, "returnCode") < 0

# The log-likelihood is flat at its top: it stops changing while parameters are still 1e-7 away.
# So `me` is called again with its own responsibilities until these have settled too.
to_the_end <- function(form, rows, z) {
  number <- 0
  repeat {
    fit <- steps(form, rows, z, MOST_STEPS)
    number <- number + taken(fit)
    if (failed(fit) || max(abs(fit$z - z)) < SETTLED) break
    stopifnot(number < MOST_STEPS)
    z <- fit$z
  }
  result(fit, number)
}

result <- function(fit, number) {
  if (failed(fit)) return(list(skipped = attr(fit, "WARNING"), steps = number))
  found <- fit$parameters
  list(steps = number,
       log_likelihood = fit$loglik,
       mclust_bic = bic(fit$modelName, fit$loglik, fit$n, fit$d, fit$G),
       weights = found$pro,
       means = t(unname(found$mean)),
       covariances = aperm(unname(found$variance$sigma), c(3, 1, 2)))
}

mixture <- function(form, rows, z) {
  few <- steps(form, rows, z, FEW_STEPS)
  list(n_parameters = nMclustParams(form, ncol(rows), ncol(z)),
       few_steps = result(few, taken(few)),
       end = to_the_end(form, rows, z))
}

# --- JSON with 17 digits ------------------------------------------------------------------------

json <- function(value) {
  if (is.list(value)) return(json_object(value))
  if (is.character(value)) return(json_text(value))
  if (length(dim(value)) > 1) return(json_list(apply(value, 1, json)))
  numbers <- sprintf("%.17g", value)
  if (length(numbers) == 1) numbers else json_list(numbers)
}

json_object <- function(value) {
  pairs <- sprintf("\"%s\": %s", names(value), vapply(value, json, ""))
  paste0("{\n", paste(pairs, collapse = ",\n"), "\n}")
}

json_text <- function(value) {
  quoted <- sprintf("\"%s\"", value)
  if (length(quoted) == 1) quoted else json_list(quoted)
}

json_list <- function(values) paste0("[", paste(values, collapse = ", "), "]")

# --- tables and starts ----------------------------------------------------------------------

thirds <- function(column) {
  place <- rank(column, ties.method = "first")
  as.integer(ceiling(3 * place / length(column)))
}

write_start <- function(directory, table, start, rows, labels) {
  z <- unmap(labels)
  mixtures <- lapply(FORMS, mixture, rows = rows, z = z)
  names(mixtures) <- FORMS
  golden <- list(mclust = as.character(packageVersion("mclust")),
                 table = table,
                 start = start,
                 columns = colnames(rows),
                 column_sums = unname(colSums(rows)),
                 labels = labels - 1L,
                 mixtures = mixtures)
  writeLines(json(golden), file.path(directory, paste0(table, "-", start, ".json")))
}

main <- function(arguments) {
  directory <- if (length(arguments) > 1) arguments[2] else "."
  flowers <- as.matrix(iris[, 1:4])
  glass <- read.csv(arguments[1])
  panes <- as.matrix(glass[, GLASS_COLUMNS])
  write_start(directory, "iris", "species", flowers, as.integer(iris$Species))
  write_start(directory, "iris", "thirds", flowers, thirds(flowers[, 2]))
  write_start(directory, "glass", "type", panes, as.integer(factor(glass$class)))
  write_start(directory, "glass", "thirds", panes, thirds(panes[, 1]))
}

main(commandArgs(trailingOnly = TRUE))
