# Real tables from R's packages as CSV files: Rscript export.R FOLDER
# Debian: apt install r-base-core r-recommended r-cran-{mlbench,modeldata,aer,cardata,caret,kernlab,ggplot2,dplyr,plyr,plm,vcd,collapse,robustbase,reshape2}
# A package that is not installed is passed by. Columns that tell the target, and rows without one, are left out.
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)

# name, package, data set, target, columns left out (separated by commas)
tables <- "
boston mlbench BostonHousing medv
ozone mlbench Ozone V4
servo mlbench Servo Class
sonar mlbench Sonar Class
ionosphere mlbench Ionosphere Class
vehicle mlbench Vehicle Class
vowel mlbench Vowel Class V1
glass mlbench Glass Type
zoo mlbench Zoo type
vote mlbench HouseVotes84 Class
pima mlbench PimaIndiansDiabetes2 diabetes
breast mlbench BreastCancer Class Id
dna mlbench DNA Class
letters mlbench LetterRecognition lettr
satellite mlbench Satellite classes
shuttle mlbench Shuttle Class
soybean mlbench Soybean Class
concrete modeldata concrete compressive_strength
ames modeldata ames Sale_Price
meats modeldata meats fat water,protein
cars modeldata car_prices Price
sacramento modeldata Sacramento price
biomass modeldata biomass HHV sample
chicago modeldata Chicago ridership
attrition modeldata attrition Attrition
credit modeldata credit_data Status
churn modeldata mlc_churn churn
telco modeldata wa_churn churn
penguins modeldata penguins species
hpc modeldata hpc_data class
alzheimer modeldata ad_data Class
lending modeldata lending_club Class
oils modeldata oils class
remote modeldata stackoverflow Remote
cells modeldata cells class case
schools AER CASchools math read,district,school
guns AER Guns violent
houses AER HousePrices price
massachusetts AER MASchools score4 score8,district,municipality
wage AER CPS1985 wage
card AER CreditCard card
mortgage AER HMDA deny
electricity AER Electricity1970 cost
fatalities AER Fatalities nfatal fatal,sfatal,nfatal1517,nfatal1820,nfatal2124,fatal1517,fatal1820,fatal2124,afatal
nations carData UN lifeExpF
salaries carData Salaries salary
vote_chile carData Chile vote
mroz carData Mroz lfp
arrests carData Arrests released
dhfr caret dhfr Y
german caret GermanCredit Class
spam kernlab spam type
musk kernlab musk Class
insurance kernlab ticdata CARAVAN
income kernlab income INCOME
diamonds ggplot2 diamonds price
homes_texas ggplot2 txhousing median
storms dplyr storms wind category,tropicalstorm_force_diameter,hurricane_force_diameter,name
batting plyr baseball r id
states plm Produc gsp
world collapse wlddev LIFEEX iso3c,date,decade
players vcd Baseball sal87 name1,name2
nox robustbase NOxEmissions LNOx
tips reshape2 tips tip
language nlme bdf langPOST aritPOST,pupilNR,IQ.ver.cen,grpIQ,avg.IQ.ver.cen
soil MASS gilgais e80
cpus MASS cpus perf estperf,name
birthweight MASS birthwt low bwt
crabs MASS crabs sp
landing MASS shuttle use
earthquakes datasets quakes mag
fertility datasets swiss Fertility
air datasets airquality Ozone
kyphosis rpart kyphosis Kyphosis
"
for (line in strsplit(trimws(tables), "\n")[[1]]) {
  part <- strsplit(line, " ")[[1]]
  table <- tryCatch({
    space <- new.env()
    suppressWarnings(data(list = part[3], package = part[2], envir = space))
    as.data.frame(get(part[3], envir = space))
  }, error = function(e) NULL)
  if (is.null(table)) {
    message("not there: ", part[1])
    next
  }
  if (length(part) > 4) table <- table[, !(names(table) %in% strsplit(part[5], ",")[[1]])]
  table <- table[!is.na(table[[part[4]]]), ]
  # The target last, as the bench reads it; classes get a letter, so that they are no numbers.
  target <- table[[part[4]]]
  table[[part[4]]] <- NULL
  classes <- is.factor(target) || is.character(target) || is.logical(target) || part[1] == "birthweight"
  table$target <- if (classes) paste0("k", target) else target
  write.csv(table, file.path(folder, paste0(part[1], ".csv")), row.names = FALSE, na = "")
}

# Tables without any noise, which are all cases of a rule.
lines <- rbind(c(1, 2, 3), c(4, 5, 6), c(7, 8, 9), c(1, 4, 7), c(2, 5, 8), c(3, 6, 9), c(1, 5, 9), c(3, 5, 7))
won <- function(board, by) any(apply(lines, 1, function(at) all(board[at] == by)))
boards <- as.matrix(expand.grid(rep(list(c("b", "o", "x")), 9), stringsAsFactors = FALSE))
crosses <- rowSums(boards == "x")
noughts <- rowSums(boards == "o")
ended <- sapply(seq_len(nrow(boards)), function(i) {
  x <- won(boards[i, ], "x")
  o <- won(boards[i, ], "o")
  if (x && !o && crosses[i] == noughts[i] + 1) return("won")
  if (o && !x && crosses[i] == noughts[i]) return("lost")
  if (!x && !o && crosses[i] == 5 && noughts[i] == 4) return("lost")
  NA
})
board <- data.frame(boards[!is.na(ended), ], target = ended[!is.na(ended)])
write.csv(board, file.path(folder, "tictactoe.csv"), row.names = FALSE)
scale <- expand.grid(left_weight = 1:5, left_distance = 1:5, right_weight = 1:5, right_distance = 1:5)
turn <- sign(scale$left_weight * scale$left_distance - scale$right_weight * scale$right_distance)
scale$target <- c("right", "balanced", "left")[turn + 2]
write.csv(scale, file.path(folder, "balance.csv"), row.names = FALSE)
monks <- expand.grid(head = c("round", "square", "octagon"), body = c("round", "square", "octagon"), smiles = c("yes", "no"),
  holds = c("sword", "balloon", "flag"), jacket = c("red", "yellow", "green", "blue"), tie = c("yes", "no"))
monks$target <- ifelse(as.character(monks$head) == as.character(monks$body) | monks$jacket == "red", "monk", "other")
write.csv(monks, file.path(folder, "monks.csv"), row.names = FALSE)
