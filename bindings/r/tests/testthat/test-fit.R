fit <- calibrate(answers())

test_that("estimates come as mirt gives them", {
  expect_identical(names(coef(fit)), c(paste0("i", 1:5), "GroupPars"))
  expect_identical(colnames(coef(fit)$i1), c("a1", "d"))
  expect_identical(rownames(coef(fit, printSE = TRUE)$i1), c("par", "SE"))
  difficulties <- coef(fit, IRTpars = TRUE, simplify = TRUE)$items
  expect_identical(dim(difficulties), c(5L, 4L))
  expect_equal(unname(difficulties["i1", "b"]), fit$items[[1]]$b)
  expect_equal(nrow(as.data.frame(fit)), 5)
})

test_that("covariances and likelihood go with stats", {
  errors <- sqrt(diag(vcov(fit)))
  expect_equal(unname(errors["i1.a"]), fit$items[[1]]$se_a)
  expect_equal(AIC(fit), fit$aic)
  expect_equal(BIC(fit), fit$bic)
  expect_equal(deviance(fit), -2 * fit$loglik)
  expect_equal(nobs(fit), 300)
  expect_equal(attr(logLik(fit), "df"), fit$npar)
  limits <- confint(fit)
  expect_equal(mean(limits["i1.a", ]), fit$items[[1]]$a)
  expect_equal(sum(site_effects(fit)$effect), 0, tolerance = 1e-9)
  expect_equal(ranef(fit)$site[["(Intercept)"]], site_effects(fit)$effect)
})

test_that("models are compared", {
  rasch <- calibrate(answers(), itemtype = "pcm")
  table <- anova(rasch, fit)
  expect_s3_class(table, "anova")
  expect_equal(table$X2[2], 2 * (fit$loglik - rasch$loglik))
  linked <- compare_fits(one = fit, other = fit, link = "haebara")
  expect_equal(linked$links$slope, 1, tolerance = 1e-6)
  expect_output(print(linked), "loglik")
})

test_that("scores stand in the order of the answers", {
  scores <- fscores(fit, full.scores.SE = TRUE)
  expect_identical(colnames(scores), c("F1", "SE_F1"))
  all <- fscores(fit, as = "data.frame")
  expect_identical(all$id, answers()$pupil)
  again <- fscores(fit, data = answers(), site = "school", id = "pupil")
  expect_identical(again[, "F1"], scores[, "F1"])
  expect_identical(colnames(fscores(fit, "plausible", draws = 3, seed = 7)), paste0("PV", 1:3))
  expect_identical(colnames(fscores(fit, scale = c(mean = 500, sd = 100))), c("F1", "F1_scaled"))
  expect_identical(colnames(personfit(fit)), c("outfit", "infit", "Zh"))
  expect_error(fscores(fit, draws = 3), class = "fedirt_option_error")
})

test_that("the model is checked", {
  expect_identical(itemfit(fit)$item, paste0("i", 1:5))
  expect_identical(names(itemfit(fit, "S_X2"))[2], "S_X2")
  expect_identical(dim(residuals(fit)), c(5L, 5L))
  expect_identical(dim(residuals(fit, "LD")), c(5L, 5L))
  simple <- fedirt(stats::na.omit(answers()[paste0("i", 1:5)]), 1, threads = 2)
  expect_error(M2(fit), "site effects", class = "fedirt_calibration_error")
  expect_true(M2(simple)$p <= 1)
  without <- calibrate(answers(), diagnostics = FALSE)
  expect_error(itemfit(without), "diagnostics", class = "fedirt_calibration_error")
})

test_that("curves are those of the model", {
  first <- fit$items[[1]]
  expect_equal(unname(probtrace(fit, first$b)[1, "i1.P.1"]), 0.5)
  expect_equal(unname(iteminfo(fit, first$b)[1, "i1"]), first$a^2 / 4)
  theta <- c(-1, 0, 0, 2)
  expect_equal(testinfo(fit, theta), rowSums(iteminfo(fit, theta)))
  expect_equal(dim(predict(fit, theta)), c(4L, 11L))
})

test_that("everything can be drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (type in c("trace", "info", "infoSE", "infotrace", "score", "wright", "sites")) expect_s3_class(plot(fit, type = type), "fedirt_fit")
  expect_error(plot(fit, which.items = "i9"), "i9", class = "fedirt_option_error")
  file <- tempfile(fileext = ".svg")
  picture(fit, "information", file = file)
  expect_match(readLines(file, n = 1), "^<svg")
  expect_error(picture(fit, "none"), class = "fedirt_option_error")
})

test_that("files are read back to the last digit", {
  file <- tempfile(fileext = ".json")
  write_fit(fit, file)
  same_numbers(read_fit(file), fit)
  expect_error(vcov(read_fit(file)), "covariances", class = "fedirt_calibration_error")
  report(fit, file)
  expect_match(readLines(file, n = 1), "^<!doctype html>")
  writeLines("{}", file)
  expect_error(read_fit(file), class = "fedirt_data_error")
})

test_that("people see text", {
  expect_output(print(fit), "loglik")
  expect_output(print(summary(fit)), "i5")
  expect_output(print(check_responses(answers(), site = "school", id = "pupil")), "alpha", ignore.case = TRUE)
  expect_output(print(plan_private(20, 100, 30, epsilon = c(1, 8))), "epsilon")
})

