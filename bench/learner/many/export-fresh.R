# Further real tables from R's packages as CSV files, none of them written by export.R: Rscript export-fresh.R FOLDER
# Debian: apt install r-base-core r-recommended
#   r-cran-{aer,cardata,caret,ddalpha,gclus,geepack,ggplot2,gss,gstat,hsaur3,ipred,kernlab,lava,locfit,mclust,mlmrev,modeldata,plm,pscl,quantreg,robustbase,sm,sp,spdata,survey,systemfit,th.data,vcd,vcdextra}
# A package that is not installed is passed by. Columns that tell the target, and rows without one, are left out. Of more
# than 5,000 rows, 5,000 at equal distances are kept.
folder <- commandArgs(TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
most <- 5000

# name, package (and file of the package, where it is named otherwise than the data set), data set, target (and "!" where
# its numbers are classes), columns left out (separated by commas)
tables <- "
affairs AER Affairs affairs
teaching AER TeachingRatings eval prof
journals AER Journals subs title
cigarettes AER CigarettesSW packs
growth AER GrowthDJ gdpgrowth gdp85
doctors AER NMES1988 visits
natural_gas AER NaturalGas consumption statecode
petrol AER OECDGas gas
airlines AER USAirlines cost
seatbelts AER USSeatBelts fatalities
municipalities AER Municipalities expenditures municipality
psid AER PSID1982 wage
anscombe carData Anscombe education
davis carData Davis weight
census carData Ericksen undercount
infants carData Leinhardt infant
prestige carData Prestige prestige
interlocks carData Ornstein interlocks
ontario carData SLID wages
un98 carData UN98 tfr
bodyfat TH.data bodyfat DEXfat
cigar plm Cigar sales
rice plm RiceFarms goutput noutput,id
crime plm Crime crmrte lcrmrte,county
employment plm EmplUK emp firm
mpg ggplot2 mpg hwy cty
sleep ggplot2 msleep sleep_total name,awake,genus
midwest ggplot2 midwest percbelowpoverty PID,county,poppovertyknown,percpovertyknown,percchildbelowpovert,percadultpoverty,percelderlypoverty
no2 gss NO2 no2
lakes gss LakeAcidity ph geog
jura gstat/jura prediction.dat Cd
zinc sp meuse zinc cadmium,copper,lead
dublin gstat wind DUB
fulmar gstat fulmar fulmar
pcb gstat pcb PCB138 yf
forbes HSAUR3 Forbes2000 marketvalue name,rank
planets HSAUR3 planets mass
cars90 rpart car90 Price Model2
solder rpart solder skips
cars93 MASS Cars93 Price Min.Price,Max.Price,Model,Make
cereals MASS UScereal calories
uscrime MASS UScrime y
quine MASS quine Days
athletes locfit ais BFat LBM
ethanol lattice ethanol NOx
motorcycle MASS mcycle accel
body gclus body Weight
pigs geepack dietox Weight
remifentanil nlme Remifentanil conc ID,Subject
soya nlme Soybean weight Plot
wafer nlme Wafer current
aircraft sm aircraft Speed
radiocarbon sm radioc Cal.age
trawl sm trawl Score1 Score2
baltimore spData baltimore PRICE STATION
columbus mgcv columb crime
flats spData properties price prpsqm,id,geometry
school_scores survey/api apistrat api00 api99,growth,target,cds,name,sname,snum,dname,dnum,cname,cnum,sch.wide,comp.imp,both,awards,pw,fpc
pines systemfit ppine hg
attenuation datasets attenu accel
chicks datasets ChickWeight weight
theophylline datasets Theoph conc
barro quantreg barro y.net
mammals quantreg Mammals speed
radar robustbase radarImage Band.1
pulp robustbase pulpfiber Y1 Y2,Y3,Y4
commons pscl UKHouseOfCommons y1 y2,v1,v2,v3,constituency
bmi lava bmidata BMIadult
checks modeldata check_times check_time package
kidneys survival flchain creatinine flc.grp
cartel AER CartelStability cartel
school_track AER GSOEP9402 school
health_insurance AER HealthInsurance insurance
mortgage_rates AER Mortgage rate
callbacks AER ResumeNames call
swiss_work AER SwissLabor participation
travel AER TravelMode choice individual
british_vote carData BEPS vote
abortion carData CES11 abortion id
appeals carData Greene decision
stops carData MplsStops problem idNum,date
titanic carData TitanicSurvival survived
poverty carData WVS poverty
aids MASS Aids2 status death
bacteria MASS bacteria y ID
painters MASS painters School
survey MASS survey Sex
synthetic MASS synth.te yc!
infertility datasets infert case! stratum,pooled.stratum
glaucoma TH.data GlaucomaM Class
recurrence TH.data wpbc status time
urine boot urine r!
prostate rpart stagec pgstat! pgtime
icu vcdExtra ICU died
arthritis vcd Arthritis Improved ID
wilms survival nwtco rel! seqno,edrel,in.subcohort
banknotes mclust banknote Status
thyroid mclust thyroid Diagnosis
sugar mclust diabetes class
kangaroos locfit kangaroo spec
liver_metastases locfit livmet z! pt,t
scat caret scat Species
promoters kernlab promotergene Class
contraception mlmRev Contraception use woman
immunised mlmRev guImmun immun kid,mom
prenatal mlmRev guPrenat prenat kid,mom
vote92 pscl vote92 vote
blood_donors ddalpha bloodtransfusion C!
bupa ddalpha bupa C!
heart ddalpha heart C!
liver ddalpha indian_liver_patient_1vs2 C!
spine ddalpha vertebral_column C!
segments ddalpha segmentation C!
ecoli ddalpha ecoli_cpvspp C!
biomed ddalpha biomed C!
dystrophy ipred dystrophy Class OBS,HospID
skulls HSAUR3 skulls epoch
happiness HSAUR3 CHFLS R_happy
retinopathy gss wesdr ret!
cholangitis survival pbc status! id,time
"

# A column as the CSV file should have it; none for lists, matrices and geometry.
plain <- function(column) {
  if (is.list(column) && !is.data.frame(column) || length(dim(column)) > 1) return(NULL)
  if (inherits(column, "POSIXct")) return(as.Date(column))
  if (inherits(column, "Date") || is.factor(column)) return(column)
  if (is.numeric(column)) return(as.numeric(column))
  as.vector(unclass(column))
}
for (line in strsplit(trimws(tables), "\n")[[1]]) {
  part <- strsplit(line, " ")[[1]]
  from <- strsplit(part[2], "/")[[1]]
  table <- tryCatch({
    space <- new.env()
    suppressWarnings(data(list = if (length(from) > 1) from[2] else part[3], package = from[1], envir = space))
    as.data.frame(if (exists(part[3], envir = space, inherits = FALSE)) get(part[3], envir = space) else
      getExportedValue(from[1], part[3]))
  }, error = function(e) NULL)
  if (is.null(table)) {
    message("not there: ", part[1])
    next
  }
  numbered <- endsWith(part[4], "!")
  name <- sub("!", "", part[4])
  out <- if (length(part) > 4) strsplit(part[5], ",")[[1]] else c()
  if (!all(c(name, out) %in% names(table))) message("no such column: ", part[1], " ", setdiff(c(name, out), names(table)))
  table <- table[!is.na(table[[name]]), !(names(table) %in% out)]
  if (nrow(table) > most) table <- table[round(seq(1, nrow(table), length.out = most)), ]
  # The target last, as the bench reads it; classes get a letter, so that they are no numbers.
  target <- table[[name]]
  table[[name]] <- NULL
  table <- as.data.frame(Filter(Negate(is.null), lapply(table, plain)))
  classes <- numbered || is.factor(target) || is.character(target) || is.logical(target)
  table$target <- if (classes) paste0("k", target) else as.numeric(target)
  write.csv(table, file.path(folder, paste0(part[1], ".csv")), row.names = FALSE, na = "")
}
