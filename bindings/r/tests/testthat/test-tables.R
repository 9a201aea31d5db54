test_that("tables of every kind give the same numbers", {
  table <- answers()
  expected <- calibrate(table)
  kinds <- list(
    doubles = replace(table, paste0("i", 1:5), lapply(table[paste0("i", 1:5)], as.numeric)),
    texts = replace(table, c("i1", "i2"), lapply(table[c("i1", "i2")], as.character)),
    logicals = replace(table, c("i1", "i3"), lapply(table[c("i1", "i3")], as.logical)),
    factors = replace(table, c("i1", "school"), list(factor(table$i1, 0:5), factor(table$school, c("none", "west", "south", "north"))))
  )
  for (kind in kinds) same_numbers(calibrate(kind), expected)
})

test_that("a file is the same table", {
  table <- answers()
  file <- tempfile(fileext = ".csv")
  utils::write.csv(table, file, row.names = FALSE, na = "")
  same_numbers(calibrate(file), calibrate(table))
})

test_that("a matrix is students by items", {
  matrix <- as.matrix(answers()[paste0("i", 1:5)])
  expect_equal(fedirt(matrix, 1, threads = 2)$n, 300)
  expect_error(fedirt(t(matrix), 1), "lie on its side", class = "fedirt_data_error")
})

test_that("a list of tables is a list of sites", {
  table <- answers()
  parts <- split(table[names(table) != "school"], table$school)
  fit <- fedirt(parts, 1, id = "pupil", threads = 2)
  expect_identical(site_effects(fit)$site, c("north", "south", "west"))
  names(parts) <- paste("St.", names(parts))
  expect_identical(site_effects(fedirt(parts, 1, id = "pupil", threads = 2))$site, c("St. north", "St. south", "St. west"))
})

test_that("labelled columns of haven lose declared missing values", {
  skip_if_not_installed("haven")
  table <- answers()
  expected <- calibrate(table)
  labelled <- as.numeric(table$i2)
  labelled[is.na(labelled)] <- 9
  table$i2 <- haven::labelled_spss(labelled, c(wrong = 0, right = 1, absent = 9), na_values = 9)
  table$i1 <- haven::labelled(as.numeric(table$i1), c(wrong = 0, right = 1))
  same_numbers(calibrate(table), expected)
})

test_that("ranges and tagged values of haven are missing", {
  skip_if_not_installed("haven")
  table <- answers()
  expected <- calibrate(table)
  plain <- as.numeric(table$i2)
  gap <- is.na(plain)
  table$i2 <- haven::labelled_spss(replace(plain, gap, 97), c(wrong = 0, right = 1), na_range = c(90, 99))
  same_numbers(calibrate(table), expected)
  table$i2 <- haven::labelled_spss(replace(plain, gap, -9), c(wrong = 0, right = 1), na_range = c(-Inf, -1))
  same_numbers(calibrate(table), expected)
  table$i2 <- haven::labelled(
    replace(plain, gap, haven::tagged_na("a")), c(wrong = 0, right = 1, refused = haven::tagged_na("a"))
  )
  same_numbers(calibrate(table), expected)
  # Labels do not make a missing value of what nobody declared: that is a question.
  table$i2 <- haven::labelled(replace(plain, gap, 9), c(wrong = 0, right = 1, absent = 9))
  expect_identical(problem_of(calibrate(table))$problems$column[1], "i2")
})
