schools <- function() {
  table <- answers()[c("school", paste0("i", 1:4))]
  names(table)[1] <- "site"
  table
}

quietly <- function(expression) suppressMessages(expression)

test_that("FedIRT's calls work, and say once what differs", {
  rm(list = ls(fedirtr:::said), envir = fedirtr:::said)
  expect_message(found <- fedirt_file(inputdata = schools(), model_name = "2PL", school_effect = TRUE), "not FedIRT")
  expect_silent(fedirt_file(schools(), school_effect = TRUE))
  expect_true(all(
    c("par", "value", "counts", "convergence", "message", "loglik", "a", "b", "sc", "SE", "person") %in% names(found)
  ))
  expect_s3_class(found, c("fedirt", "fedirt_result"), exact = TRUE)
  expect_equal(sum(found$sc), 0, tolerance = 1e-9)
  expect_identical(names(found$a), paste0("i", 1:4))
  expect_identical(found$value, found$loglik)
  expect_identical(names(found$counts), c("function", "gradient"))
  expect_identical(unname(found$par), unname(c(found$a, found$b, found$sc)))
  expect_identical(SE(found), found$SE)
  expect_identical(lengths(found$SE), c(a = 4L, b = 4L, sc = 3L))
  expect_message(fedirt_file(schools(), "graded"), "generalised partial credit")
})

test_that("lists of matrices need no more than FedIRT asks for", {
  parts <- unname(lapply(split(schools()[-1], schools()$site), as.matrix))
  by_name <- quietly(fedirt(inputdata = parts, model_name = "2PL"))
  for (found in list(quietly(fedirt(parts)), quietly(fedirt(parts, "2PL")), quietly(fedirt(parts, "2PL", FALSE, "Avg")))) {
    expect_s3_class(found, "fedirt_result")
    expect_identical(found$par, by_name$par)
  }
  with <- quietly(fedirt(parts, "2PL", TRUE))
  expect_equal(unname(with$a), unname(quietly(fedirt_file(schools(), school_effect = TRUE))$a), tolerance = 1e-6)
  expect_error(quietly(fedirt(parts, "2PL", FALSE, "Med")), "median", class = "fedirt_option_error")
  # What says that it is for fedirtr is fedirtr's.
  expect_s3_class(fedirt(parts, 1), "fedirt_fit")
  expect_s3_class(fedirt(parts, itemtype = "2PL"), "fedirt_fit")
})

test_that("the 1PL model has slopes of 1 and no errors of slopes", {
  found <- quietly(fedirt_file(schools(), "1PL"))
  expect_true(all(found$a == 1))
  expect_identical(names(found$SE), "b")
  expect_identical(found$par, found$b)
  expect_identical(attr(found, "fit")$latent$sd, 1)
  # Its log-likelihood is that of the paper's grid but for the mass outside of it.
  on_grid <- logL(found$a, found$b, as.matrix(schools()[-1]))
  expect_equal(found$loglik, on_grid + 300 * 0.00163, tolerance = 1e-4)
})

test_that("students stand by school", {
  found <- quietly(fedirt_file(schools(), "2PL"))
  person <- found$person
  expect_identical(names(person), c("a", "b", "ability", "site", "person", "fit"))
  expect_identical(vapply(person$ability, nrow, 0L), c(north = 100L, south = 100L, west = 100L))
  expect_equal(person$person[[2]], person$ability[[2]] - person$site[[2]])
  expect_equal(mean(person$person[[3]]), 0, tolerance = 1e-12)
  scores <- personscore(found)
  expect_s3_class(scores, "personscore")
  expect_identical(scores[["north"]], person$ability[["north"]])
  fit <- quietly(personfit(found))
  expect_s3_class(fit, "personfit")
  expect_identical(names(fit[[1]]), c("Lz", "Zh", "Infit", "Outfit"))
  expect_length(fit[[3]]$Zh, 100)
  expect_output(print(scores), "north")
  expect_output(print(fit), "Infit")
  with <- quietly(fedirt_file(schools(), school_effect = TRUE))
  all <- fscores(attr(with, "fit"))[, "F1"]
  expect_equal(with$person$ability[["south"]][, 1] + with$sc[["south"]], unname(all[schools()$site == "south"]))
  expect_identical(unlist(with$person$site), with$sc)
})

