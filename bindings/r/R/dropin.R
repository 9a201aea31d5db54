# For users of the package FedIRT: its functions by their names and arguments. What differs is said once per session.

# FedIRT's 1PL has slopes of 1 and abilities with an SD of 1; its "graded" is the generalised partial credit model.
models_of_fedirt <- c("1PL" = "rasch-sd1", "2PL" = "2pl", graded = "gpcm", gpcm = "gpcm")

# Whether the arguments of fedirt() are FedIRT's: one of its names, a model's name in the place of mirt's number of dimensions, or
# nothing but a list of matrices without names.
is_call_of_fedirt <- function(data, model, named, alone) {
  matrices <- alone && is.list(data) && !is.data.frame(data) && is.null(names(data)) && length(data) > 0 &&
    all(vapply(data, is.matrix, logical(1)))
  named || is.character(model) || matrices
}

# The list that FedIRT's functions return, with the fit of fedirt in its attribute `fit`.
of_fedirt <- function(inputdata, model_name, school_effect, federated, colname) {
  if (!identical(federated, "Avg")) {
    stop_option(paste0(
      "federated = \"", federated, "\" is not offered: FedIRT's \"Med\" is no median of gradients, and its estimates have no ",
      "likelihood that they maximise"
    ))
  }
  if (!model_name %in% names(models_of_fedirt)) {
    stop_option(paste0("there is no model_name ", model_name, "; there are ", paste(names(models_of_fedirt), collapse = ", ")))
  }
  say_once("fedirt", paste(
    "fedirtr is not FedIRT: missing answers work, school effects add up to zero, columns are matched by name,",
    "and the log-likelihood lacks FedIRT's error of the grid."
  ))
  if (model_name == "graded") say_once("graded", "model_name = \"graded\" of FedIRT is the generalised partial credit model, which is fitted here.")
  if (is.list(inputdata) && !is.data.frame(inputdata) && is.null(names(inputdata))) {
    names(inputdata) <- paste0("school", seq_along(inputdata))
  }
  site <- if (is.data.frame(inputdata) || is.character(inputdata)) colname
  effects <- if (isTRUE(school_effect)) "fixed" else "none"
  as_fedirt(fedirt(inputdata, site = site, itemtype = models_of_fedirt[[model_name]], effects = effects))
}

as_fedirt <- function(fit) {
  items <- fit$items
  labels <- vapply(items, function(item) item$name, "")
  slopes <- function(field) stats::setNames(vapply(items, function(item) number_of(item[[field]]), 0), labels)
  steps <- function(field) stats::setNames(lapply(items, function(item) as.numeric(unlist(item[[field]]))), labels)
  # As FedIRT has it: one vector of all difficulties, items one after the other.
  flat <- function(steps) {
    several <- lengths(steps) > 1
    numbers <- lapply(steps, seq_along)
    names <- Map(function(item, at, many) if (many) paste(item, at, sep = ".") else item, labels, numbers, several)
    stats::setNames(unlist(steps, use.names = FALSE), unlist(names, use.names = FALSE))
  }
  a <- slopes("a")
  b <- flat(steps("b"))
  sites <- table_of(fit, "sites")
  with_effects <- !identical(fit$effects, "none")
  sc <- if (with_effects) stats::setNames(sites$effect, sites$site)
  errors <- list(a = slopes("se_a"), b = flat(steps("se_b")), sc = if (with_effects) stats::setNames(sites$se, sites$site))
  estimated <- any(!is.na(errors$a))
  if (!estimated) errors$a <- NULL
  loglik <- number_of(fit$loglik)
  structure(
    list(
      par = c(if (estimated) a, b, sc), value = loglik, counts = c("function" = fit$rounds, gradient = fit$rounds),
      convergence = if (isTRUE(fit$converged)) 0L else 1L, message = if (isTRUE(fit$converged)) "converged" else "not converged",
      loglik = loglik, a = a, b = b, b_by_item = steps("b"), sc = sc, SE = errors[!vapply(errors, is.null, logical(1))],
      person = person_of_fedirt(fit, a, b, sc)
    ),
    class = c("fedirt", "fedirt_result"), fit = fit
  )
}

# Students by school. As in FedIRT, ability is relative to the school where schools have effects; otherwise `person` is.
person_of_fedirt <- function(fit, a, b, sc) {
  scores <- score_table(fit, NULL, list(method = "eap"), told = tell_once)
  school <- factor(scores$site, unique(scores$site))
  columns <- function(numbers) lapply(split(numbers, school), matrix)
  ability <- columns(scores$F1)
  if (is.null(sc)) {
    site <- lapply(ability, mean, na.rm = TRUE)
    person <- Map(`-`, ability, site)
  } else {
    site <- as.list(sc[names(ability)])
    person <- ability <- Map(`-`, ability, site)
  }
  rows <- split(scores, school)
  fit <- lapply(rows, function(own) list(Lz = own$Zh, Zh = own$Zh, Infit = own$infit, Outfit = own$outfit))
  list(a = a, b = b, ability = ability, site = site, person = person, fit = fit)
}

