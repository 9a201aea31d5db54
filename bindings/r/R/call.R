# Calls of the compiled part. Each answers list(value = ) or list(error = ).

native <- function(name, ...) {
  found <- .Call(name, ..., PACKAGE = "fedirtr")
  if (!is.null(found$error)) stop(failure(found$error))
  found$value
}

# The condition of a failure: its class says what went wrong, `problems` is a data frame of everything that did.
failure <- function(error) {
  fields <- c("file", "line", "column", "option", "value", "message", "remedy")
  field <- function(name) {
    cells <- lapply(error$problems, function(found) if (is.null(found[[name]])) NA else found[[name]])
    if (length(cells) == 0) logical() else unlist(cells)
  }
  problems <- as.data.frame(lapply(stats::setNames(nm = fields), field), stringsAsFactors = FALSE)
  names(problems)[names(problems) == "line"] <- "row"
  structure(
    class = c(paste0("fedirt_", error$kind, "_error"), "fedirt_error", "error", "condition"),
    list(message = error$message, call = NULL, problems = problems)
  )
}

stop_option <- function(message) {
  stop(failure(list(kind = "option", message = message, problems = list())))
}

# Options as JSON; those that are NULL are not given.
as_options <- function(options) {
  given <- options[!vapply(options, is.null, logical(1))]
  if (length(given) == 0) "{}" else native("wrap__r_options", given)
}

as_frame <- function(columns) {
  if (is.null(columns)) return(NULL)
  structure(columns, class = "data.frame", row.names = seq_along(columns[[1]]))
}

# Columns as vectors of integers, doubles, logicals or texts. Nothing is turned into a number here: what is no answer stays a text,
# and the reader says in which row and column it stands.
as_columns <- function(table) {
  if (is.matrix(table)) {
    if (ncol(table) > nrow(table)) {
      stop(failure(list(kind = "data", problems = list(), message = sprintf(
        paste(
          "the matrix has %d rows and %d columns: rows are students and columns are items, so it seems to lie on its side;",
          "transpose it with t(), or give a data frame"
        ), nrow(table), ncol(table)
      ))))
    }
    labels <- colnames(table)
    if (is.null(labels)) labels <- paste0("item", seq_len(ncol(table)))
    # By place: a matrix may have two columns of one name, which is for the reader to say.
    columns <- lapply(seq_len(ncol(table)), function(at) as_column(table[, at]))
    return(stats::setNames(columns, labels))
  }
  if (!is.list(table)) stop_option("a table is needed: a data frame, a matrix, or the path of a file")
  columns <- lapply(unclass(table), as_column)
  attributes(columns) <- list(names = names(table))
  columns
}

as_column <- function(column) {
  if (inherits(column, "haven_labelled")) column <- without_labels(column)
  if (is.factor(column)) return(as.character(column))
  if (is.object(column) || !(is.numeric(column) || is.logical(column) || is.character(column))) {
    # Dates, lists, complex numbers: as texts, with NA where something is missing.
    texts <- if (is.list(column)) vapply(column, function(cell) paste(format(cell), collapse = " "), "") else as.character(column)
    texts[is.na(column)] <- NA_character_
    return(texts)
  }
  as.vector(column)
}

# Labels of SPSS and Stata: declared missing values are missing, tagged ones are NA already.
without_labels <- function(column) {
  values <- unclass(column)
  range <- attr(column, "na_range", exact = TRUE)
  declared <- values %in% attr(column, "na_values", exact = TRUE)
  if (!is.null(range)) declared <- declared | (!is.na(values) & values >= range[1] & values <= range[2])
  values[declared] <- NA
  as.vector(values)
}

# One table, or a list of them: each of a list is a site of its own.
as_tables <- function(data) {
  several <- is.list(data) && !is.data.frame(data) && length(data) > 0 && all(vapply(data, is_table, logical(1)))
  tables <- if (several) data else if (is.character(data)) as.list(data) else list(data)
  labels <- names(tables)
  usual <- if (length(tables) > 1) paste0("table", seq_along(tables)) else "table"
  if (is.null(labels)) labels <- usual
  labels[labels == ""] <- usual[labels == ""]
  stats::setNames(lapply(tables, as_source), labels)
}

is_table <- function(data) is.data.frame(data) || is.matrix(data) || (is.character(data) && length(data) == 1)

as_source <- function(table) if (is.character(table) && !is.matrix(table)) path.expand(table) else as_columns(table)

# Tables about items among the options. A key or a map may be a named vector.
about_items <- function(tables) {
  given <- tables[!vapply(tables, is.null, logical(1))]
  for (name in names(given)) {
    table <- given[[name]]
    if (is.character(table) && !is.null(names(table))) {
      fields <- if (name == "key") c("item", "key") else c("name", "item")
      table <- stats::setNames(data.frame(names(table), unname(table), stringsAsFactors = FALSE), fields)
    }
    given[[name]] <- as_source(table)
  }
  given
}

tell <- function(notes) for (note in notes) message("Note: ", note)

# Once per session.
tell_once <- function(notes) for (note in notes) say_once(note, paste("Note:", note))

said <- new.env(parent = emptyenv())

say_once <- function(what, text) {
  if (is.null(said[[what]])) {
    said[[what]] <- TRUE
    message(text)
  }
}

.onLoad <- function(libname, pkgname) .Call("wrap__r_start", PACKAGE = "fedirtr")
