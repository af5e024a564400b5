# Three tables of published.mjs that export.R and export.py do not write: Rscript export-published.R FOLDER
# Debian: apt install r-base-core r-cran-{ddalpha,flexmix}
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

read <- function(package, name) {
  space <- new.env()
  data(list = name, package = package, envir = space)
  get(name, envir = space)
}
write <- function(table, target, name) {
  table$target <- paste0("k", table[[target]])
  table[[target]] <- NULL
  write.csv(table, file.path(folder, paste0(name, ".csv")), row.names = FALSE, na = "")
}
write(read("ddalpha", "bloodtransfusion"), "C", "transfusion")
write(read("ddalpha", "indian_liver_patient_1vs2"), "C", "liver_patients")
write(read("flexmix", "dmft"), "Treatment", "dmft")
