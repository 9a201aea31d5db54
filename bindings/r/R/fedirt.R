# Calibration.

fedirt <- function(
    data, model = 1, itemtype = NULL, site = NULL, effects = NULL, weights = NULL, missing = NULL,
    mode = c("plain", "secure", "private"), epsilon = NULL, delta = NULL, SE = TRUE, quadpts = NULL, TOL = NULL,
    id = NULL, items = NULL, ignore = NULL, missing_answers = NULL, long = NULL, codebook = NULL, key = NULL, map = NULL,
    item_models = NULL, fixed_items = NULL, population = NULL, booklets = NULL, colluders = NULL, mixture = NULL, site_sd = NULL,
    publish_effects = NULL, algorithm = NULL, range = NULL, quadrature = NULL, max_rounds = NULL, local_epochs = NULL,
    client_fraction = NULL, learning_rate = NULL, seed = NULL, diagnostics = NULL, threads = NULL, progress = NULL,
    inputdata, model_name, school_effect, federated, colname) {
  if (!missing(inputdata) || !missing(model_name) || !missing(school_effect) || !missing(federated) || !missing(colname)) {
    if (missing(inputdata)) inputdata <- data
    return(of_fedirt(
      inputdata, if (missing(model_name)) "2PL" else model_name, !missing(school_effect) && school_effect,
      if (missing(federated)) "Avg" else federated, if (missing(colname)) "site" else colname
    ))
  }
  if (!identical(as.numeric(model), 1)) stop_option("`model` is the number of dimensions, as in mirt: only 1 is possible; `itemtype` names the model")
  # As mirt has it: one name for all items, or one for each.
  per_item <- length(itemtype) > 1
  named <- tolower(mirt_names(itemtype))
  if (per_item) {
    if (is.null(names(itemtype))) stop_option("several item types need the names of their items: c(i1 = \"2PL\", i2 = \"graded\")")
    item_models <- c(as.list(item_models), stats::setNames(as.list(named), names(itemtype)))
  }
  options <- list(
    model = if (length(itemtype) == 1) named, site = site, effects = effects, weight = weights, missing = as_missing(missing),
    mode = match.arg(mode), epsilon = epsilon, delta = delta, nodes = quadpts, tolerance = TOL, id = id, items = items,
    ignore = ignore, missing_answers = missing_answers, long = as_fields(long), item_models = as_fields(item_models),
    population = population, colluders = colluders, mixture = mixture, site_sd = site_sd, publish_effects = publish_effects,
    algorithm = algorithm, range = range, quadrature = quadrature, max_rounds = max_rounds, local_epochs = local_epochs,
    client_fraction = client_fraction, learning_rate = learning_rate, seed = seed,
    diagnostics = if (is.character(diagnostics)) as.list(diagnostics) else diagnostics, threads = threads
  )
  tables <- list(codebook = codebook, key = key, map = map, booklets = booklets, fixed_items = fixed_items)
  # An error of `progress` ends the fit, and is raised when the compiled part has been left.
  thrown <- NULL
  watch <- if (is.function(progress)) {
    function(...) tryCatch({ progress(...); TRUE }, error = function(error) { thrown <<- error; FALSE })
  }
  found <- tryCatch(
    native("wrap__r_calibrate", as_tables(data), about_items(tables), as_options(options), watch),
    fedirt_stopped_error = function(stopped) if (is.null(thrown)) stop(stopped)
  )
  # Also where the fit was over before it heard of it.
  if (!is.null(thrown)) stop(thrown)
  tell(found$notes)
  fit <- as_fit(found$json, found$calibration)
  if (identical(fit$converged, FALSE)) warning("stopped after ", fit$rounds, " rounds, before the maximum was found", call. = FALSE)
  # Standard errors come with the estimates at no cost worth saving.
  attr(fit, "SE") <- isTRUE(SE)
  fit
}

mirt_names <- function(itemtype) {
  known <- c("graded" = "grm", "nominal" = "nrm", "gpcm" = "gpcm", "Rasch" = "rasch", "2PL" = "2pl")
  ifelse(itemtype %in% names(known), known[itemtype], itemtype)
}

