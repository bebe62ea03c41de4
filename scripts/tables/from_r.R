# from_r.R FOLDER: tables of the packages mlbench and kernlab as CSV, features f0, f1, ... as numbers, the class as the column label.
folder <- commandArgs(trailingOnly = TRUE)[1]

number_of <- function(column) if (is.factor(column)) as.numeric(as.character(column)) else as.numeric(column)

write_table <- function(name, data, label) {
  features <- data[, names(data) != label, drop = FALSE]
  table <- as.data.frame(lapply(features, number_of))
  names(table) <- paste0("f", seq_along(table) - 1)
  # Class names keep to letters and digits, so that they need no quotes.
  table$label <- gsub("[^A-Za-z0-9]+", "-", as.character(data[[label]]))
  kept <- stats::complete.cases(table)
  write.csv(table[kept, ], file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
}

table_of <- function(name, package) {
  place <- new.env()
  data(list = name, package = package, envir = place)
  place[[name]]
}

# Every k-th row of each class: as many rows of the class as its share asks for, but ten where it has them.
thinned <- function(data, label, rows) {
  chosen <- lapply(split(seq_len(nrow(data)), data[[label]]), function(members) {
    count <- min(length(members), max(10, round(rows * length(members) / nrow(data))))
    members[floor((seq_len(count) - 1) * length(members) / count) + 1]
  })
  data[sort(unlist(chosen)), ]
}

write_table("satellite", table_of("Satellite", "mlbench"), "classes")
write_table("letter", table_of("LetterRecognition", "mlbench"), "lettr")
write_table("vowel", table_of("Vowel", "mlbench"), "Class")
write_table("vehicle", table_of("Vehicle", "mlbench"), "Class")
write_table("glass", table_of("Glass", "mlbench"), "Type")
write_table("sonar", table_of("Sonar", "mlbench"), "Class")
write_table("ionosphere", table_of("Ionosphere", "mlbench"), "Class")
write_table("pima", table_of("PimaIndiansDiabetes", "mlbench"), "diabetes")
write_table("dna", table_of("DNA", "mlbench"), "Class")
write_table("shuttle", thinned(table_of("Shuttle", "mlbench"), "Class", 10000), "Class")
write_table("spam", table_of("spam", "kernlab"), "type")
write_table("musk", table_of("musk", "kernlab"), "Class")