fedirt_file <- function(inputdata, model_name = "2PL", school_effect = FALSE, federated = "Avg", colname = "site") {
  of_fedirt(inputdata, model_name, school_effect, federated, colname)
}

print.fedirt_result <- function(x, ...) {
  print(fit_in(x))
  cat("\nIn FedIRT's form: $a, $b, $loglik, $SE, $person", if (!is.null(x$sc)) ", $sc", "; summary() shows them.\n", sep = "")
  invisible(x)
}

summary.fedirt_result <- function(object, ...) {
  structure(unclass(object), fit = NULL, class = "summary.fedirt_result")
}

print.summary.fedirt_result <- function(x, digits = 3, ...) {
  show <- function(heading, what) {
    cat("\n", heading, ":\n", sep = "")
    print(what, digits = digits)
  }
  show("Log-likelihood", x$loglik)
  show("Convergence", x$message)
  show("Discrimination parameters (a)", x$a)
  show("Difficulty parameters (b)", x$b)
  if (!is.null(x$sc)) show("School effects", x$sc)
  show("Standard errors", x$SE)
  show("Abilities by school", lapply(x$person$ability, summary_of_numbers))
  invisible(x)
}

summary_of_numbers <- function(numbers) {
  c(n = sum(!is.na(numbers)), mean = mean(numbers, na.rm = TRUE), sd = stats::sd(numbers, na.rm = TRUE))
}

fit_in <- function(x) {
  fit <- if (inherits(x, "fedirt_fit")) x else attr(x, "fit", exact = TRUE)
  if (is.null(fit)) stop_option("a result of fedirt() or fedirt_file() is needed")
  fit
}

in_form_of_fedirt <- function(x) if (inherits(x, "fedirt_result")) x else as_fedirt(fit_in(x))

personscore <- function(fedresult) structure(in_form_of_fedirt(fedresult)$person$ability, class = "personscore")

personfit.fedirt_result <- function(x, ...) {
  say_once("personfit", "Lz, Zh, infit and outfit follow the published formulas, and differ from FedIRT's numbers.")
  structure(x$person$fit, class = "personfit")
}

SE <- function(fedresult) in_form_of_fedirt(fedresult)$SE

print.personscore <- function(x, ...) print_schools(x, function(own) as.vector(own), ...)

print.personfit <- function(x, ...) print_schools(x, function(own) do.call(cbind, own), ...)

print_schools <- function(x, shown, digits = 3, ...) {
  for (school in names(x)) {
    cat(school, ":\n", sep = "")
    print(utils::head(shown(x[[school]]), 10), digits = digits)
  }
  cat("(at most ten students of each school are shown)\n")
  invisible(x)
}

refused <- function(name) {
  stop_option(paste0(
    name, "() is not offered: whoever answers its callbacks hands out the sums of a school at any parameters, and one call with ",
    "a slope near zero reads out a site's item totals; use fedirt(), or the sites of `fedirt coordinator`"
  ))
}

fedirt_2PL <- function(J, logL_entry, g_logL_entry) refused("fedirt_2PL")

fedirt_gpcm <- function(J, M, logL_entry, g_logL_entry) refused("fedirt_gpcm")

# The likelihood of one table on FedIRT's grid, as pure functions: nothing is fetched from anywhere.

logL <- function(a, b, data, q = 21, lower_bound = -3, upper_bound = 3) {
  published(a, as.list(b), data, q, lower_bound, upper_bound)$loglik
}

g_logL <- function(a, b, data, q = 21, lower_bound = -3, upper_bound = 3) {
  found <- published(a, as.list(b), data, q, lower_bound, upper_bound)
  list(matrix(found$a), matrix(found$b))
}

logL_gpcm <- function(a, b, data, q = 21, lower_bound = -3, upper_bound = 3) {
  published(a, steps_of(b, data), data, q, lower_bound, upper_bound)$loglik
}

g_logL_gpcm <- function(a, b, data, q = 21, lower_bound = -3, upper_bound = 3) {
  found <- published(a, steps_of(b, data), data, q, lower_bound, upper_bound)
  list(matrix(found$a), matrix(found$b))
}

published <- function(a, b, data, q, lower_bound, upper_bound) {
  columns <- lapply(seq_len(ncol(data)), function(at) as.double(data[, at]))
  native("wrap__r_published", as.double(a), lapply(b, as.double), columns, as.double(c(q, lower_bound, upper_bound)))
}

# Difficulties item by item: a list, or all of them one after the other, as many for each item as its highest answer says.
steps_of <- function(b, data) {
  if (is.list(b)) return(b)
  highest <- apply(data, 2, max, na.rm = TRUE)
  if (length(b) != sum(highest)) {
    stop_option(sprintf(
      "b has %d difficulties, and the highest answers of the items add up to %d: give a list with a vector for each item", length(b),
      sum(highest)
    ))
  }
  unname(split(b, rep(seq_along(highest), highest)))
}
