# Calibration.

fedirt <- function(
    data, model = 1, itemtype = NULL, site = NULL, effects = NULL, weights = NULL, missing = NULL,
    mode = c("plain", "secure", "private"), epsilon = NULL, delta = NULL, SE = TRUE, quadpts = NULL, TOL = NULL,
    id = NULL, items = NULL, ignore = NULL, missing_answers = NULL, long = NULL, codebook = NULL, key = NULL, map = NULL,
    item_models = NULL, fixed_items = NULL, population = NULL, booklets = NULL, colluders = NULL, mixture = NULL, site_sd = NULL,
    publish_effects = NULL, algorithm = NULL, range = NULL, quadrature = NULL, max_rounds = NULL, local_epochs = NULL,
    client_fraction = NULL, learning_rate = NULL, seed = NULL, diagnostics = NULL, threads = NULL, progress = NULL,
    group = NULL, reference_group = NULL, free = NULL, dif_tests = NULL, purify = NULL, compare_sites = NULL, bundles = NULL,
    site_weights = NULL, collapse = NULL, latent_sd = NULL, level = NULL, mechanism = NULL, difficulty_sd = NULL, starts = NULL,
    inputdata, model_name, school_effect, federated, colname) {
  named <- !missing(inputdata) || !missing(model_name) || !missing(school_effect) || !missing(federated) || !missing(colname)
  if (is_call_of_fedirt(if (!missing(data)) data, model, named, alone = nargs() == 1)) {
    # FedIRT's second argument is the model, its third the effects, its fourth the method.
    return(of_fedirt(
      if (missing(inputdata)) data else inputdata,
      if (!missing(model_name)) model_name else if (is.character(model)) model else "2PL",
      if (!missing(school_effect)) school_effect else isTRUE(itemtype),
      if (!missing(federated)) federated else if (is.null(site)) "Avg" else site, if (missing(colname)) "site" else colname
    ))
  }
  mode <- match.arg(mode)
  how <- mget(setdiff(names(formals()), c("data", "inputdata", "model_name", "school_effect", "federated", "colname")))
  # An error of `progress` ends the fit, and is raised when the compiled part has been left.
  thrown <- NULL
  watch <- if (is.function(progress)) {
    function(...) tryCatch({ progress(...); TRUE }, error = function(error) { thrown <<- error; FALSE })
  }
  found <- tryCatch(
    native("wrap__r_calibrate", as_tables(data), about_items(how[item_tables]), as_options(fit_options(how)), watch),
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

# Arguments that are tables about items; those that the library knows by the same name; those that have mirt's names here.
item_tables <- c("codebook", "key", "map", "booklets", "fixed_items")
same_names <- c(
  "site", "effects", "mode", "epsilon", "delta", "id", "items", "ignore", "missing_answers", "population", "colluders", "mixture",
  "site_sd", "publish_effects", "algorithm", "range", "quadrature", "max_rounds", "local_epochs", "client_fraction",
  "learning_rate", "seed", "threads", "group", "reference_group", "dif_tests", "purify", "compare_sites", "site_weights", "collapse",
  "latent_sd", "level", "mechanism", "difficulty_sd", "starts"
)
names_of_mirt <- c(weights = "weight", quadpts = "nodes", TOL = "tolerance")

fit_options <- function(how) {
  if (!is.null(how[["model"]]) && !identical(as.numeric(how[["model"]]), 1)) {
    stop_option("`model` is the number of dimensions, as in mirt: only 1 is possible; `itemtype` names the model")
  }
  options <- how[intersect(same_names, names(how))]
  options[names_of_mirt] <- how[names(names_of_mirt)]
  # As mirt has it: one name for all items, or one for each.
  itemtype <- how[["itemtype"]]
  named <- tolower(mirt_names(itemtype))
  item_models <- as.list(how[["item_models"]])
  if (length(itemtype) > 1) {
    if (is.null(names(itemtype))) stop_option("several item types need the names of their items: c(i1 = \"2PL\", i2 = \"graded\")")
    item_models <- c(item_models, stats::setNames(as.list(named), names(itemtype)))
  }
  lists <- list(
    model = if (length(itemtype) == 1) named, missing = as_missing(how[["missing"]]), long = as_fields(how[["long"]]),
    item_models = as_fields(item_models), free = as_fields(how[["free"]]), bundles = as_bundles(how[["bundles"]]),
    diagnostics = if (is.character(how[["diagnostics"]])) as.list(how[["diagnostics"]]) else how[["diagnostics"]]
  )
  c(options, lists)
}

# Whether results depend on items that go together, or on how much single sites count: fits with and without, side by side.
sensitivity <- function(data, vary = c("dependence", "sites"), ...) {
  how <- list(...)
  unknown <- setdiff(names(how), c(same_names, names(names_of_mirt), item_tables, names(formals(fedirt))))
  if (length(unknown) > 0 || is.null(names(how)) != (length(how) == 0)) stop_option("the options of fedirt() are given by their names")
  found <- native(
    "wrap__r_sensitivity", as_tables(data), about_items(how[intersect(item_tables, names(how))]),
    as_options(c(fit_options(how), list(vary = as.list(vary))))
  )
  structure(
    list(fits = as_frame(found$fits), items = as_frame(found$items), notes = as.character(found$notes)), class = "fedirt_sensitivity"
  )
}

print.fedirt_sensitivity <- function(x, digits = 3, ...) {
  print(x$fits, digits = digits, row.names = FALSE)
  for (note in x$notes) cat("\n", note, "\n", sep = "")
  invisible(x)
}

mirt_names <- function(itemtype) {
  known <- c("graded" = "grm", "nominal" = "nrm", "gpcm" = "gpcm", "Rasch" = "rasch", "2PL" = "2pl")
  ifelse(itemtype %in% names(known), known[itemtype], itemtype)
}

as_missing <- function(codes) if (is.null(codes)) NULL else as.list(codes)

# One bundle may stand alone: c("i1", "i2").
as_bundles <- function(bundles) {
  alone <- is.character(bundles) && length(bundles) > 1 && !any(grepl("+", bundles, fixed = TRUE))
  as_fields(if (alone) list(bundles) else bundles)
}

as_fields <- function(fields) if (length(fields) == 0) NULL else as.list(fields)

as_fit <- function(json, calibration = NULL) {
  parsed <- native("wrap__r_parse", json)
  structure(parsed$fit, class = "fedirt_fit", json = parsed$json, calibration = calibration)
}

json_of <- function(fit) attr(fit, "json", exact = TRUE)

table_of <- function(fit, name) as_frame(native("wrap__r_table", json_of(fit), name))

fit_table <- function(fit, name) {
  table <- table_of(fit, name)
  if (is.null(table)) stop(failure(list(kind = "calibration", problems = list(), message = why_not(fit, name))))
  table
}

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
                         effects = NULL, site_sd = NULL, colluders = NULL, missing_answers = NULL, mechanism = NULL,
                         booklets = NULL, mixture = NULL) {
  options <- list(
    sites = sites, students = students, items = items, model = model, categories = categories, epsilon = epsilon, delta = delta,
    effects = effects, site_sd = site_sd, colluders = colluders, missing_answers = missing_answers, mechanism = mechanism,
    mixture = mixture, booklets = if (!is.null(booklets)) lapply(booklets, as.list)
  )
  found <- native("wrap__r_plan", as_options(options))
  structure(list(table = as_frame(found$table), remarks = found$remarks), class = "fedirt_plan")
}

print.fedirt_plan <- function(x, ...) {
  print(x$table, row.names = FALSE)
  for (remark in x$remarks) cat("\n", remark, "\n", sep = "")
  invisible(x)
}
