"""Claims of what describes: "kind, patient staff", "many appreciate the kind staff"."""

from __future__ import annotations

import pytest

from prevalence.claims import cut
from prevalence.claims.descriptions import descriptions_in
from prevalence.claims.english import tagged


@pytest.mark.parametrize(("text", "claims"), [
    # Lists of nouns with their adjectives.
    ("Great coffee and a quiet, sunny terrace",
     ["The coffee is great", "The terrace is quiet", "The terrace is sunny"]),
    ("Dirty tables and floors", ["The tables are dirty", "The floors are dirty"]),
    ("Pretty good soup and a pretty, warm room",
     ["The soup is pretty good", "The room is pretty", "The room is warm"]),
    ("Bright, warm light and a sturdy base",
     ["The light is bright", "The light is warm", "The base is sturdy"]),
    ("Many praise the bright light.", ["The light is bright"]),
    ("Small, light tent", ["The tent is small", "The tent is light"]),
    ("Quiet and a clean room", None),
    ("Clean rooms and a gym", ["The rooms are clean", "A gym"]),
    ("Long waits on weekends", ["The waits are long on weekends"]),
    ("Great spot for families", ["The spot is great for families"]),
    ("A cozy room, great for a date", ["The room is cozy", "The room is great for a date"]),
    ("A large choice of perfectly cooked steaks",
     ["A large choice of perfectly cooked steaks"]),
    ("Perfectly cooked steaks", ["The steaks are perfectly cooked"]),
    ("Knowledgeable, kind staff who go the extra mile",
     ["The staff is knowledgeable", "The staff is kind", "The staff go the extra mile"]),
    ("A menu that changes every week", ["The menu changes every week"]),
    ("A soft filling, washable cover and sturdy base",
     ["The filling is soft", "The cover is washable", "The base is sturdy"]),
    # "No" is of one noun, and what a thing looks like is no thing.
    ("Easy, clean, no ads", None),
    ("Soft, thick, no smell", None),
    ("Cheap looking", None),
    ("Slow running", None),
    ("Users appreciate the ease of use, support and bank sync.",
     ["Users appreciate the ease of use", "Users appreciate the support and bank sync"]),
    # Not what says which thing it is, and not one thing in two words.
    ("The main dish and the first course", None),
    ("Fast food and hot dogs", ["Fast food", "Hot dogs"]),
    ("Deep dish pizza", None),
    ("Packed lunches", None),
    ("Fresh bread early in the day", None),
    ("Tasty food in good portions", None),
    ("The owner's kind staff", None),
    ("Great for a first date", None),
    ("Is the staff kind?", None),
    # What people say of them.
    ("Many appreciate the kind, patient staff.", ["The staff is kind", "The staff is patient"]),
    ("Several guests complained about slow service and long lines.",
     ["The service is slow", "The lines are long"]),
    ("A hungry skier complained of a bad smell, a wrong bill and no apology.",
     ["The smell is bad", "A hungry skier complained of a wrong bill",
      "A hungry skier complained of no apology"]),
    ("The friendly staff is often praised by many guests.", ["The staff is friendly"]),
    ("Slow service is a common complaint.", ["The service is slow"]),
    ("Fair prices, a pleasant garden and live music on weekends keep guests coming back.",
     ["The prices are fair", "The garden is pleasant",
      "Live music on weekends keeps guests coming back"]),
    ("Some users reported minor issues.", ["Users reported minor issues"]),
    ("The scale reports accurate weights.", None),
    ("Few guests mention the slow service.", None),
    ("Nobody complains about slow service.", None),
    ("Slow service is not a common complaint.", None),
    ("Slow service is mentioned by few guests.", None),
    ("Most people commend Wireless Doctor for its speed.",
     ["People commend Wireless Doctor for its speed"]),
    # What is more than a description keeps its words, one adjective each.
    ("It has an honest, useful manual.", ["It has an honest manual", "It has a useful manual"]),
    ("It is not a cheap, flimsy tent.", None),
    ("Friendly staff make it a good choice.", None),
])  # fmt: skip
def test_each_noun_and_adjective_is_a_claim(text, claims):
    wanted = [text.rstrip(".?")] if claims is None else claims
    assert [claim.text.rstrip(".?") for claim in cut(text)] == wanted


@pytest.mark.parametrize(("text", "claims"), [
    ("Talented bakers: Crisp bread and soft rolls",
     ["The bakers are talented.", "The bread is crisp.", "The rolls are soft."]),
    ("Coffee: strong and hot, with free refills",
     ["The coffee is strong.", "The coffee is hot, with free refills."]),
    ("Service: Attentive, patient waiters who explain the menu",
     ["The waiters are attentive.", "The waiters are patient.", "The waiters explain the menu."]),
    ("Fresh rooms: everything smells clean",
     ["The rooms are fresh.", "Everything smells clean."]),
    ("Happy hour: Great prices", ["Happy hour: Great prices"]),
    ("Front desk: Unfriendly staff", ["Front desk: Unfriendly staff"]),
])  # fmt: skip
def test_labels_of_descriptions(text, claims):
    assert [claim.text for claim in cut(text)] == claims