test_that("keys, anchors, weights and modes work", {
  options <- answers()[c("pupil", "school", paste0("i", 1:4))]
  coded <- calibrate(options)
  options[paste0("i", 1:4)] <- lapply(options[paste0("i", 1:4)], function(x) c("A", "B")[x + 1])
  scored <- calibrate(options, key = c(i1 = "B", i2 = "B", i3 = "B", i4 = "B"))
  expect_identical(scored$items[[1]]$a, coded$items[[1]]$a)
  anchored <- calibrate(answers(), fixed_items = data.frame(item = "i1", a = 1, b = 0))
  expect_true(anchored$items[[1]]$fixed)
  expect_identical(calibrate(cbind(answers(), w = 1.5), weights = "w")$se_type, "sandwich")
  expect_null(calibrate(answers(), mode = "secure")$sites[[1]]$effect)
  private <- suppressMessages(calibrate(answers()[names(answers()) != "i5"], mode = "private", epsilon = 2))
  expect_identical(private$privacy$epsilon, 2)
  expect_warning(calibrate(answers(), max_rounds = 2, TOL = 1e-14), "before the maximum")
  mixed <- calibrate(answers(), itemtype = "Rasch", item_models = list(i5 = "grm"))
  expect_identical(mixed$items[[5]]$model, "grm")
})

test_that("broom's generics find their methods", {
  skip_if_not_installed("generics")
  expect_identical(names(generics::tidy(fit)), c("item", "term", "estimate", "std.error"))
  expect_equal(generics::glance(fit)$logLik, fit$loglik)
  expect_equal(nrow(generics::augment(fit, answers())), 300)
})

test_that("the values are those of mirt's table", {
  expect_identical(as_mirt_values(fit)$name[1:2], c("a1", "d"))
})

test_that("groups and sites are compared", {
  table <- answers()
  table$sex <- rep_len(c("f", "m", "m", "f"), 300)
  found <- suppressMessages(calibrate(table, group = "sex", reference_group = "m", purify = FALSE))
  expect_identical(DIF(found)$item, paste0("i", 1:5))
  table$i5 <- NULL
  binary <- suppressMessages(calibrate(table, group = "sex"))
  expect_match(picture(binary, "group_differences"), "^<svg")
  # A slope and a difficulty more.
  expect_equal(suppressMessages(calibrate(table, group = "sex", free = c(i3 = "all")))$npar, binary$npar + 2)
  expect_error(DIF(fit), class = "fedirt_calibration_error")
  sites <- calibrate(answers(), compare_sites = TRUE, diagnostics = c("influence", "latent", "pairs"))
  for (name in c("site_heterogeneity", "influence", "latent", "dimensions")) expect_gt(nrow(fit_table(sites, name)), 0)
  expect_error(calibrate(answers(), free = list(i3 = "all")), "group", class = "fedirt_option_error")
})

test_that("items are merged, sites weighted, the SD held", {
  merged <- calibrate(answers(), bundles = list(c("i1", "i2"), "i3+i4"))
  expect_identical(vapply(merged$items, function(item) item$name, ""), c("i5", "i1+i2", "i3+i4"))
  expect_identical(calibrate(answers(), bundles = c("i1", "i2"))$items[[4]]$name, "i1+i2")
  expect_identical(calibrate(answers(), site_weights = "equal")$se_type, "sandwich")
  expect_identical(calibrate(answers()[names(answers()) != "i5"], itemtype = "Rasch", latent_sd = 1)$model, "rasch-sd1")
})

test_that("sensitivity puts fits side by side", {
  found <- sensitivity(answers(), "sites", site = "school", id = "pupil", itemtype = "pcm")
  expect_identical(found$fits$fit[1], "as it is")
  expect_true(all(c("b", "b_there", "b_change_in_se") %in% names(found$items)))
  expect_output(print(found), "sites count equally")
  expect_error(sensitivity(answers(), "sites", "school"), "names", class = "fedirt_option_error")
})

test_that("answers are drawn anew from a fit", {
  drawn <- simulate(fit, nsim = 2, seed = 4)
  expect_identical(names(drawn), c("sim_1", "sim_2"))
  expect_identical(drawn, simulate(fit, nsim = 2, seed = 4))
  expect_identical(dim(drawn[[1]]), c(300L, 7L))
  again <- fedirt(drawn[[1]], 1, site = "site", id = "id", threads = 2)
  far <- mapply(function(one, other) (one$b[[1]] - other$b[[1]]) / sqrt(one$se_b[[1]]^2 + other$se_b[[1]]^2), fit$items, again$items)
  expect_true(all(abs(far) < 4))
  secure <- calibrate(answers(), mode = "secure")
  expect_error(simulate(secure, seed = 1), "release", class = "fedirt_calibration_error")
})

test_that("private studies are planned with booklets and mechanisms", {
  plan <- function(...) plan_private(4, 200, 4, epsilon = 1, ...)$table$se_b
  expect_gt(plan(booklets = list(1:3, 2:4)), plan())
  expect_gt(plan(mechanism = "score2"), 0)
  expect_error(plan(booklets = list(1:5)), class = "fedirt_option_error")
})
