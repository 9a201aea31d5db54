# Answers of students at three schools to four 0/1 items and one with three categories.
answers <- function(students = 300) {
  set.seed(1)
  ability <- rnorm(students)
  table <- data.frame(
    pupil = paste0("p", seq_len(students)), school = rep_len(c("north", "south", "west"), students), stringsAsFactors = FALSE
  )
  for (item in 1:4) table[[paste0("i", item)]] <- as.integer(ability + rnorm(students) > (item - 2.5) / 2)
  table$i5 <- (ability + rnorm(students) > -0.5) + (ability + rnorm(students) > 0.5)
  table$i2[8] <- NA
  table
}

calibrate <- function(table, ...) fedirt(table, 1, site = "school", id = "pupil", threads = 2, ...)

same_numbers <- function(one, other) {
  attributes(one) <- attributes(other) <- list(names = names(one))
  one$provenance <- other$provenance <- NULL
  expect_identical(one, other)
}

problem_of <- function(expression) {
  tryCatch(expression, fedirt_error = function(error) error)
}

# Puts the program `fedirt` on the PATH, for the test that calls this: FEDIRT_PROGRAM names it, where it is not there already.
with_program <- function(frame = parent.frame()) {
  program <- Sys.getenv("FEDIRT_PROGRAM", Sys.which("fedirt"))
  skip_if(!nzchar(program), "the program fedirt is not there")
  path <- Sys.getenv("PATH")
  folder <- tempfile("program")
  dir.create(folder)
  file.symlink(normalizePath(program), file.path(folder, "fedirt"))
  Sys.setenv(PATH = paste(folder, path, sep = .Platform$path.sep))
  do.call(on.exit, list(bquote(Sys.setenv(PATH = .(path))), add = TRUE), envir = frame)
}
