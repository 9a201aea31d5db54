# The pages of coordinator and site are those of the program, which runs in the background until R ends.

pages <- function(arguments, open) {
  program <- Sys.which("fedirt")
  if (!nzchar(program)) {
    stop_option(paste(
      "the program `fedirt` is not on the PATH: `cargo install --path crates/fedirt` of a checkout puts it there,",
      "and so does `pip install ./bindings/python`"
    ))
  }
  log <- tempfile("fedirt-pages-", fileext = ".log")
  command <- paste(c(shQuote(program), arguments), collapse = " ")
  # The shell says under which number it runs.
  pid <- as.integer(system(paste(command, ">", shQuote(log), "2>&1 < /dev/null & echo $!"), intern = TRUE))
  running <- new.env(parent = emptyenv())
  running$pid <- pid
  running$log <- log
  reg.finalizer(running, function(running) tools::pskill(running$pid, tools::SIGTERM), onexit = TRUE)
  running$link <- wait_for_link(running)
  message("The pages are at ", running$link, "\nThey end with this R session, or with stop_pages().")
  if (open) utils::browseURL(running$link)
  invisible(structure(list(link = running$link, pid = pid, log = log, running = running), class = "fedirt_pages"))
}

# The first link that the program prints.
wait_for_link <- function(running, patience = 30) {
  until <- Sys.time() + patience
  repeat {
    said <- if (file.exists(running$log)) readLines(running$log, warn = FALSE) else character()
    line <- grep("open https?://", said, value = TRUE)
    if (length(line) == 0) line <- grep("Pages at https?://", said, value = TRUE)
    if (length(line) > 0) return(sub(".*(https?://[^ ]+).*", "\\1", line[1]))
    if (!tools::pskill(running$pid, 0L)) {
      stop(failure(list(kind = "calibration", problems = list(), message = paste(c("`fedirt` ended:", said), collapse = "\n"))))
    }
    if (Sys.time() > until) {
      tools::pskill(running$pid, tools::SIGTERM)
      stop(failure(list(kind = "calibration", problems = list(), message = paste(c("`fedirt` gave no link:", said), collapse = "\n"))))
    }
    Sys.sleep(0.05)
  }
}

print.fedirt_pages <- function(x, ...) {
  cat("Pages of fedirt at ", x$link, "\n", sep = "")
  invisible(x)
}

stop_pages <- function(pages) invisible(tools::pskill(pages$pid, tools::SIGTERM))

runserver <- function(folder = "hub", open = interactive()) pages(c("coordinator", "start", shQuote(folder)), open)

runclient <- function(home = "home", open = interactive()) pages(c("site", "--home", shQuote(home), "pages"), open)
