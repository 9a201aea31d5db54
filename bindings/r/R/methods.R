# What one asks of a fitted model, by the names of stats and mirt.

print.fedirt_fit <- function(x, ...) {
  cat(native("wrap__r_summary", json_of(x)))
  invisible(x)
}

summary.fedirt_fit <- function(object, ...) {
  structure(
    list(text = native("wrap__r_summary", json_of(object)), items = table_of(object, "items"), sites = table_of(object, "sites")),
    class = "summary.fedirt_fit"
  )
}

print.summary.fedirt_fit <- function(x, digits = 3, ...) {
  cat(x$text, "\n", sep = "")
  print(x$items, digits = digits, row.names = FALSE)
  cat("\n")
  print(x$sites, digits = digits, row.names = FALSE)
  invisible(x)
}

coef.fedirt_fit <- function(object, IRTpars = FALSE, simplify = FALSE, printSE = FALSE, ...) {
  if (IRTpars) {
    values <- lapply(object$items, function(item) named_steps(item$a, item$b, "b"))
    errors <- lapply(object$items, function(item) named_steps(item$se_a, item$se_b, "b"))
  } else {
    values <- lapply(object$items, function(item) unlist_numbers(item$parameters))
    errors <- lapply(object$items, function(item) unlist_numbers(item$se))
  }
  names(values) <- vapply(object$items, function(item) item$name, "")
  if (simplify) {
    columns <- unique(unlist(lapply(values, names)))
    matrix_of <- function(rows) {
      cells <- lapply(rows, function(row) stats::setNames(row[columns], columns))
      matrix(unlist(cells), nrow = length(rows), byrow = TRUE, dimnames = list(names(values), columns))
    }
    found <- list(items = matrix_of(values), means = object$latent$mean, cov = object$latent$sd^2)
    if (printSE) found$SE <- matrix_of(errors)
    return(found)
  }
  row_of <- function(value, error) {
    rows <- if (printSE) list(par = value, SE = error) else list(par = value)
    do.call(rbind, rows)
  }
  c(Map(row_of, values, errors), list(GroupPars = rbind(par = c(MEAN_1 = object$latent$mean, COV_11 = object$latent$sd^2))))
}

named_steps <- function(a, steps, letter) {
  numbers <- c(if (is.null(a)) NA_real_ else a, as.numeric(unlist(steps)))
  stats::setNames(numbers, c("a", if (length(numbers) > 2) paste0(letter, seq_len(length(numbers) - 1)) else letter)[seq_along(numbers)])
}

unlist_numbers <- function(numbers) {
  vapply(numbers, function(number) if (is.null(number)) NA_real_ else number, numeric(1))
}

as.data.frame.fedirt_fit <- function(x, row.names = NULL, optional = FALSE, ...) table_of(x, "items")

vcov.fedirt_fit <- function(object, ...) {
  calibration <- attr(object, "calibration", exact = TRUE)
  if (is.null(calibration)) {
    stop(failure(list(
      kind = "calibration", problems = list(), message = "a fit.json has no covariances: they are known right after the calibration"
    )))
  }
  found <- native("wrap__r_covariance", calibration)
  matrix(found$matrix, nrow = length(found$names), dimnames = list(found$names, found$names))
}

confint.fedirt_fit <- function(object, parm, level = 0.95, ...) {
  items <- table_of(object, "items")
  numbers <- grep("^se_", names(items), value = TRUE)
  estimates <- unlist(lapply(numbers, function(name) {
    stats::setNames(items[[sub("^se_", "", name)]], paste(items$item, sub("^se_", "", name), sep = "."))
  }))
  errors <- unlist(items[numbers], use.names = FALSE)
  known <- !is.na(estimates) & !is.na(errors)
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  limits <- estimates[known] + outer(errors[known], stats::qnorm(tails))
  colnames(limits) <- paste(format(100 * tails, trim = TRUE, digits = 3), "%")
  rownames(limits) <- names(estimates)[known]
  if (missing(parm)) limits else limits[parm, , drop = FALSE]
}

number_of <- function(x) if (is.null(x)) NA_real_ else x

logLik.fedirt_fit <- function(object, ...) {
  structure(number_of(object$loglik), df = object$npar, nobs = object$n, class = "logLik")
}

nobs.fedirt_fit <- function(object, ...) object$n

deviance.fedirt_fit <- function(object, ...) -2 * number_of(object$loglik)

anova.fedirt_fit <- function(object, ...) {
  found <- compare_fits(object, ...)
  ratios <- found$tests
  table <- found$fits[, c("model", "AIC", "SABIC", "BIC", "loglik", "npar")]
  table$X2 <- c(NA, ratios$X2)
  table$df <- c(NA, ratios$df)
  table$p <- c(NA, ratios$p)
  remarks <- ratios$remark[nzchar(ratios$remark)]
  structure(table, heading = if (length(remarks) > 0) paste0(remarks, "\n"), class = c("anova", "data.frame"))
}

