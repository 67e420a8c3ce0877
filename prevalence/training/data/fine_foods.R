# Writes fine_foods.jsonl, the reviews that *_on_food_reviews.jsonl judge (5,000 Amazon reviews of food, as the R
# package modeldata has them), into the present folder:
#
#     Rscript fine_foods.R
#
# needs the R packages modeldata and jsonlite.
library(modeldata)
data(small_fine_foods)
reviews <- rbind(training_data, testing_data)
text <- trimws(gsub("\\s+", " ", gsub("<[^>]*>", " ", reviews$review)))
table <- data.frame(review_id = reviews$product, review = text)
jsonlite::stream_out(table, file("fine_foods.jsonl"), verbose = FALSE)
