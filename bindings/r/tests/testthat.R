library(testthat)
library(fedirtr)

test_check("fedirtr")
