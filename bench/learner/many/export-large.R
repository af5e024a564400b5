# Further real tables of many rows from R's packages as CSV files: Rscript export-large.R FOLDER
# Debian: the packages of export-fresh.R, and r-cran-{lme4,lubridate,forcats}
# Columns that tell the target, and rows without one, are left out. Of more than 54,000 rows, 54,000 at equal distances are kept.
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
most <- 54000

from <- function(package, name) {
  own <- new.env()
  suppressWarnings(data(list = name, package = package, envir = own))
  as.data.frame(get(name, own))
}

write <- function(name, table, target, without = character()) {
  table <- table[!is.na(table[[target]]), !(names(table) %in% without), drop = FALSE]
  values <- table[[target]]
  table[[target]] <- NULL
  for (column in names(table)) {
    if (inherits(table[[column]], "Date")) table[[column]] <- format(table[[column]])
    if (is.logical(table[[column]])) table[[column]] <- ifelse(table[[column]], "yes", "no")
  }
  table$target <- if (is.factor(values)) paste0("k", values) else values
  if (nrow(table) > most) table <- table[round(seq(1, nrow(table), length.out = most)), ]
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}

write("cps88", from("AER", "CPS1988"), "wage")
write("cps92", from("AER", "CPSSW9204"), "earnings")
write("kids", from("AER", "Fertility2"), "morekids")
write("vocab", from("carData", "Vocab"), "vocabulary")
write("house", from("spData", "house"), "price", c("avalue", "lotID"))
write("chem", from("mlmRev", "Chem97"), "score", c("student", "gcsecnt"))
write("starmath", from("mlmRev", "star"), "math", c("id", "read", "tch"))
write("insteval", from("lme4", "InstEval"), "y")
write("pm10", from("gstat", "DE_RB_2005"), "PM10", c("sp.ID", "endTime", "..1", "country_iso_code", "station_end_date", "annual_mean_PM10", "station_start_date"))
write("sachs", from("gss", "Sachs"), "pka", "grp")
write("goals", from("vcd", "Bundesliga"), "HomeGoals", "Date")
write("obese", from("geepack", "muscatine"), "obese", c("id", "numobese"))
