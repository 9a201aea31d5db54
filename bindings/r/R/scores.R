# Students: scores and how well their answers fit.

score_table <- function(fit, data, options, reading = list(), tables = list(), told = tell) {
  calibration <- attr(fit, "calibration", exact = TRUE)
  if (is.null(data)) {
    if (is.null(calibration)) {
      stop(failure(list(
        kind = "calibration", problems = list(), message = "a fit.json has no students: give the answers that are to be scored"
      )))
    }
    found <- native("wrap__r_scores_again", calibration, as_options(options))
  } else {
    found <- native("wrap__r_scores", json_of(fit), as_tables(data), about_items(tables), as_options(c(options, reading)))
  }
  told(found$notes)
  as_frame(found$table)
}

fscores <- function(object, ...) UseMethod("fscores")

fscores.fedirt_fit <- function(
    object, method = c("EAP", "MAP", "ML", "WLE", "plausible"), full.scores.SE = FALSE, data = NULL, site = NULL, id = NULL,
    draws = NULL, seed = NULL, prior = NULL, scale = NULL, site_effect = NULL, missing = NULL, ignore = NULL, key = NULL,
    codebook = NULL, map = NULL, as = c("matrix", "data.frame"), ...) {
  method <- match.arg(method)
  options <- list(
    method = if (method == "plausible") "pv" else tolower(method), draws = draws, seed = seed, prior = prior,
    scale = as_fields(scale), site_effect = site_effect
  )
  reading <- list(site = site, id = id, missing = as_missing(missing), ignore = ignore)
  table <- score_table(object, data, options, reading, list(key = key, codebook = codebook, map = map))
  if (match.arg(as) == "data.frame") return(table)
  columns <- grep("^(F1|PV[0-9]+)(_scaled)?$", names(table), value = TRUE)
  if (full.scores.SE) columns <- c(columns, grep("^SE_F1", names(table), value = TRUE))
  as.matrix(table[columns])
}

personfit <- function(x, ...) UseMethod("personfit")

personfit.fedirt_fit <- function(x, method = "EAP", ...) {
  fscores(x, method = method, as = "data.frame", ...)[c("outfit", "infit", "Zh")]
}

# Curves.

curves <- function(fit, theta = seq(-4, 4, length.out = 81)) as_frame(native("wrap__r_curves", json_of(fit), as.numeric(theta)))

probtrace <- function(x, theta, ...) UseMethod("probtrace")

probtrace.fedirt_fit <- function(x, theta, ...) {
  table <- curves(x, theta)
  labels <- unique(paste(table$item, table$category, sep = ".P."))
  matrix(table$probability, nrow = length(theta), dimnames = list(NULL, labels))
}

predict.fedirt_fit <- function(object, theta, ...) probtrace(object, theta)

iteminfo <- function(x, theta, ...) UseMethod("iteminfo")

iteminfo.fedirt_fit <- function(x, theta, ...) {
  table <- curves(x, theta)
  # Rows stand by item, category and ability; the information is the same for every category of an item.
  items <- unique(table$item)
  columns <- lapply(items, function(item) table$information[table$item == item][seq_along(theta)])
  matrix(unlist(columns), nrow = length(theta), dimnames = list(NULL, items))
}

testinfo <- function(x, theta, ...) UseMethod("testinfo")

testinfo.fedirt_fit <- function(x, theta, ...) rowSums(iteminfo(x, theta))

# Objects of mirt go to mirt, whose functions these names mask when both packages are attached.

to_mirt <- function(name, x, ...) {
  if (isS4(x) && isNamespaceLoaded("mirt")) return(getExportedValue("mirt", name)(x, ...))
  stop_option(paste0(name, " needs a fit of fedirt, not an object of class ", class(x)[1]))
}

fscores.default <- function(object, ...) to_mirt("fscores", object, ...)
itemfit.default <- function(x, ...) to_mirt("itemfit", x, ...)
personfit.default <- function(x, ...) to_mirt("personfit", x, ...)
DIF.default <- function(x, ...) to_mirt("DIF", x, ...)
M2.default <- function(obj, ...) to_mirt("M2", obj, ...)
probtrace.default <- function(x, theta, ...) to_mirt("probtrace", x, theta, ...)
iteminfo.default <- function(x, theta, ...) to_mirt("iteminfo", x, theta, ...)
testinfo.default <- function(x, theta, ...) to_mirt("testinfo", x, theta, ...)
ranef.default <- function(object, ...) stop_option(paste0("ranef needs a fit of fedirt, not an object of class ", class(object)[1]))

# Answers of as many students, drawn anew from the estimates.
simulate.fedirt_fit <- function(object, nsim = 1, seed = NULL, ...) {
  if (is.null(seed)) seed <- sample.int(.Machine$integer.max, 1)
  drawn <- lapply(seq_len(nsim), function(at) as_frame(native("wrap__r_redraw", json_of(object), as.double(seed + at - 1))))
  structure(stats::setNames(drawn, paste0("sim_", seq_len(nsim))), seed = seed)
}
