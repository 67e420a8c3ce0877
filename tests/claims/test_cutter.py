"""Claims cut by rule and claims given by a record."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from prevalence.claims import MOST_WORDS, cut, given, stated_claim
from prevalence.claims.quantities import quantified
from prevalence.records import Summary
from prevalence.text.sentences import get_splitter, says_anything


def texts(sentence):
    return [claim.text for claim in cut(sentence)]


@pytest.mark.parametrize(("sentence", "claims"), [
    # Subjects are carried over, and pronouns replaced by them.
    ("The lamp is bright and uses little power.",
     ["The lamp is bright.", "The lamp uses little power."]),
    ("The lamp is bright, but it flickers.", ["The lamp is bright.", "The lamp flickers."]),
    ("The boots leak and their laces snap.", ["The boots leak.", "The boots' laces snap."]),
    # Lists of adjectives and of objects; what both mean is repeated.
    ("The rug is soft, warm and easy to clean.",
     ["The rug is soft.", "The rug is warm.", "The rug is easy to clean."]),
    ("It is too small and thin for winter.",
     ["It is too small for winter.", "It is too thin for winter."]),
    ("They serve great food and coffee.", ["They serve great food.", "They serve great coffee."]),
    ("Guests praise its quiet rooms and helpful staff.",
     ["The rooms are quiet.", "The staff is helpful."]),
    ("The pool and the gym are clean.", ["The pool is clean.", "The gym is clean."]),
    # Negations hold for every part of their list.
    ("It does not fade or shrink.", ["It does not fade.", "It does not shrink."]),
    ("Neither the hose nor the pump leaks.",
     ["The hose does not leak.", "The pump does not leak."]),
    ("They never call or write.", ["They never call.", "They never write."]),
    ("The app does not yet sync or print.",
     ["The app does not yet sync.", "The app does not yet print."]),
    ("The rooms are rarely clean and quiet.",
     ["The rooms are rarely clean.", "The rooms are rarely quiet."]),
    # An adverb or a negation of its own takes the place of the one before.
    ("The food was rarely hot, often bland and never late.",
     ["The food was rarely hot.", "The food was often bland.", "The food was never late."]),
    ("The cookies were always fresh and never dry.",
     ["The cookies were always fresh.", "The cookies were never dry."]),
    ("The screen is seldom dim and mostly bright.",
     ["The screen is seldom dim.", "The screen is mostly bright."]),
    ("The screen isn't dim and always bright.", ["The screen isn't dim and always bright."]),
    ("The doors do not leak and always open.", ["The doors do not leak and always open."]),
    ("The room was always cleaned and never smelled.",
     ["The room was always cleaned and never smelled."]),
    ("The cable was not too short and easy to plug in.",
     ["The cable was not too short and easy to plug in."]),
    ("The shirt is not soft and a bit scratchy.", ["The shirt is not soft and a bit scratchy."]),
    # What is more than its parts stays whole.
    ("The pump has not yet failed.", ["The pump has not yet failed."]),
    ("No leaks or odors were reported.", ["No leaks or odors were reported."]),
    ("Only the seats and tables were clean.", ["Only the seats and tables were clean."]),
    ("The rooms are far from clean and quiet.", ["The rooms are far from clean and quiet."]),
    ("The rooms are hardly clean and quiet.", ["The rooms are hardly clean and quiet."]),
    ("The ride is anything but smooth and quiet.", ["The ride is anything but smooth and quiet."]),
    ("It does not leak, nor does it smell.", ["It does not leak, nor does it smell."]),
    # "But" ends a negation.
    ("The fabric is not soft but durable.", ["The fabric is not soft.", "The fabric is durable."]),
    ("The fabric isn't soft but durable and cheap.",
     ["The fabric isn't soft but durable and cheap."]),
    ("The fan was never loud but quiet.", ["The fan was never loud but quiet."]),
    ("The colors do not fade but bleed and run.", ["The colors do not fade but bleed and run."]),
    ("The lamp was not repaired but replaced.", ["The lamp was not repaired but replaced."]),
    ("The hum is barely audible but pleasant.",
     ["The hum is barely audible.", "The hum is pleasant."]),
    # "And" does not take a negation on to what may be another verb of the past.
    ("The food was not cooked and tasted raw.",
     ["The food was not cooked.", "The food tasted raw."]),
    ("The order was not shipped and arrived late.",
     ["The order was not shipped.", "The order arrived late."]),
    ("The room was never cleaned and smelled.",
     ["The room was never cleaned.", "The room smelled."]),
    ("It was not broken and arrived early.", ["It was not broken.", "It arrived early."]),
    ("Buyers were not refunded and complained loudly.",
     ["Buyers were not refunded.", "Buyers complained loudly."]),
    ("It was not washed, dried and ironed.", ["It was not washed, dried and ironed."]),
    ("It has not leaked and kept its shape.", ["It has not leaked and kept its shape."]),
    ("It has not faded and shrunk.", ["It has not faded.", "It has not shrunk."]),
    ("It was not washed, dried or ironed.",
     ["It was not washed.", "It was not dried.", "It was not ironed."]),
    ("It never leaks, smells or rusts.",
     ["It never leaks.", "It never smells.", "It never rusts."]),
    ("The room was dirty and smelled.", ["The room was dirty.", "The room smelled."]),
    # What is no longer so, what is compared, and what only should be.
    ("It is no longer soft and warm.", ["It is no longer soft and warm."]),
    ("It is no longer soft but warm.", ["It is no longer soft.", "It is warm."]),
    ("It is no longer a gift and a toy.", ["It is no longer a gift and a toy."]),
    ("The lid and the strap are no longer soft and warm.",
     ["The lid is no longer soft and warm.", "The strap is no longer soft and warm."]),
    ("It is less sturdy and comfortable than the old one.",
     ["It is less sturdy and comfortable than the old one."]),
    ("It is more sturdy and comfortable than the old one.",
     ["It is more sturdy and comfortable than the old one."]),
    ("It is as soft and warm as the old one.", ["It is as soft and warm as the old one."]),
    ("It is as soft as silk and warm.", ["It is as soft as silk.", "It is warm."]),
    ("It is less sturdy and leaks.", ["It is less sturdy.", "It leaks."]),
    ("It is supposed to be waterproof and breathable.",
     ["It is supposed to be waterproof and breathable."]),
    ("It is supposed to be waterproof but leaks.",
     ["It is supposed to be waterproof.", "It leaks."]),
    ("It is supposed to be waterproof and the zip is broken.",
     ["It is supposed to be waterproof.", "The zip is broken."]),
    ("It was advertised as leather and waterproof.",
     ["It was advertised as leather and waterproof."]),
    ("It was advertised as leather and arrived late.",
     ["It was advertised as leather and arrived late."]),
    ("The bag should be bigger and have pockets.",
     ["The bag should be bigger and have pockets."]),
    ("The bags need to be bigger and have pockets.",
     ["The bags need to be bigger and have pockets."]),
    ("The bag cannot leak or be dirty.", ["The bag cannot leak or be dirty."]),
    ("A lot of bags are easy to clean and have pockets.",
     ["A lot of bags are easy to clean.", "A lot of bags have pockets."]),
    ("The bags are big and have pockets.", ["The bags are big.", "The bags have pockets."]),
    ("Users wish it were bigger and had pockets.",
     ["Users wish it were bigger and had pockets."]),
    ("I wish the lid were tighter and the handle were longer.",
     ["I wish the lid were tighter and the handle were longer."]),
    ("I hope it lasts, but it is cheap.", ["I hope it lasts.", "It is cheap."]),
    ("Users expected more and were disappointed.",
     ["Users expected more.", "Users were disappointed."]),
    # What people speak of is not themselves.
    ("Customers like the boots, but they are narrow.",
     ["Customers like the boots.", "They are narrow."]),
    ("Some like the boots, but they are narrow.",
     ["Reviewers like the boots.", "They are narrow."]),
    ("My husband really likes this mug and it keeps coffee hot.",
     ["My husband really likes this mug.", "It keeps coffee hot."]),
    ("The customer service is slow, but it helps.",
     ["The customer service is slow.", "The customer service helps."]),
    # After what goes with a purchase, "it" is more often the thing that was bought.
    ("The packaging was damaged, but it works perfectly.",
     ["The packaging was damaged.", "It works perfectly."]),
    ("The price is high, but it works well.", ["The price is high.", "It works well."]),
    ("The price is high, but it is justified.", ["The price is high.", "The price is justified."]),
    ("The delivery was slow, but I love it.", ["The delivery was slow.", "I love it."]),
    ("Most owners feel that the knife is worth it and would buy it again.",
     ["The knife is worth it and would buy it again."]),
    ("Owners say that the desk is light and would fit a child.",
     ["The desk is light.", "The desk would fit a child."]),
    # A frame that denies is no frame.
    ("No reviewers say that it leaks.", ["No reviewers say that it leaks."]),
    ("Nobody complained that it leaks or smells.",
     ["Nobody complained that it leaks.", "Nobody complained that it smells."]),
    ("Few users found the strap flimsy.", ["Few users found the strap flimsy."]),
    # Verbs after "to", verbs in two parts, and nouns that an adjective lacks.
    ("It is hard to open, close and clean.", ["It is hard to open, close and clean."]),
    ("It is simple to use, clean and empty.", ["It is simple to use, clean and empty."]),
    ("The tent is easy to set up, fold and dry.", ["The tent is easy to set up, fold and dry."]),
    ("It is easy to use, light and durable.",
     ["It is easy to use.", "It is light.", "It is durable."]),
    ("The lid keeps dust, sand and odors out.", ["The lid keeps dust, sand and odors out."]),
    ("The chair can be adjusted in height and tilt.",
     ["The chair can be adjusted in height.", "The chair can be adjusted in tilt."]),
    ("It is the best and most reliable kettle I have owned.",
     ["It is the best and most reliable kettle I have owned."]),
    ("It is one of the best and cheapest kettles I have owned.",
     ["It is one of the best and cheapest kettles I have owned."]),
    ("This is the best and I love it.", ["This is the best.", "I love it."]),
    ("The husband and wife who own it are friendly.",
     ["The husband and wife who own it are friendly."]),
    # Conditions, exceptions and reasons stay.
    ("Nobody but the author liked it.", ["Nobody but the author liked it."]),
    ("No one but the author liked it.", ["No one but the author liked it."]),
    ("It suits everyone but it is small.", ["It suits everyone.", "It is small."]),
    ("It is great unless you have wide feet.", ["It is great unless you have wide feet."]),
    ("It works well except in rain and snow.", ["It works well except in rain and snow."]),
    ("I sent it back because the box was torn and a part was missing.",
     ["I sent it back because the box was torn and a part was missing."]),
    ("Despite its size, the bag is light and holds a laptop.",
     ["Despite its size, the bag is light.", "Despite its size, the bag holds a laptop."]),
    # A condition holds for the clauses after it, but for a contrast or a new sentence.
    ("If you have wide feet, the boots pinch and the toes go numb.",
     ["If you have wide feet, the boots pinch.", "If you have wide feet, the toes go numb."]),
    ("When wet, the lid sticks, the strap frays, and the pads slip.",
     ["When wet, the lid sticks.", "When wet, the strap frays.", "When wet, the pads slip."]),
    ("Without the filter, the tea was bitter and the milk sour.",
     ["Without the filter, the tea was bitter.", "Without the filter, the milk was sour."]),
    ("If wet, the boots slip, but the laces are fine.",
     ["If wet, the boots slip.", "The laces are fine."]),
    ("If wet, the boots slip; the laces are fine.",
     ["If wet, the boots slip.", "The laces are fine."]),
    ("It is quiet until the fan starts and the lights flicker.",
     ["It is quiet until the fan starts and the lights flicker."]),
    ("The zip broke after two weeks and the straps tore.",
     ["The zip broke after two weeks.", "The straps tore."]),
    ("Some users say that if wet, the boots slip and the soles squeak.",
     ["Some users say that if wet, the boots slip and the soles squeak."]),
    # Contrasts.
    ("Although the hood is small, the coat is warm.", ["The hood is small.", "The coat is warm."]),
    ("The seat is soft, whereas the back is hard.", ["The seat is soft.", "The back is hard."]),
    # Frames are dropped.
    ("Some reviewers say that the zip sticks.", ["The zip sticks."]),
    ("According to most owners, the drill is loud.", ["The drill is loud."]),
    ("Most users say it's soft and warm.", ["It's soft.", "It's warm."]),
    ("Users found the strap flimsy.", ["The strap is flimsy."]),
    # Relative clauses and participles of a clear subject.
    ("The bag, which is made of wool, is warm.", ["The bag is made of wool.", "The bag is warm."]),
    ("The tent is light, making it ideal for hikes.",
     ["The tent is light.", "The tent is ideal for hikes."]),
    ("The inn is quiet, with friendly staff.",
     ["The inn is quiet.", "The inn has friendly staff."]),
    # Participles and appositions of a clear subject.
    ("The tent is light, leaving room for food.",
     ["The tent is light.", "The tent leaves room for food."]),
    ("Made of wool, the hat is warm.", ["The hat is made of wool.", "The hat is warm."]),
    ("Made of wool, it's warm.", ["It is made of wool.", "It's warm."]),
    ("The inn, an old mill, has a pond.", ["The inn is an old mill.", "The inn has a pond."]),
    ("The cook, who is kind and patient, sings.",
     ["The cook is kind.", "The cook is patient.", "The cook sings."]),
    # Verbs, owners and tails that several parts mean.
    ("The soup was hot and the bread stale.", ["The soup was hot.", "The bread was stale."]),
    ("The phone's screen, speed and size are praised.",
     ["The phone's screen is praised.", "The phone's speed is praised.",
      "The phone's size is praised."]),
    ("Readers love the wit, warmth, and pace of the novel.",
     ["Readers love the wit of the novel.", "Readers love the warmth of the novel.",
      "Readers love the pace of the novel."]),
    ("The pool and the gym are clean and attract families.",
     ["The pool is clean.", "The gym is clean.", "The pool attracts families.",
      "The gym attracts families."]),
    # Turns of phrase put plainly.
    ("It not only fits but also lasts.", ["It fits.", "It lasts."]),
    ("Not only is the soup hot, but the cook is kind.", ["The soup is hot.", "The cook is kind."]),
    ("The staff, however, was rude.", ["The staff was rude."]),
    ("It suits children and adults alike.", ["It suits children.", "It suits adults."]),
    ("Opinions on the fit are divided, with some finding it snug and others calling it loose.",
     ["The fit is snug.", "The fit is loose."]),
    ("While some users find the seat soft, others find it hard.",
     ["The seat is soft.", "The seat is hard."]),
    ("The sofa is good for sitting, but not for sleeping.",
     ["The sofa is good for sitting.", "The sofa is not good for sleeping."]),
    ("The stand wobbles when typing and cannot hold tablets.",
     ["The stand wobbles when typing.", "The stand cannot hold tablets."]),
    ("Parents like that the cup is light and does not leak.",
     ["Parents like that the cup is light.", "Parents like that the cup does not leak."]),
    ("I tried the soup and it was cold.", ["I tried the soup.", "The soup was cold."]),
    # After "seems" and the like, and after adjectives, a past form is what something is.
    ("The waiter seemed rushed and annoyed.",
     ["The waiter seemed rushed.", "The waiter seemed annoyed."]),
    ("The room looks dated and worn.", ["The room looks dated.", "The room looks worn."]),
    ("He seemed annoyed and walked away.", ["He seemed annoyed.", "He walked away."]),
    ("The novel is engaging, moving, and well written.",
     ["The novel is engaging.", "The novel is moving.", "The novel is well written."]),
    # After a passive, some past forms are verbs of their own.
    ("The lamp was carefully packed and arrived early.",
     ["The lamp was carefully packed.", "The lamp arrived early."]),
    ("The car was well kept and drove smoothly.",
     ["The car was well kept.", "The car drove smoothly."]),
    ("The lamp was well packed and matched the photo.",
     ["The lamp was well packed.", "The lamp matched the photo."]),
    ("The lamp was tested and failed.", ["The lamp was tested.", "The lamp failed."]),
    ("I was charged twice and told the hotel was full.",
     ["I was charged twice.", "I was told the hotel was full."]),
    ("The lamp can't be dimmed or turned off.",
     ["The lamp can't be dimmed.", "The lamp can't be turned off."]),
    ("The app opens the whole file and rarely loses data.",
     ["The app opens the whole file.", "The app rarely loses data."]),
    # "Or" is no "and", and a verb has the number of its subject.
    ("The lid or the base cracked.", ["The lid or the base cracked."]),
    ("Either the pump or the hose failed.", ["Either the pump or the hose failed."]),
    ("Several users reported leaks and cracks after a year.",
     ["Users reported leaks and cracks after a year."]),
    ("The series is good and keeps me hooked.",
     ["The series is good.", "The series keeps me hooked."]),
    # What stands after a preposition, and what a purpose is.
    ("The bag comes in black and brown.", ["The bag comes in black.", "The bag comes in brown."]),
    ("The saw is good for cutting and sanding.",
     ["The saw is good for cutting.", "The saw is good for sanding."]),
    ("It is ideal for reading, writing, and drawing.",
     ["It is ideal for reading.", "It is ideal for writing.", "It is ideal for drawing."]),
    ("It is between firm and soft.", ["It is between firm and soft."]),
    ("It gives me a headache and a rash.", ["It gives me a headache.", "It gives me a rash."]),
    # Adjectives of one noun, and "only".
    ("The red and green lamps are dim.", ["The red and green lamps are dim."]),
    ("The front and back doors stick.", ["The front and back doors stick."]),
    ("The only flaws are the price and the weight.",
     ["The only flaws are the price and the weight."]),
    ("The cook, Ann, and the waiter are kind.",
     ["The cook is kind.", "Ann is kind.", "The waiter is kind."]),
    # Owners, relative clauses without "that", and subjects in -ing.
    ("The phone's case is thin and its screen cracks.",
     ["The phone's case is thin.", "The phone's screen cracks."]),
    ("The brand's shoes are narrow and their soles are thin.",
     ["The brand's shoes are narrow.", "The brand's shoes' soles are thin."]),
    ("The shoes I ordered were small and tore quickly.",
     ["The shoes I ordered were small.", "The shoes I ordered tore quickly."]),
    ("Having a pool and a gym is nice.", ["Having a pool and a gym is nice."]),
    ("The lens and flash work but the strap is cheap.",
     ["The lens and flash work.", "The strap is cheap."]),
    # "As is", "as soon as", and adjectives set against a clause.
    ("The beds are soft, as are the pillows.", ["The beds are soft, as are the pillows."]),
    ("As soon as it arrived, it broke.", ["As soon as it arrived, it broke."]),
    ("It is not as soft or as warm as the old one.",
     ["It is not as soft or as warm as the old one."]),
    ("Though small, the room was clean.", ["The room was small.", "The room was clean."]),
    ("Not only is it light, it is also strong.", ["It is light.", "It is also strong."]),
    ("The new and old lamps look alike.", ["The new and old lamps look alike."]),
    # A point after an abbreviation ends no sentence.
    ("Dr. Lee is kind and thorough.", ["Dr. Lee is kind.", "Dr. Lee is thorough."]),
    ("The U.S. model is larger and heavier.",
     ["The U.S. model is larger.", "The U.S. model is heavier."]),
    # What is one thing stays one.
    ("It is a calm, clean inn.", ["It is a calm inn.", "It is a clean inn."]),
    ("The company blames wear and tear.", ["The company blames wear and tear."]),
    ("It is a fun and easy game.", ["It is a fun game.", "It is an easy game."]),
    ("Is it soft and warm?", ["Is it soft and warm?"]),
    ("You wash it in a day or two.", ["You wash it in a day or two."]),
    # What readers should do has no subject, and no "not" of the clause before.
    ("The soles run small, so order a size up.",
     ["The soles run small.", "Order a size up."]),
    ("You will not taste a difference, so save your money.",
     ["You will not taste a difference.", "Save your money."]),
    ("Guests say the rooms are loud, so definitely bring earplugs.",
     ["The rooms are loud.", "Definitely bring earplugs."]),
    ("The dumplings are great and try the soup.",
     ["The dumplings are great.", "Try the soup."]),
    ("They are thin, so tear easily.", ["They are thin.", "They tear easily."]),
    ("Guests are happy and book again.", ["Guests are happy.", "Guests book again."]),
    ("They hold up for a while, but don't expect miracles.",
     ["They hold up for a while.", "Don't expect miracles."]),
    ("They look good but don't last.", ["They look good.", "They don't last."]),
    # Nouns that look like verbs, before their own verb, and verbs that look like nouns.
    ("The app is neat, but downloads often fail and playback resumes late.",
     ["The app is neat.", "Downloads often fail.", "Playback resumes late."]),
    ("Patients praise the nurse; however, wait times often exceed an hour.",
     ["Patients praise the nurse.", "Wait times often exceed an hour."]),
    ("The band tracks sleep and heart rate.", ["The band tracks sleep and heart rate."]),
    ("The law firm kept people informed and won every case.",
     ["The law firm kept people informed.", "The law firm won every case."]),
    ("It works well with Slack and Google Drive.",
     ["It works well with Slack and Google Drive."]),
    ("The suit fit well and looked sharp.", ["The suit fit well.", "The suit looked sharp."]),
    ("The pot heats fast, but the nonstick coating began to peel.",
     ["The pot heats fast.", "The nonstick coating began to peel."]),
    ("Taste-wise, the rolls are great.", ["Taste-wise, the rolls are great."]),
    # A past form after "arrived", behind "it's", and behind "not".
    ("The plants arrived healthy and well packed.",
     ["The plants arrived healthy.", "The plants arrived well packed."]),
    ("The box came late and leaked.", ["The box came late.", "The box leaked."]),
    ("It's very clean and organized.", ["It's very clean.", "It's organized."]),
    ("Dishes are lukewarm and not replenished quickly.",
     ["Dishes are lukewarm.", "Dishes are not replenished quickly."]),
    # The last of a list, and an adverb behind the last subject.
    ("The bakery is known for its rolls, rye, and seasonal pastries.",
     ["The bakery is known for its rolls.", "The bakery is known for its rye.",
      "The bakery is known for its seasonal pastries."]),
    ("The crew was kind, quick, and careful not to scratch walls.",
     ["The crew was kind.", "The crew was quick.", "The crew was careful not to scratch walls."]),
    ("Guests criticize its dull lobby, lack of updates during delays, and unhelpful desk staff.",
     ["The lobby is dull.", "Guests criticize its lack of updates during delays.",
      "The desk staff is unhelpful."]),
    ("The halls and baths still feel dated.",
     ["The halls still feel dated.", "The baths still feel dated."]),
    # What has lost its verb stays where it is.
    ("The food was okay but nothing special.", ["The food was okay but nothing special."]),
    ("The room is quiet, with the exception of the hallway.",
     ["The room is quiet, with the exception of the hallway."]),
    ("The lid comes off, making it easy to change the filter.",
     ["The lid comes off.", "It is easy to change the filter."]),
    ("Guests who stayed in renovated rooms were happy, whereas those in old rooms complained.",
     ["Guests who stayed in renovated rooms were happy.", "Those in old rooms complained."]),
    ("It is praised for its soothing voices, varied session lengths, and helpful tips.",
     ["It is praised for its soothing voices.", "It is praised for its varied session lengths.",
      "It is praised for its helpful tips."]),
    ("It offers good maps and real-time traffic updates, but drains the battery.",
     ["It offers good maps.", "It offers real-time traffic updates.", "It drains the battery."]),
    ("The lids are light and dishwasher safe.", ["The lids are light.",
                                                  "The lids are dishwasher safe."]),
    ("It arrived on time and well packaged.", ["It arrived on time.", "It arrived well packaged."]),
    ("Compared with others, these are thinner and weaker.",
     ["Compared with others, these are thinner.", "Compared with others, these are weaker."]),
    ("It makes me feel as though I might fall.", ["It makes me feel as though I might fall."]),
    ("The diapers are softer and absorbent.", ["The diapers are softer.",
                                                "The diapers are absorbent."]),
    ("The light is bright, which helps in dim corners.",
     ["The light is bright.", "The light helps in dim corners."]),
    ("You can set the amount, which helps with planning.",
     ["You can set the amount, which helps with planning."]),
    # Those who speak.
    ("Owners caution that hinges weaken and that spare parts are no longer sold.",
     ["Hinges weaken.", "Spare parts are no longer sold."]),
    ("Buyers warn that the chart is wrong and advise measuring first.",
     ["Buyers warn that the chart is wrong.", "Buyers advise measuring first."]),
    ("Patients trust the clinic's doctors, but they express frustration with the wait.",
     ["Patients trust the clinic's doctors.", "They express frustration with the wait."]),
    ("Setup was described as simple by most.", ["Setup was simple."]),
    # A verb after a denial is none of its nouns.
    ("It doesn't hold water and leaks.", ["It doesn't hold water and leaks."]),
])  # fmt: skip
def test_claims_by_hand(sentence, claims):
    assert texts(sentence) == claims


@pytest.mark.parametrize(("sentence", "claims"), [
    # Adjectives of one noun, and nouns behind a preposition that may have their own place.
    ("It wins people over with crisp, light pastry and fair prices.", None),
    ("Warm, friendly staff made the stay pleasant.", None),
    ("Slim and small riders like the seat.", None),
    ("Users report rust in the drum and a noisy fan.", None),
    ("Reviews range from a leak in the tent to a week by the lake and a broken pole.", None),
    ("Good grip on mud, wet grass and loose stones", None),
    # What says nothing by itself stays with the claim before.
    ("The strap is soft, as one hiker found after a long day.", None),
    ("The lamp is worth it for most, especially if you read in bed and travel.", None),
    ("The battery keeps no charge in the cold, so it dies early.", None),
    ("The lid leaks, although others had no trouble.", None),
    ("Service was slow, with the kitchen described as overwhelmed by one diner.",
     ["Service was slow.", "The kitchen is overwhelmed."]),
    ("The show drew praise for its cast, one of whom sings.", None),
    ("Coffee is the best in town, from the roast that is dark to the rum.", None),
    ("Guests liked the romance between the cook and the baker, which is sweet.", None),
    ("For owners of shy or old dogs, the harness is a relief.", None),
    # People tell of themselves, or go on telling.
    ("A few say they barely felt the drill.", ["Reviewers barely felt the drill."]),
    ("All users agree that the saw is loud, citing the motor and the blade.", None),
    ("One reviewer found that the medium came up big but appreciated the quick exchange.",
     ["One reviewer found that the medium came up big.",
      "The exchange is quick."]),
    ("The hosts are kind, and one guest noted that the rooms are tiny.",
     ["The hosts are kind.", "The rooms are tiny."]),
    ("The queue is long, with one waiting an hour and another giving up.",
     ["The queue is long.", "One waits an hour.", "Another gives up."]),
    ("The lid leaks and filters clog.", ["The lid leaks.", "Filters clog."]),
    ("Reviewers like that it's light; dislikes include the zipper and the sizing.",
     ["Reviewers like that it's light.", "Dislikes include the zipper.",
      "Dislikes include the sizing."]),
    ("The battery, which most users say lasts all day, is easy to replace.",
     ["The battery lasts all day.", "The battery is easy to replace."]),
    ("The staff, who most guests say are kind, are quick.",
     ["The staff are kind.", "The staff are quick."]),
    ("Cons: leaks, short cord.", ["Leaks.", "The cord is short."]),
    ("Pros: works well, easy to clean", ["Works well.", "It is easy to clean."]),
    # Each number of people is of its own claim.
    ("2 of 8 reviewers found it comfortable, 3 found it tight.",
     ["It is comfortable.", "It is tight."]),
    ("Most guests, 4 of 5, praise it and 1 does not.", ["Guests praise it.", "1 does not."]),
    ("Between 20% and 30% of users found it noisy.", ["It is noisy."]),
    ("Few, if any, reviewers were unhappy with it.",
     ["Few, if any, reviewers were unhappy with it."]),
    ("The lid, which no users say leaks, is red.",
     ["The lid no users say leaks.", "The lid is red."]),
    ("Pros: fits perfectly, like a glove.", ["Fits perfectly, like a glove."]),
    ("Three reviewers said it leaked, two said it was loud, and one returned it.",
     ["It leaked.", "It was loud.", "A reviewer returned it."]),
    ("Many enjoyed the stew, one calling it rich.",
     ["Reviewers enjoyed the stew.", "One calls it rich."]),
    # What is found of two things, and of one.
    ("Diners found the soup and the rice far too salty.",
     ["The soup is far too salty.", "The rice is far too salty."]),
    ("Some found the carpet stained.", ["The carpet is stained."]),
    # Subjects of a clause that is set against another; "some" of them.
    ("Crumbs are few, though large dogs and long-haired cats may clog it.",
     ["Crumbs are few.", "Large dogs may clog it.", "Long-haired cats may clog it."]),
    ("Rooms are small and some face a wall.", ["Rooms are small.", "Some rooms face a wall."]),
    ("Users like the pockets, but some had problems with leaks.",
     ["Users like the pockets.", "Some had problems with leaks."]),
    ("For many learners, the app works, and some have gone on to travel.",
     ["For many learners, the app works.", "Some have gone on to travel."]),
    # Labels: one that praises is a claim, another one is left out before a clause.
    ("Kind hosts: Ann and Paul help with bags.",
     ["The hosts are kind.", "Ann helps with bags.", "Paul helps with bags."]),
    ("Difficult to clean: The bowl is deep and parts of the lid are sharp.",
     ["Difficult to clean.", "The bowl is deep.", "Parts of the lid are sharp."]),
    ("Special requests: The kitchen forgot them twice.", ["The kitchen forgot them twice."]),
    ("Battery: It lasts long and charges fast.", None),
    ("Noise: Fan and pump bother some users", None),
    ("Reviews of the service are mixed: the cook is kind, but the waiter is rude.",
     ["Reviews of the service are mixed.", "The cook is kind.", "The waiter is rude."]),
    # Nouns that could be verbs, behind "and": what is liked, and what breaks.
    ("Customers like the ease of use, taste, and design of the coffee maker.",
     ["Customers like the ease of use of the coffee maker.",
      "Customers like the taste of the coffee maker.",
      "Customers like the design of the coffee maker."]),
    ("Customers like the quality and value of the blender.",
     ["Customers like the quality.", "Customers like the value of the blender."]),
    ("Users like the smell and taste of the tea.",
     ["Users like the smell of the tea.", "Users like the taste of the tea."]),
    ("They praise its sound and build quality.",
     ["They praise its sound.", "They praise its build quality."]),
    ("Customers value the price, quality and included case.",
     ["Customers value the price.", "Customers value the quality.",
      "Customers value the included case."]),
    ("Users like the color and order it again.",
     ["Users like the color.", "Users order it again."]),
    ("The room has a view and smells of smoke.",
     ["The room has a view.", "The room smells of smoke."]),
    ("The hinge squeaks and screws fall out.", ["The hinge squeaks.", "Screws fall out."]),
    ("Chuck wobbles and bits slip.", ["Chuck wobbles and bits slip."]),
    ("Wings, mozzarella sticks and subs are tasty.",
     ["Wings are tasty.", "Mozzarella sticks are tasty.", "Subs are tasty."]),
    ("While the sound is loud and clear, the battery life and build quality disappoint.",
     ["The sound is loud.", "The sound is clear.", "The battery life disappoints.",
      "The build quality disappoints."]),
    # Adverbs of their own, and what is made of two things.
    ("The product is well made and well packed.",
     ["The product is well made.", "The product is well packed."]),
    ("The toy kept my kids and their friends busy for hours.",
     ["The toy kept my kids and their friends busy for hours."]),
    ("Most reviewers praise the screen, though some note lag and light bleed.",
     ["Reviewers praise the screen.", "Reviewers note lag and light bleed."]),
    # What else people do, and what others say.
    ("Many customers consider it worth the price and would buy it again.",
     ["It is worth the price.", "Many customers would buy it again."]),
    ("Feedback on size is mixed: some say it fits perfectly, others that it is too large.",
     ["It fits perfectly.", "It is too large."]),
    # A quality is not what its adjectives say, but how good it is; others are.
    ("Durability: Sturdy and well made.", ["It is sturdy.", "It is well made."]),
    ("Comfort: Soft, cushioned and supportive.",
     ["It is soft.", "It is cushioned.", "It is supportive."]),
    ("Durability: questionable.", ["The durability is questionable."]),
    ("Price: low.", ["The price is low."]), ("Quality: poor.", ["The quality is poor."]),
    ("Availability: limited.", ["The availability is limited."]),
    ("Versatility: Great for travel and home.", ["The versatility is great for travel and home."]),
    ("Packaging: Arrived damaged or poorly packed.",
     ["The packaging arrived damaged or poorly packed."]),
    ("It leaks, according to users.", ["It leaks."]),
    # Forms that are no passive here, and lists of verbs after "to".
    ("The app has been downloaded 5 million times and won an award.",
     ["The app has been downloaded 5 million times.", "The app has won an award."]),
    ("It has been used daily and held up well.",
     ["It has been used daily.", "It has held up well."]),
    ("It has been washed and dried.", ["It has been washed.", "It has been dried."]),
    ("The cover is easy to take off and wash.", None),
    ("The app is easy to sign in to and use.", None),
    ("The cover is easy to put on and clean.", None),
    ("Most would return or send friends and family.",
     ["Reviewers would return or send friends and family."]),
    ("One patient was seen early but ended up paying more.",
     ["A patient was seen early.", "A patient ended up paying more."]),
    ("The case was taken apart and rebuilt well.",
     ["The case was taken apart.", "The case was rebuilt well."]),
])  # fmt: skip
def test_claims_of_summaries_as_language_models_write_them(sentence, claims):
    """None: the sentence stays whole."""
    assert texts(sentence) == (claims or [sentence])


def test_a_claim_knows_where_it_stands():
    text = "It fits. The rug is soft and warm."
    claims = cut(text)
    assert [(text[c.start : c.end], c.sentence) for c in claims] == [
        ("It fits.", 0),
        ("The rug is soft", 1),
        ("warm", 1),
    ]


@pytest.mark.parametrize(("text", "claims"), [
    ("Most users say that it leaks and smells. It is red.",
     {"It leaks.": "Most", "It smells.": "Most", "It is red.": None}),
    ("Some users say that the fan is loud and that the remote is useless.",
     {"The fan is loud.": "Some", "The remote is useless.": "Some"}),
    ("Some users say that it is loud and that customer service is slow.",
     {"It is loud.": "Some", "Customer service is slow.": "Some"}),
    ("A few customers report that the zip broke, the strap tore, and the lid fell off.",
     {"The zip broke.": "A few", "The strap tore.": "A few", "The lid fell off.": "A few"}),
    ("According to some users, the fan is loud and the remote is useless.",
     {"The fan is loud.": "some", "The remote is useless.": "some"}),
    # Others say the rest, or the writer does.
    ("Some users say that the fan is loud, but the remote is great.",
     {"The fan is loud.": "Some", "The remote is great.": None}),
    ("Some users say the fan is loud and most users say the remote is useless.",
     {"The fan is loud.": "Some", "The remote is useless.": "most"}),
    ("Some users say it is loud, and I agree.", {"It is loud.": "Some", "I agree.": None}),
    ("Most users find the strap flimsy and the lid is loose.",
     {"The strap is flimsy.": "Most", "The lid is loose.": None}),
])  # fmt: skip
def test_a_dropped_frame_leaves_its_quantity(text, claims):
    assert {c.text: c.quantity and c.quantity.text for c in cut(text)} == claims


def test_a_frame_that_denies_keeps_its_quantity_for_whoever_takes_it_out():
    (claim,) = cut("No reviewers say that it leaks.")
    found = quantified(claim.text)
    assert (claim.quantity, found.statement, found.quantity.text) == (None, "It leaks.", "No")


def test_the_splitter_says_what_a_sentence_is():
    assert {c.sentence for c in cut("It fits. It lasts.", splitter=get_splitter("lines"))} == {0}
    assert [c.sentence for c in cut("It fits\nIt lasts", splitter=get_splitter("lines"))] == [0, 1]


WORDS = ["the", "lamp", "is", "soft", "and", "but", ",", "or", "not", "which", "it", "users", "say",
         "that", "most", "found", "with", "neither", "nor", "making", ".", "(", "'s", "don't", "to",
         "both", "of", "great", "food", "if", "although", "as", "well", "they", ":",
         "only", "alike", "made", "others", "finding", "i", "tried", "seemed", "rushed", "for",
         "red", "hotel's", "its", "rarely", "leaks", "arrived", "who", "either"]  # fmt: skip


@settings(deadline=None, max_examples=300)
@for_all(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join))
def test_no_sentence_is_lost_and_spans_lie_in_it(text):
    sentences = get_splitter()(text)
    claims = cut(text)
    told = {index for index, sentence in enumerate(sentences) if says_anything(sentence.text)}
    assert {claim.sentence for claim in claims} == told
    for claim in claims:
        sentence = sentences[claim.sentence]
        assert sentence.start <= claim.start < claim.end <= sentence.end
        assert claim.text.strip()
    assert claims == cut(text)


def test_a_sentence_without_a_clause_keeps_the_order_of_its_words():
    claims = cut("the me both , who arrived but I is")
    assert all(claim.start < claim.end for claim in claims)


@settings(deadline=None)
@for_all(st.text(max_size=80))
def test_any_text_is_cut(text):
    told = [sentence for sentence in get_splitter()(text) if says_anything(sentence.text)]
    assert len(cut(text)) >= len(told)


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "good and " * 30_000, "a-" * 50_000, "almost " * 30_000, "(" * 100_000 + "a"],
)
def test_a_sentence_beyond_the_limit_is_one_claim(text):
    (claim,) = cut(text)
    assert claim.text == text.strip()


@pytest.mark.parametrize(("text", "claims"), [
    ("🎿", []), ("Great slopes. 🎿", ["The slopes are great."]), ("Dear traveller,", []),
    ("Dear guests, the pool is cold and the bar is loud.",
     ["The pool is cold.", "The bar is loud."]),
    ("Dear prices, cold soup.", ["The prices are dear.", "The soup is cold."]),
    (text := "The summary covers ten reviews written between January and May 2024.", [text]),
    ("| Price | None | Guests find it loud |", ["It is loud."]),
    ("| Noise | 2/10 | It is noisy |", ["It is noisy."]),
    ("| Noise | It is noisy | 2/10 |", ["It is noisy."]),
])  # fmt: skip
def test_what_says_nothing_is_no_claim(text, claims):
    assert [claim.text for claim in cut(text)] == claims


def test_the_limit_counts_words_and_marks():
    body = "It is good and " * (MOST_WORDS // 4 - 1)
    assert len(cut(body + "bad.")) > 1
    assert len(cut(body + "is good and " * 4 + "bad.")) == 1


def test_claims_of_a_record_stand_at_the_sentence_they_share_words_with():
    summary = Summary("a", "It fits. The zip sticks.", {"claims": ["The zip sticks", "It fits"]})
    claims = given(summary)
    assert [(c.text, c.sentence, c.start) for c in claims] == [
        ("The zip sticks", 1, 9),
        ("It fits", 0, 0),
    ]
    # A count behind a full stop is of the sentence before it.
    (claim,) = given(Summary("a", "It fits. (3 reviews)", {"claims": ["It fits (3 reviews)"]}))
    assert (claim.sentence, claim.start, claim.end) == (0, 0, 20)
    assert given(Summary("a", "It fits.")) is None
    assert given(Summary("a", "", {"claims": ["It fits."]}))[0].sentence == 0


@pytest.mark.parametrize(
    "item", [3, None, "", "  ", [], {}, {"text": 3}, {"text": "It fits.", "quantity": "purple"}]
)
def test_what_is_no_claim(item):
    assert stated_claim(item) is None
