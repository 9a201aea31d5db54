# Pictures: base graphics here, SVG of the library in picture().

picture <- function(fit, type = "trace", items = NULL, file = NULL) {
  drawing <- native("wrap__r_picture", json_of(fit), type, as.character(items))
  if (is.null(file)) return(drawing)
  writeLines(drawing, file, useBytes = TRUE)
  invisible(drawing)
}

plot.fedirt_fit <- function(
    x, type = c("trace", "info", "infoSE", "infotrace", "score", "wright", "sites"), which.items = NULL, theta = NULL, ...) {
  type <- match.arg(type)
  if (is.null(theta)) theta <- x$latent$mean + x$latent$sd * seq(-4, 4, length.out = 121)
  labels <- vapply(x$items, function(item) item$name, "")
  if (is.null(which.items)) which.items <- seq_along(labels)
  chosen <- if (is.character(which.items)) which.items else labels[which.items]
  switch(type,
    trace = plot_items(x, theta, chosen, "probability", "P(theta)", c(0, 1)),
    infotrace = plot_items(x, theta, chosen, "information", "I(theta)", NULL),
    info = plot_line(theta, testinfo(x, theta), "I(theta)", ...),
    infoSE = plot_info_se(x, theta, ...),
    score = plot_line(theta, expected_score(x, theta), "T(theta)", ...),
    wright = plot_wright(x, labels, ...),
    sites = plot_sites(x, ...)
  )
  invisible(x)
}

colours <- c("#0b5f8a", "#b3541e", "#3d7a3a", "#6b4c9a", "#8a1f4b", "#5b6570", "#a67c00", "#00798c")

plot_line <- function(theta, values, label, ...) {
  graphics::matplot(theta, values, type = "l", lty = 1, lwd = 2, col = colours[1], xlab = expression(theta), ylab = label, las = 1, ...)
}

plot_items <- function(x, theta, chosen, what, label, limits) {
  table <- curves(x, theta)
  unknown <- setdiff(chosen, table$item)
  if (length(unknown) > 0) stop_option(paste0("there is no item ", unknown[1], " with estimates in this fit"))
  columns <- ceiling(sqrt(length(chosen)))
  before <- graphics::par(mfrow = c(ceiling(length(chosen) / columns), columns), mar = c(4, 4, 2, 1))
  on.exit(graphics::par(before))
  for (item in chosen) {
    own <- table[table$item == item, ]
    codes <- unique(own$category)
    values <- matrix(own[[what]], nrow = length(theta))
    if (what == "information") values <- values[, 1]
    # Of two categories the higher one says it all.
    if (what == "probability" && length(codes) == 2) {
      values <- values[, 2]
      codes <- codes[2]
    }
    graphics::matplot(
      theta, values, type = "l", lty = 1, lwd = 2, col = colours, ylim = limits, xlab = expression(theta), ylab = label,
      main = item, las = 1
    )
    if (what == "probability" && length(codes) > 1) {
      graphics::legend("right", legend = codes, col = colours[seq_along(codes)], lwd = 2, bty = "n")
    }
  }
}

plot_info_se <- function(x, theta, ...) {
  information <- testinfo(x, theta)
  before <- graphics::par(mfrow = c(2, 1), mar = c(4, 4, 1, 1))
  on.exit(graphics::par(before))
  plot_line(theta, information, "I(theta)", ...)
  # Far out the error grows without bound.
  errors <- 1 / sqrt(information)
  plot_line(theta, ifelse(errors > 6 * min(errors), NA, errors), "SE(theta)", ...)
}

expected_score <- function(x, theta) {
  table <- curves(x, theta)
  items <- unique(table$item)
  rowSums(vapply(items, function(item) table$expected_score[table$item == item][seq_along(theta)], numeric(length(theta))))
}

plot_wright <- function(x, labels, ...) {
  difficulties <- lapply(x$items, function(item) as.numeric(unlist(item$b)))
  histogram <- x$ability_histogram
  limits <- range(unlist(difficulties), histogram$edges, na.rm = TRUE)
  before <- graphics::par(mfrow = c(1, 2), mar = c(4, 4, 1, 1))
  on.exit(graphics::par(before))
  plot(NULL, xlim = c(max(1, histogram$counts), 0), ylim = limits, xlab = "N", ylab = expression(theta), las = 1)
  if (!is.null(histogram)) {
    edges <- histogram$edges
    graphics::segments(0, (edges[-1] + edges[-length(edges)]) / 2, histogram$counts, col = colours[1], lwd = 4, lend = 1)
  }
  steps <- lengths(difficulties)
  plot(rep(seq_along(labels), steps), unlist(difficulties), ylim = limits, xaxt = "n", xlab = "", ylab = "b", pch = 19, las = 1,
    col = colours[2], ...)
  graphics::axis(1, at = seq_along(labels), labels = labels, las = 2, cex.axis = 0.7)
}

plot_sites <- function(x, ...) {
  sites <- site_effects(x)
  sites <- sites[!is.na(sites$effect), ]
  if (nrow(sites) == 0) stop(failure(list(kind = "calibration", problems = list(), message = "this fit has no effects of sites")))
  sites <- sites[order(sites$effect), ]
  places <- seq_len(nrow(sites))
  half <- stats::qnorm(0.975) * ifelse(is.na(sites$se), 0, sites$se)
  before <- graphics::par(mar = c(4, max(4, 0.6 * max(nchar(sites$site))), 1, 1))
  on.exit(graphics::par(before))
  plot(sites$effect, places, xlim = range(sites$effect - half, sites$effect + half), yaxt = "n", pch = 19, col = colours[1],
    xlab = "effect", ylab = "", ...)
  graphics::abline(v = 0, lty = 3)
  graphics::segments(sites$effect - half, places, sites$effect + half, places, col = colours[1])
  graphics::axis(2, at = places, labels = sites$site, las = 1, cex.axis = 0.8)
}
