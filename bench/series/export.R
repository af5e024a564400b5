# Writes series of R's own data sets as CSV files with a column "time": Rscript bench/series/export.R FOLDER
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE)
save <- function(frame, name) write.csv(frame, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
months <- function(x, name, column = NULL) {
  at <- as.numeric(time(x))
  year <- floor(at + 1e-6)
  month <- 1 + round((at - year) * frequency(x)) * (12 / frequency(x))
  frame <- data.frame(time = sprintf("%04d-%02d-01T00:00:00Z", year, month), as.matrix(x))
  if (!is.null(column)) names(frame)[2] <- column
  save(frame, name)
}
days <- function(x, name, from, column = NULL) {
  frame <- data.frame(time = paste0(as.Date(from) + seq_len(NROW(x)) - 1, "T00:00:00Z"), as.matrix(x))
  if (!is.null(column)) names(frame)[2] <- column
  save(frame, name)
}
months(nottem, "nottem", "temperature")
months(window(sunspots, start = 1900), "sunspots", "spots")
months(Seatbelts, "seatbelts")
months(co2, "co2", "ppm")
months(UKgas, "ukgas", "gas")
months(AirPassengers, "airpassengers", "passengers")
days(EuStockMarkets, "eustock", "1991-07-01")
days(treering, "treering", "1950-01-01", "width")
air <- airquality
save(data.frame(time = sprintf("1973-%02d-%02dT00:00:00Z", air$Month, air$Day), air[, 1:4]), "airquality")
if (requireNamespace("ggplot2", quietly = TRUE)) {
  economics <- as.data.frame(ggplot2::economics)
  names(economics)[1] <- "time"
  economics$time <- paste0(economics$time, "T00:00:00Z")
  save(economics, "economics")
}
if (requireNamespace("forecast", quietly = TRUE)) {
  # Half-hourly demand for electricity in England and Wales, 5 June to 27 August 2000.
  demand <- as.numeric(forecast::taylor)
  time <- as.POSIXct("2000-06-05", tz = "UTC") + 1800 * (seq_along(demand) - 1)
  save(data.frame(time = format(time, "%Y-%m-%dT%H:%M:%SZ"), demand), "taylor")
}