test_that("difficulties of several categories are flat and by item", {
  table <- cbind(schools(), i5 = answers()$i5)
  found <- quietly(fedirt_file(table, "graded"))
  expect_identical(names(found$b)[4:6], c("i4", "i5.1", "i5.2"))
  expect_identical(unname(unlist(found$b_by_item)), unname(found$b))
  expect_identical(names(found$SE$b), names(found$b))
})

test_that("results are shown", {
  found <- quietly(fedirt_file(schools(), school_effect = TRUE))
  expect_output(print(found), "loglik")
  expect_output(print(summary(found)), "School effects")
})

test_that("the published likelihood has the published gradient", {
  data <- as.matrix(answers()[1:60, paste0("i", 1:5)])
  a <- c(0.8, 1.2, 1, 1.5)
  b <- c(-0.5, 0.2, 0.9, -1.1)
  h <- 1e-5
  at <- function(i, by) replace(numeric(4), i, by)
  found <- g_logL(a, b, data[, 1:4])
  for (i in 1:4) {
    expect_equal(found[[1]][i], (logL(a + at(i, h), b, data[, 1:4]) - logL(a - at(i, h), b, data[, 1:4])) / (2 * h), tolerance = 1e-6)
    expect_equal(found[[2]][i], (logL(a, b + at(i, h), data[, 1:4]) - logL(a, b - at(i, h), data[, 1:4])) / (2 * h), tolerance = 1e-6)
  }
  # Item by item or one after the other; with two categories the models are one.
  steps <- list(-0.5, 0.2, 0.9, -1.1, c(0.3, -0.2))
  expect_identical(logL_gpcm(c(a, 1), steps, data), logL_gpcm(c(a, 1), unlist(steps), data))
  expect_identical(logL_gpcm(a, b, data[, 1:4]), logL(a, b, data[, 1:4]))
  expect_identical(dim(g_logL_gpcm(c(a, 1), steps, data)[[2]]), c(6L, 1L))
  # The formula itself, in R.
  nodes <- seq(-3, 3, length.out = 21)
  mass <- stats::pnorm(nodes + 0.15) - stats::pnorm(nodes - 0.15)
  likelihood <- function(x) {
    p <- stats::plogis(outer(nodes, seq_along(a), function(v, j) a[j] * (v - b[j])))
    given <- which(!is.na(x))
    sum(mass * apply(p[, given, drop = FALSE], 1, function(p) prod(ifelse(x[given] == 1, p, 1 - p))))
  }
  expect_equal(logL(a, b, data[, 1:4]), sum(log(apply(data[, 1:4], 1, likelihood))))
  expect_error(logL(a, b[1:3], data[, 1:4]), class = "fedirt_data_error")
  expect_error(logL(a, b, data[, 1:4] + 5), "no category", class = "fedirt_data_error")
  expect_error(logL_gpcm(c(a, 1), unlist(steps)[-1], data), "add up", class = "fedirt_option_error")
})

test_that("what leaks or is no estimate is refused", {
  expect_error(fedirt_file(answers(), federated = "Med"), "median", class = "fedirt_option_error")
  expect_error(fedirt_2PL(3, identity, identity), "item totals", class = "fedirt_option_error")
  expect_error(fedirt_gpcm(3, 2, identity, identity), "item totals", class = "fedirt_option_error")
  expect_error(fedirt_file(schools(), "3PL"), "3PL", class = "fedirt_option_error")
})

test_that("pages are those of the program", {
  path <- Sys.getenv("PATH")
  on.exit(Sys.setenv(PATH = path))
  Sys.setenv(PATH = tempdir())
  expect_error(runserver(open = FALSE), "PATH", class = "fedirt_option_error")
})

test_that("pages run in the background", {
  with_program()
  home <- file.path(tempfile(), "home")
  dir.create(dirname(home))
  expect_identical(system2("fedirt", c("site", "--home", shQuote(home), "init"), stdout = FALSE, stderr = FALSE), 0L)
  pages <- quietly(runclient(home, open = FALSE))
  expect_match(pages$link, "^http://127.0.0.1:[0-9]+/")
  expect_true(tools::pskill(pages$pid, 0))
  expect_output(print(pages), "127.0.0.1")
  expect_true(stop_pages(pages))
  expect_error(quietly(runserver(file.path(home, "none"), open = FALSE)), "ended", class = "fedirt_error")
})