as_missing <- function(codes) if (is.null(codes)) NULL else as.list(codes)

as_fields <- function(fields) if (length(fields) == 0) NULL else as.list(fields)

as_fit <- function(json, calibration = NULL) {
  parsed <- native("wrap__r_parse", json)
  structure(parsed$fit, class = "fedirt_fit", json = parsed$json, calibration = calibration)
}

json_of <- function(fit) attr(fit, "json", exact = TRUE)

table_of <- function(fit, name) as_frame(native("wrap__r_table", json_of(fit), name))

write_fit <- function(fit, file) {
  writeLines(sub("\n$", "", json_of(fit)), file, useBytes = TRUE)
  invisible(file)
}

read_fit <- function(file) as_fit(paste(readLines(file, encoding = "UTF-8", warn = FALSE), collapse = "\n"))

report <- function(fit, file) {
  writeLines(native("wrap__r_report", json_of(fit)), file, useBytes = TRUE)
  invisible(file)
}

check_responses <- function(data, site = NULL, id = NULL, items = NULL, ignore = NULL, missing = NULL, weights = NULL,
                            long = NULL, codebook = NULL, key = NULL, map = NULL) {
  options <- list(
    site = site, id = id, items = items, ignore = ignore, missing = as_missing(missing), weight = weights, long = as_fields(long)
  )
  tables <- about_items(list(codebook = codebook, key = key, map = map))
  found <- native("wrap__r_check", as_tables(data), tables, as_options(options))
  structure(list(items = as_frame(found$items), sites = as_frame(found$sites), words = found$words), class = "fedirt_check")
}

print.fedirt_check <- function(x, ...) {
  cat(x$words, "\n", sep = "")
  invisible(x)
}

compare_fits <- function(..., link = NULL) {
  fits <- list(...)
  labels <- names(fits)
  if (is.null(labels)) labels <- rep("", length(fits))
  labels[labels == ""] <- paste0("fit", seq_along(fits))[labels == ""]
  found <- native("wrap__r_compare", labels, vapply(fits, json_of, ""), as_options(list(link = link)))
  structure(lapply(found, as_frame), class = "fedirt_comparison")
}

print.fedirt_comparison <- function(x, ...) {
  print(x$fits, row.names = FALSE)
  cat("\n")
  print(x$tests, row.names = FALSE)
  invisible(x)
}

simulate_sites <- function(sites = 10, students = 300, items = 20, model = "2pl", categories = NULL, site_effects = NULL,
                           site_sd = NULL, missing_rate = NULL, booklets = NULL, latent_sd = NULL, seed = 1) {
  each <- length(students) == 1
  options <- list(
    sites = sites, students = if (each) students, students_by_site = if (!each) students, items = items, model = model,
    categories = categories, site_effects = site_effects, site_sd = site_sd, missing_rate = missing_rate, booklets = booklets,
    latent_sd = latent_sd, seed = seed
  )
  drawn <- native("wrap__r_simulate", as_options(options))
  structure(as_frame(drawn$answers), truth = drawn$truth)
}

plan_private <- function(sites, students, items, model = "2pl", categories = NULL, epsilon = c(0.5, 1, 2, 4, 8), delta = NULL,
                         effects = NULL, site_sd = NULL, colluders = NULL, missing_answers = NULL) {
  options <- list(
    sites = sites, students = students, items = items, model = model, categories = categories, epsilon = epsilon, delta = delta,
    effects = effects, site_sd = site_sd, colluders = colluders, missing_answers = missing_answers
  )
  found <- native("wrap__r_plan", as_options(options))
  structure(list(table = as_frame(found$table), remarks = found$remarks), class = "fedirt_plan")
}

print.fedirt_plan <- function(x, ...) {
  print(x$table, row.names = FALSE)
  for (remark in x$remarks) cat("\n", remark, "\n", sep = "")
  invisible(x)
}
