"""Words that rules turn: antonyms in reviews, and the forms of verbs that reviewers use."""

from __future__ import annotations

__all__ = ["ANTONYMS", "PAST", "PLAIN", "THIRD"]

_PAIRS = """
good/bad|poor|terrible great/terrible|awful|horrible excellent/terrible|poor|awful
amazing/awful|disappointing awesome/awful|terrible fantastic/terrible|dreadful
wonderful/dreadful|terrible delicious/disgusting|tasteless tasty/bland|tasteless
perfect/flawed|terrible superb/dreadful|poor outstanding/mediocre|poor beautiful/ugly
gorgeous/ugly|hideous cute/ugly lovely/horrible nice/nasty|unpleasant pleasant/unpleasant
comfortable/uncomfortable comfy/uncomfortable soft/hard|rough|scratchy warm/cold|chilly hot/cold
cozy/cold clean/dirty|filthy spotless/filthy|dirty dirty/clean|spotless filthy/spotless|clean
fresh/stale stale/fresh fast/slow quick/slow slow/fast|quick quickly/slowly slowly/quickly
prompt/late|slow early/late late/early friendly/rude|unfriendly rude/polite|friendly polite/rude
helpful/unhelpful|useless attentive/inattentive|neglectful courteous/rude
professional/unprofessional knowledgeable/clueless|ignorant welcoming/unwelcoming
cheap/expensive|overpriced inexpensive/expensive|overpriced affordable/unaffordable|overpriced
expensive/cheap|inexpensive overpriced/reasonable|cheap pricey/cheap reasonable/unreasonable
easy/hard|difficult simple/complicated difficult/easy complicated/simple easily/hardly strong/weak
weak/strong sturdy/flimsy flimsy/sturdy durable/fragile|flimsy solid/flimsy fragile/sturdy|durable
lightweight/heavy heavy/light|lightweight thick/thin thin/thick big/small|tiny large/small|tiny
huge/tiny small/large|big tiny/huge long/short short/long wide/narrow narrow/wide tall/short
high/low low/high deep/shallow loud/quiet noisy/quiet quiet/loud|noisy silent/noisy
bright/dim|dark dark/bright dim/bright sharp/blunt|dull dull/sharp|bright clear/blurry|unclear
blurry/clear|sharp crisp/soggy|blurry smooth/rough|bumpy rough/smooth tight/loose loose/tight
snug/loose stiff/flexible flexible/stiff|rigid dry/wet wet/dry full/empty empty/full
crowded/empty|deserted spacious/cramped roomy/cramped cramped/spacious safe/unsafe|dangerous
dangerous/safe reliable/unreliable unreliable/reliable useful/useless useless/useful
accurate/inaccurate consistent/inconsistent generous/stingy|tiny fair/unfair honest/dishonest
trustworthy/dishonest happy/unhappy|disappointed pleased/displeased|disappointed
satisfied/dissatisfied|disappointed thrilled/disappointed disappointed/pleased|happy
impressed/unimpressed glad/sorry excited/bored interesting/boring boring/interesting fun/boring
exciting/boring entertaining/boring memorable/forgettable stylish/ugly|frumpy
modern/outdated|dated outdated/modern new/old|used old/new fancy/plain sweet/sour|bitter
salty/bland spicy/mild mild/spicy bland/flavorful flavorful/bland juicy/dry tender/tough
tough/tender moist/dry crispy/soggy soggy/crispy creamy/watery terrible/great|excellent|wonderful
awful/wonderful|great horrible/wonderful|great bad/good|great poor/excellent|good worst/best
best/worst worse/better better/worse ugly/beautiful uncomfortable/comfortable unhelpful/helpful
disgusting/delicious mediocre/outstanding love/hate loved/hated loves/hates hated/loved
enjoy/dislike enjoyed/disliked liked/disliked likes/dislikes everyone/nobody everything/nothing
everybody/nobody before/after indoors/outdoors upstairs/downstairs works/fails worked/failed
failed/succeeded improved/worsened improves/worsens increases/reduces reduces/increases
increased/reduced reduced/increased lunch/dinner breakfast/dinner morning/evening summer/winter
winter/summer day/night mother/father wife/husband husband/wife son/daughter daughter/son boy/girl
girl/boy men/women women/men black/white white/black red/blue blue/red green/purple pink/brown
available/unavailable included/missing plentiful/scarce correct/wrong wrong/right|correct
same/different possible/impossible positive/negative negative/positive responsive/unresponsive
efficient/inefficient organized/chaotic relaxing/stressful peaceful/noisy|hectic calm/hectic
romantic/unromantic authentic/fake|inauthentic healthy/unhealthy natural/artificial
breathable/stuffy waterproof/leaky adjustable/fixed removable/fixed visible/invisible
"""

ANTONYMS: dict[str, tuple[str, ...]] = {
    word: tuple(opposites.split("|"))
    for word, opposites in (pair.split("/") for pair in _PAIRS.split())
}
"""Words and what may stand in their place to say the opposite."""

_REGULAR = """
love like hate dislike enjoy need use work want recommend expect look taste smell seem appear help
charge clean cook heat play close open stay pull push order return arrive deliver wash dry shrink
stretch fade rip tear fit hold keep run sit stand feel sound make take give come go
get break leak rust slip stick bend last cost serve offer include provide require match
cover protect support connect install assemble perform respond answer greet treat charge visit
plan notice receive replace contact mention explain satisfy surprise impress disappoint trust
regret appreciate care agree wait park walk drive eat drink drop turn spin move drain absorb
spill squeak rattle wobble scratch stain peel crack chip melt burn freeze glow
"""
_IRREGULAR = {
    "shrink": "shrank", "tear": "tore", "hold": "held", "keep": "kept", "run": "ran", "sit": "sat",
    "stand": "stood", "feel": "felt", "make": "made", "take": "took", "give": "gave",
    "come": "came",
    "go": "went", "get": "got", "break": "broke", "slip": "slipped", "stick": "stuck",
    "bend": "bent", "drive": "drove", "eat": "ate", "drink": "drank", "drop": "dropped",
    "spin": "spun", "freeze": "froze", "fit": "fit", "cost": "cost", "rip": "ripped",
    "plan": "planned", "regret": "regretted", "chip": "chipped",
}  # fmt: skip


def _past(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def _third(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


_VERBS = tuple(dict.fromkeys(_REGULAR.split()))

PLAIN: dict[str, str] = {verb: verb for verb in _VERBS}
"""Verbs as they stand after "do"."""
THIRD: dict[str, str] = {verb: _third(verb) for verb in _VERBS}
"""Their forms after "it"."""
PAST: dict[str, str] = {verb: _past(verb) for verb in _VERBS}
"""Their past forms."""
