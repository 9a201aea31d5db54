# For users of the package FedIRT: its functions by their names and arguments. What differs is said once per session.

# The list that FedIRT's functions return, with the fit of fedirt in its attribute `fit`.
of_fedirt <- function(inputdata, model_name, school_effect, federated, colname) {
  if (!identical(federated, "Avg")) {
    stop_option(paste0(
      "federated = \"", federated, "\" is not offered: FedIRT's \"Med\" is no median of gradients, and its estimates have no ",
      "likelihood that they maximise"
    ))
  }
  models <- c("1PL" = "1pl", "2PL" = "2pl", graded = "gpcm", gpcm = "gpcm")
  if (!model_name %in% names(models)) stop_option(paste0("there is no model_name ", model_name, "; there are ", paste(names(models), collapse = ", ")))
  say_once("fedirt", paste(
    "fedirtr is not FedIRT: missing answers work, school effects add up to zero, columns are matched by name,",
    "and the log-likelihood lacks FedIRT's error of the grid."
  ))
  if (model_name == "graded") say_once("graded", "model_name = \"graded\" of FedIRT is the generalised partial credit model, which is fitted here.")
  effects <- if (isTRUE(school_effect)) "fixed" else "none"
  if (is.data.frame(inputdata) && colname %in% names(inputdata)) {
    fit <- fedirt(inputdata, site = colname, itemtype = models[[model_name]], effects = effects)
  } else {
    if (is.list(inputdata) && !is.data.frame(inputdata) && is.null(names(inputdata))) {
      names(inputdata) <- paste0("school", seq_along(inputdata))
    }
    fit <- fedirt(inputdata, itemtype = models[[model_name]], effects = effects)
  }
  as_fedirt(fit)
}

as_fedirt <- function(fit) {
  items <- fit$items
  labels <- vapply(items, function(item) item$name, "")
  number <- function(x) if (is.null(x)) NA_real_ else x
  steps <- function(field) {
    values <- lapply(items, function(item) as.numeric(unlist(item[[field]])))
    if (all(lengths(values) == 1)) stats::setNames(unlist(values), labels) else stats::setNames(values, labels)
  }
  a <- stats::setNames(vapply(items, function(item) number(item$a), 0), labels)
  b <- steps("b")
  scores <- score_table(fit, NULL, list(method = "eap"), told = tell_once)
  person <- split(scores$F1, factor(scores$site, unique(scores$site)))
  sites <- table_of(fit, "sites")
  structure(
    list(
      a = a, b = b, loglik = number_of(fit$loglik), SE = list(a = stats::setNames(vapply(items, function(item) number(item$se_a), 0), labels), b = steps("se_b")),
      person = c(person, list(s = stats::setNames(sites$effect, sites$site))), par = c(a, unlist(b)), counts = c(rounds = fit$rounds),
      convergence = if (isTRUE(fit$converged)) 0 else 1, message = if (isTRUE(fit$converged)) "converged" else "not converged",
      sc = stats::setNames(sites$effect, sites$site)
    ),
    class = "fedirt_result", fit = fit
  )
}

fedirt_file <- function(data, model_name = "2PL", school_effect = FALSE, federated = "Avg", colname = "site") {
  of_fedirt(data, model_name, school_effect, federated, colname)
}

fit_in <- function(x) {
  fit <- if (inherits(x, "fedirt_fit")) x else attr(x, "fit", exact = TRUE)
  if (is.null(fit)) stop_option("a result of fedirt() or fedirt_file() is needed")
  fit
}

personscore <- function(x) {
  scores <- score_table(fit_in(x), NULL, list(method = "eap"), told = tell_once)
  split(scores$F1, factor(scores$site, unique(scores$site)))
}

personfit.fedirt_result <- function(x, ...) {
  say_once("personfit", "Zh, infit and outfit follow the published formulas, and differ from FedIRT's numbers.")
  personfit(fit_in(x), ...)
}

SE <- function(x) as_fedirt(fit_in(x))$SE

refused <- function(name) {
  stop_option(paste0(
    name, "() is not offered: whoever answers its callbacks hands out the sums of a school at any parameters, and one call with ",
    "a slope near zero reads out a site's item totals; use fedirt(), or the sites of `fedirt coordinator`"
  ))
}

fedirt_2PL <- function(J, logL_entry, g_logL_entry) refused("fedirt_2PL")

fedirt_gpcm <- function(J, M, logL_entry, g_logL_entry) refused("fedirt_gpcm")

# The pages of coordinator and site are those of the program.
pages <- function(arguments, open) {
  program <- Sys.which("fedirt")
  if (!nzchar(program)) {
    stop_option(paste(
      "the program `fedirt` is not on the PATH: `cargo install --path crates/fedirt` of a checkout puts it there,",
      "and so does `pip install ./bindings/python`"
    ))
  }
  command <- paste("fedirt", paste(arguments, collapse = " "))
  message("Starting ", command, ": it prints a link to its pages.")
  if (!open) return(invisible(command))
  system2(program, arguments, wait = TRUE)
}

runserver <- function(folder = "hub", open = interactive()) pages(c("coordinator", "start", shQuote(folder)), open)

runclient <- function(home = "home", open = interactive()) pages(c("site", "--home", shQuote(home), "pages"), open)
