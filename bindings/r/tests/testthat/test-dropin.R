test_that("FedIRT's calls work, and say once what differs", {
  rm(list = ls(fedirtr:::said), envir = fedirtr:::said)
  table <- answers()[c("school", paste0("i", 1:4))]
  names(table)[1] <- "site"
  expect_message(found <- fedirt_file(table, model_name = "2PL", school_effect = TRUE), "not FedIRT")
  expect_silent(fedirt_file(table, school_effect = TRUE))
  expect_setequal(
    names(found), c("a", "b", "loglik", "SE", "person", "par", "counts", "convergence", "message", "sc")
  )
  expect_equal(sum(found$sc), 0, tolerance = 1e-9)
  expect_identical(names(found$a), paste0("i", 1:4))
  expect_equal(lengths(personscore(found)), c(north = 100L, south = 100L, west = 100L))
  expect_identical(SE(found), found$SE)
  expect_equal(nrow(suppressMessages(personfit(found))), 300)
  parts <- lapply(split(table[-1], table$site), as.matrix)
  listed <- fedirt(inputdata = unname(parts), model_name = "2PL", school_effect = TRUE)
  expect_equal(unname(listed$a), unname(found$a), tolerance = 1e-6)
  expect_message(fedirt_file(table, "graded"), "generalised partial credit")
})

test_that("what leaks or is no estimate is refused", {
  expect_error(fedirt_file(answers(), federated = "Med"), "median", class = "fedirt_option_error")
  expect_error(fedirt_2PL(3, identity, identity), "item totals", class = "fedirt_option_error")
  expect_error(fedirt_gpcm(3, 2, identity, identity), "item totals", class = "fedirt_option_error")
})

test_that("pages are those of the program", {
  path <- Sys.getenv("PATH")
  on.exit(Sys.setenv(PATH = path))
  Sys.setenv(PATH = tempdir())
  expect_error(runserver(open = FALSE), "PATH", class = "fedirt_option_error")
})