@pytest.mark.parametrize(("text", "claims"), [
    ("Most customers commend the movers as polite and quick.",
     [("The movers are polite.", "Most"), ("The movers are quick.", "Most")]),
    ("The lamp is widely considered bright.", [("The lamp is bright.", None)]),
    ("The staff is generally seen as kind and the rooms as clean.",
     [("The staff is kind.", None), ("The rooms are clean.", None)]),
    ("The desk is seen as ugly by several users.", [("The desk is ugly.", "several")]),
    ("The desk is seen as ugly by few users.", [("The desk is seen as ugly by few users.", None)]),
    ("It was rated as good as the other.", [("It was rated as good as the other.", None)]),
    ("Many describe the owner and the cook as friendly.",
     [("The owner is friendly.", "Many"), ("The cook is friendly.", "Many")]),
    ("Nearly all diners rave about the soup, describing it as hot and rich.",
     [("Diners rave about the soup.", "Nearly all"), ("The soup is hot.", "Nearly all"),
      ("The soup is rich.", "Nearly all")]),
    ("Many like the tent, praising its light poles and its floor.",
     [("Reviewers like the tent.", "Many"), ("The poles are light.", "Many"),
      ("Reviewers praise its floor.", "Many")]),
    ("Users love the lashes, which they describe as soft and full.",
     [("Users love the lashes.", None), ("The lashes are soft.", None),
      ("The lashes are full.", None)]),
    ("The hip belt, which many find stiff, is long.",
     [("The hip belt is stiff.", None), ("The hip belt is long.", None)]),
    ("Jo and Al come across as calm.", [("Jo is calm.", None), ("Al is calm.", None)]),
    ("The cook, Ann, was called rude.", [("The cook was rude.", None)]),
])  # fmt: skip
def test_what_people_find(text, claims):
    found = [(claim.text, claim.quantity and claim.quantity.text) for claim in cut(text)]
    assert found == claims


@pytest.mark.parametrize(("text", "claims"), [
    # What happens besides, behind "with".
    ("The park is good for parties, with the staff taking care of everything.",
     ["The park is good for parties.", "The staff take care of everything."]),
    ("It is cheap, with sides sold separately.", ["It is cheap.", "Sides are sold separately."]),
    ("The hotel is quiet, with rooms being small.", ["The hotel is quiet.", "Rooms are small."]),
    ("With kids running around, it is loud.", None),
    ("The tent is light, with poles that bend.", None),
    # "As" before people gives an instance, not a reason.
    ("Opinions are divided, as one guest found the bed soft while another found it hard.",
     ["The bed is soft.", "Another found it hard."]),
    ("The tent leaks, as two users found.", None),
    ("The strap is soft, as one hiker found after a long day.", None),
    # Pronouns for what people speak of, but not for those people.
    ("Customers love the app, but it crashes.", ["Customers love the app.", "The app crashes."]),
    ("Users like the knife, although its handle is short.",
     ["Users like the knife.", "The knife's handle is short."]),
    ("Many rave about the donuts, and one resident calls them the best in town.",
     ["Reviewers rave about the donuts.", "One resident calls the donuts the best in town."]),
    ("Users like the app, and they want more lessons.",
     ["Users like the app.", "They want more lessons."]),
])  # fmt: skip
def test_what_stands_behind(text, claims):
    assert [claim.text for claim in cut(text)] == ([text] if claims is None else claims)


def test_a_list_is_read_whole_or_not_at_all():
    first, second = descriptions_in(tagged("quick, kind service and the bar")) or []
    assert [one[0].low for one in first.adjectives] == ["quick", "kind"]
    assert ([word.low for word in second.words], second.adjectives) == (["bar"], [])
    assert len(descriptions_in(tagged("kind staff, clean rooms"))) == 2
    assert descriptions_in(tagged("kind staff, the rooms")) is None
    assert descriptions_in(tagged("kind and quick")) is None
    assert descriptions_in(tagged("kind staff at the bar and clean rooms")) is None
    assert descriptions_in([]) is None


def test_a_description_stands_where_its_words_do():
    text = "Overall, many praise the kind staff and the clean rooms."
    spans = [text[claim.start : claim.end] for claim in cut(text)]
    assert [span[-9:] for span in spans] == ["ind staff", "ean rooms"]
