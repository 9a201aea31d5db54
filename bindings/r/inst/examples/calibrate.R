# Calibrates, criticises, compares, draws and scores: `Rscript calibrate.R FOLDER` writes pictures and a report there.

library(fedirtr)

arguments <- commandArgs(TRUE)
folder <- if (length(arguments) > 0) arguments[1] else "pictures"
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

# Answers of three schools, simulated, so that the truth is known.
answers <- simulate_sites(sites = 3, students = 400, items = 8, site_effects = c(-0.5, 0, 0.5), seed = 1)
truth <- attr(answers, "truth")
print(check_responses(answers, site = "site", id = "id"))

# Calibrate.
fit <- fedirt(answers, 1, "2PL", site = "site", id = "id")
print(fit)
print(coef(fit, IRTpars = TRUE, simplify = TRUE, printSE = TRUE), digits = 3)
print(site_effects(fit), digits = 3)
far <- mapply(function(item, true) (item$b[[1]] - true$b[[1]]) / item$se_b[[1]], fit$items, truth$items)
cat("Difficulties are", paste(format(round(far, 1)), collapse = ", "), "standard errors from the truth.\n")

# Criticise.
print(itemfit(fit, "S_X2"), digits = 3)
for (entry in fit$diagnostics$not_available) cat("no ", entry$name, ": ", entry$reason, "\n", sep = "")
for (finding in fit$diagnostics$findings) cat(finding$message, "\n")

# Compare.
rasch <- fedirt(answers, 1, "Rasch", site = "site", id = "id")
print(anova(rasch, fit))
print(sensitivity(answers, vary = "sites", site = "site", id = "id", itemtype = "Rasch"))

# Score: with the school's distribution as prior, and with the same prior for all.
print(head(fscores(fit, full.scores.SE = TRUE)), digits = 3)
print(head(fscores(fit, prior = "common", scale = c(mean = 500, sd = 100))), digits = 3)

# Draw: with R's graphics, and the pictures of the library.
for (type in c("trace", "info", "infoSE", "infotrace", "score", "wright", "sites")) {
  grDevices::png(file.path(folder, paste0(type, ".png")), width = 900, height = 700, res = 110)
  plot(fit, type = type)
  grDevices::dev.off()
}
for (type in c("trace", "wright", "scree")) picture(fit, type, file = file.path(folder, paste0(type, ".svg")))
report(fit, file.path(folder, "report.html"))

# What privacy would cost.
print(plan_private(sites = 3, students = 400, items = 8, epsilon = c(1, 2, 4, 8), effects = "none"))