needed <- function(fit, name, entry) {
  table <- table_of(fit, name)
  if (!is.null(table)) return(table)
  stop(failure(list(kind = "calibration", problems = list(), message = why_not(fit, entry))))
}

why_not <- function(fit, entry) {
  for (reason in fit$diagnostics$not_available) if (identical(reason$name, entry)) return(reason$reason)
  paste0("this fit has no ", entry, ": diagnostics were not asked for, or its mode does not release them")
}

itemfit <- function(x, ...) UseMethod("itemfit")

itemfit.fedirt_fit <- function(x, fit_stats = NULL, ...) {
  table <- needed(x, "item_fit", "item_fit")
  columns <- list(
    S_X2 = c("S_X2", "df.S_X2", "RMSEA.S_X2", "p.S_X2", "p_adjusted"), infit = c("infit", "z.infit", "outfit", "z.outfit")
  )
  if (is.null(fit_stats)) return(table)
  unknown <- setdiff(fit_stats, names(columns))
  if (length(unknown) > 0) stop_option(paste0("there is no item fit statistic ", unknown[1], "; there are S_X2 and infit"))
  table[c("item", unlist(columns[fit_stats]))]
}

DIF <- function(x, ...) UseMethod("DIF")

DIF.fedirt_fit <- function(x, ...) needed(x, "dif", "dif")

M2 <- function(obj, ...) UseMethod("M2")

M2.fedirt_fit <- function(obj, ...) {
  global <- obj$diagnostics$global
  if (is.null(global)) stop(failure(list(kind = "calibration", problems = list(), message = why_not(obj, "global"))))
  names(global)[names(global) == "statistic"] <- global$type
  structure(as.data.frame(global[setdiff(names(global), "type")]), row.names = "stats")
}

residuals.fedirt_fit <- function(object, type = c("Q3", "LD"), ...) {
  type <- match.arg(type)
  entry <- if (type == "Q3") object$diagnostics$q3 else object$diagnostics$ld
  if (is.null(entry)) {
    stop(failure(list(kind = "calibration", problems = list(), message = why_not(object, tolower(type)))))
  }
  rows <- if (type == "Q3") entry$matrix else entry$X2
  labels <- if (type == "Q3") entry$items else object$diagnostics$q3$items
  matrix(unlist(rows), nrow = length(rows), byrow = TRUE, dimnames = if (!is.null(labels)) list(labels, labels))
}

site_effects <- function(fit) table_of(fit, "sites")

ranef <- function(object, ...) UseMethod("ranef")

ranef.fedirt_fit <- function(object, ...) {
  sites <- site_effects(object)
  list(site = data.frame("(Intercept)" = sites$effect, row.names = sites$site, check.names = FALSE))
}

as_mirt_values <- function(fit) {
  rows <- lapply(fit$items, function(item) {
    values <- unlist_numbers(item$parameters)
    data.frame(
      group = "all", item = item$name, class = item$model, name = names(values), value = unname(values),
      est = !item$fixed & !is.na(unname(unlist_numbers(item$se))), stringsAsFactors = FALSE
    )
  })
  latent <- data.frame(
    group = "all", item = "GROUP", class = "GroupPars", name = c("MEAN_1", "COV_11"),
    value = c(fit$latent$mean, fit$latent$sd^2), est = c(!is.null(fit$latent$se_mean), !is.null(fit$latent$se_sd))
  )
  do.call(rbind, c(rows, list(latent)))
}

# broom's generics, where the package generics is there.

tidy.fedirt_fit <- function(x, ...) {
  items <- table_of(x, "items")
  numbers <- sub("^se_", "", grep("^se_", names(items), value = TRUE))
  rows <- lapply(numbers, function(name) {
    data.frame(item = items$item, term = name, estimate = items[[name]], std.error = items[[paste0("se_", name)]])
  })
  table <- do.call(rbind, rows)
  table <- table[!is.na(table$estimate), ]
  rownames(table) <- NULL
  table
}

glance.fedirt_fit <- function(x, ...) {
  data.frame(
    model = x$model, nobs = x$n, npar = x$npar, logLik = number_of(x$loglik), AIC = number_of(x$aic), BIC = number_of(x$bic),
    converged = if (is.null(x$converged)) NA else x$converged, rounds = x$rounds
  )
}

augment.fedirt_fit <- function(x, data = NULL, ...) {
  scores <- as.data.frame(score_table(x, NULL, list(method = "eap")))
  names(scores)[names(scores) %in% c("F1", "SE_F1")] <- c(".fitted", ".se.fit")
  if (is.null(data)) scores else cbind(data, scores[c(".fitted", ".se.fit")])
}
