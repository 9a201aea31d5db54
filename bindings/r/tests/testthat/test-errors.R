test_that("what is wrong has row, column and value", {
  table <- answers()
  table$i3 <- as.character(table$i3)
  table$i3[42] <- "absent"
  error <- problem_of(calibrate(table))
  expect_s3_class(error, "fedirt_data_error")
  found <- error$problems[1, ]
  expect_identical(list(found$row, found$column, found$value), list(42, "i3", "absent"))
  expect_match(found$remedy, "missing")
})

test_that("halves, negative numbers, dates and lists are no answers", {
  for (wrong in list(0.5, -3, Inf)) {
    table <- answers()
    table$i1 <- as.numeric(table$i1)
    table$i1[5] <- wrong
    expect_identical(problem_of(calibrate(table))$problems$row[1], 5)
  }
  table <- answers()
  table$i4 <- as.Date("2026-01-01")
  expect_identical(problem_of(calibrate(table))$problems$column[1], "i4")
  table$i4 <- as.list(seq_len(300))
  expect_identical(problem_of(calibrate(table))$problems$column[1], "i4")
  table$i4 <- complex(300, 1, 1)
  expect_identical(problem_of(calibrate(table))$problems$column[1], "i4")
})

test_that("a 9 is a question, and NaN is missing", {
  table <- answers()
  table$i1[4] <- 9L
  expect_identical(problem_of(calibrate(table))$problems$column[1], "i1")
  expect_equal(calibrate(table, missing = 9)$n, 300)
  table$i1 <- as.numeric(table$i1)
  table$i1[4] <- NaN
  expect_equal(calibrate(table)$n, 300)
})

test_that("empty tables, duplicate names and columns that do not exist are refused", {
  for (table in list(data.frame(), data.frame(i1 = integer(), i2 = integer()), list())) {
    expect_error(fedirt(table, 1), class = "fedirt_error")
  }
  table <- answers()
  names(table)[4] <- "i1"
  expect_identical(problem_of(calibrate(table))$problems$column[1], "i1")
  error <- problem_of(fedirt(answers(), 1, site = "shcool", id = "pupil"))
  expect_identical(error$problems$column[1], "shcool")
  expect_match(error$problems$remedy[1], "school")
  for (nothing in list(7, NULL, "no/such/file.csv")) expect_error(fedirt(nothing, 1), class = "fedirt_error")
})

test_that("options are checked, all at once", {
  error <- problem_of(calibrate(answers(), quadpts = "many", TOL = list(1, 2), effects = "some"))
  expect_s3_class(error, "fedirt_option_error")
  expect_setequal(error$problems$option, c("nodes", "tolerance", "effects"))
  expect_error(calibrate(answers(), epsilon = 1), "private", class = "fedirt_option_error")
  expect_error(calibrate(answers(), itemtype = "3PL"), class = "fedirt_error")
  expect_error(calibrate(answers(), itemtype = c("2PL", "2PL")), "names", class = "fedirt_option_error")
  expect_error(fedirt(answers(), 2), "dimensions", class = "fedirt_option_error")
})

test_that("a panic is an error of R", {
  error <- problem_of(fedirtr:::native("wrap__r_panic_on_purpose"))
  expect_s3_class(error, "fedirt_internal_error")
  expect_match(conditionMessage(error), "on purpose")
})

test_that("a fit whose session is over says so", {
  file <- tempfile(fileext = ".rds")
  saveRDS(calibrate(answers()), file)
  again <- readRDS(file)
  expect_error(vcov(again), "another session", class = "fedirt_calibration_error")
  expect_error(fscores(again), "another session", class = "fedirt_calibration_error")
  expect_equal(nrow(fscores(again, data = answers(), site = "school", id = "pupil")), 300)
})

test_that("progress sees every round, and its errors end the fit", {
  rounds <- numeric()
  fit <- calibrate(answers(), progress = function(round, loglik, max_gradient, max_change) rounds <<- c(rounds, round))
  expect_identical(rounds, vapply(fit$trace, function(entry) entry$round, 0))
  expect_error(calibrate(answers(), progress = function(...) stop("enough")), "enough")
})
