# The numbers of the package are those of the program, to the last bit.

of_program <- function(file, ...) {
  text <- system2("fedirt", c("fit", shQuote(file), "--json", ...), stdout = TRUE, stderr = FALSE)
  fedirtr:::as_fit(paste(text, collapse = "\n"))
}

test_that("fits are those of the command line, bit for bit", {
  with_program()
  table <- answers()
  file <- tempfile(fileext = ".csv")
  utils::write.csv(table, file, row.names = FALSE, na = "", quote = FALSE)
  columns <- c("--site", "school", "--id", "pupil")
  options <- list(
    list(list(), character()),
    list(list(itemtype = "Rasch", effects = "random"), c("--model", "rasch", "--effects", "random")),
    list(list(itemtype = "graded", quadpts = 41), c("--model", "grm", "--nodes", "41")),
    list(list(mode = "secure", publish_effects = TRUE), c("--secure", "--publish-effects")),
    list(list(bundles = c("i1", "i2"), site_weights = "equal"), c("--bundle", "i1+i2", "--site-weights", "equal")),
    list(list(population = "mixture:2", compare_sites = TRUE), c("--population", "mixture:2", "--compare-sites"))
  )
  for (option in options) {
    ours <- suppressWarnings(suppressMessages(do.call(calibrate, c(list(table), option[[1]]))))
    theirs <- of_program(file, columns, option[[2]])
    same_numbers(unclass(ours), unclass(theirs))
  }
})

test_that("groups are those of the command line, bit for bit", {
  with_program()
  table <- answers()
  table$sex <- rep_len(c("f", "m", "m", "f", "m"), 300)
  file <- tempfile(fileext = ".csv")
  utils::write.csv(table, file, row.names = FALSE, na = "", quote = FALSE)
  ours <- suppressMessages(calibrate(table, group = "sex", reference_group = "f", free = list(i3 = "m"), purify = FALSE))
  theirs <- of_program(
    file, "--site", "school", "--id", "pupil", "--group", "sex", "--reference-group", "f", "--free", "i3:m", "--no-purify"
  )
  same_numbers(unclass(ours), unclass(theirs))
  expect_gt(nrow(DIF(ours)), 0)
})
