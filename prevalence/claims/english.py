"""Word classes of English, by word lists and endings: enough to find clauses in review English.

A tag is a guess from the word and its neighbours, made for cutting sentences of summaries: what is
in no list is a noun. The lists hold what people say of products, places and services.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ADJECTIVES",
    "COPULAS",
    "MODALS",
    "Token",
    "be_after",
    "has_negation",
    "is_base",
    "is_past",
    "is_past_only",
    "is_plural",
    "is_simple_past",
    "is_third",
    "lowered",
    "plain_of_ing",
    "retagged",
    "singular_verb",
    "tagged",
    "verb_of_contraction",
    "word_set",
]

_WORD = re.compile(
    r"(?:[A-Za-z]\.){2,}|(?i:dr|mr|mrs|ms|prof|st|vs)\.(?= \S)|[Nn]o\.(?= ?\d)"
    r"|(?i:etc|approx|hrs?|lbs?|mins?|oz)\.(?=, | [a-z\d])|\d+(?:[.,:]\d+)*%?"
    r"|\w+ ?['’] ?(?:t|s|m|d|re|ve|ll)\b|\w+(?:['’\-]\w+)*['’]?|\.{2,}|\S"
)


class Token(NamedTuple):
    """A word or a mark.

    Attributes:
        text: as it is written.
        low: in lower case, with a straight apostrophe and no space beside it.
        start: offset of its first character.
        end: offset after its last character.
        tag: ``det``, ``poss`` (my), ``pron`` (subjects), ``obj`` (them), ``aux`` (is, can, don't),
            ``verb`` (finite), ``base`` (a verb in its plain form), ``ing``, ``adj``, ``adv``,
            ``neg`` (not, never), ``prep``, ``to``, ``sub`` (because), ``rel`` (which), ``conj``,
            ``num``, ``mark`` or ``noun``.
    """

    text: str
    low: str
    start: int
    end: int
    tag: str

    def reworded(self, text: str, tag: str | None = None) -> Token:
        """Another word in the same place."""
        return self._replace(text=text, low=lowered(text), tag=tag or self.tag)


def lowered(text: str) -> str:
    """A word in lower case, with a straight apostrophe and no space beside it."""
    return text.lower().replace("’", "'").replace(" ", "")


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


_BE = word_set("is are was were am be been being isn't aren't wasn't weren't ain't")
_HAVE = word_set("has have had hasn't haven't hadn't")
_DO = word_set("does do did doesn't don't didn't")
MODALS = word_set(
    "can could will would should may might must cannot can't couldn't won't wouldn't shouldn't "
    "mustn't shall needn't"
)
_PRONOUNS = word_set(
    "i you he she it we they this that these those there everyone everybody someone somebody "
    "nobody anyone anybody everything something nothing anything none it's i'm i've i'll i'd he's "
    "she's that's there's they're they've they'll they'd we're we've we'll we'd you're you've "
    "you'll you'd it'll here's"
)
_OBJECTS = word_set("me him them us itself themselves myself yourself himself herself ourselves")
_DETERMINERS = word_set("the a an every each any no another both all either such what")
_QUANTIFIERS = word_set(
    "some many most several few plenty lots half much more less enough others other least"
)
_POSSESSIVES = word_set("my your his her its our their")
_PREPOSITIONS = word_set(
    "of in on at by for with without from into onto over under about against between through "
    "during within across after before behind below above beside beyond despite except inside "
    "outside near off per than toward towards upon via like among around along as until till "
    "besides throughout"
)
_SUBORDINATORS = word_set(
    "because if unless when whenever once since until till after before where wherever whether "
    "lest how why whatever"
)
_RELATIVES = word_set("which who whom whose")
_CONJUNCTIONS = word_set("and or but nor yet so while whereas although though however plus")
_ADVERBS = word_set(
    "very really quite rather too so also always often sometimes usually still just only even "
    "again ever already almost nearly pretty super extra well soon now then here there away back "
    "together apart once twice enough more most less least much far "
    "straight instead perhaps maybe indeed otherwise therefore thus hence else somewhat "
    "kinda indoors outdoors everywhere anywhere upstairs downstairs overall especially mostly "
    "earlier later sooner generally up down out off on over in thankfully"
)
_NEGATIONS = word_set("not never neither hardly barely rarely seldom")
_RARELY = _NEGATIONS - {"not", "neither"}
_NUMBERS = word_set("one two three four five six seven eight nine ten eleven twelve dozen hundred")

ADJECTIVES = word_set("""
instant vivid brisk gritty
able absent abundant accessible accurate adequate accommodating affordable aggressive airy alive
amazing ample
angry annoying anxious appalling appealing appropriate asleep atmospheric attentive attractive
authentic available average awake aware awesome awful awkward bad badly-made basic beautiful big
bitter black bland blue boring bouncy bright brilliant brisk brittle broad broken brown bulky busy
calm careful careless caring casual central certain charming cheap cheerful chewy chic chilly civil
clean
clear clever close clumsy clunky clumpy cluttered coarse cold colorful comfortable comfy common
compact comparable competent competitive complete complex complicated confident confusing
consistent convenient convincing cool correct costly courteous cozy cosy cramped cranky crappy
crazy creamy creative creepy crisp crispy crispier crunchy crude cumbersome curious current cute
damp dangerous dark dated dead dear decent deep defective delicate delicious delightful dense
dependable different difficult dim dingy dirty disappointing discreet dishonest distinct dizzy
dope double drab dry dull durable eager easy easygoing eccentric economical edible effective
efficient elastic elderly elegant empty enjoyable enormous enthusiastic entire even excellent
excessive exceptional exciting exclusive exhausting expensive expert extensive extra extraordinary
fabulous faint fair faithful fake familiar famous fancy fantastic fast fat faulty favorite feeble
few fiddly filling filthy fine firm first flat flattering flawless flexible flimsy floral fluffy
foggy fond forgettable formal foul fragile fragrant free frequent fresh friendly frightening
frozen fruity frustrating full fun funny fussy fuzzy garish generic generous gentle genuine giant
glad glossy good gooey gorgeous gracious grainy grand grateful great greasy green grey gross grubby
happy hard hardworking harsh healthy hearty heavy helpful high hilarious honest horrible hot huge
humid humorous hungry hygienic icy ideal identical idle ill illegible immediate important
impossible impressive inaccurate incredible inexpensive inferior informative innovative
inspiring intense interesting intimate intuitive inviting irritating itchy jarring juicy keen kind
knowledgeable lacking lackluster large last late lazy leaky lean legible lengthy light lightweight
limited little lively lone lonely long loose loud lousy lovely low loyal lucky lukewarm lumpy
luxurious mad magical main manageable marvelous massive mean mediocre mellow memorable messy mild
minimal minor misleading missing modern modest moist moldy mouldy muddy multiple murky mushy narrow
nasty natural neat necessary nervous neutral new nice noisy normal nutritious obvious odd oily okay
ok old open ordinary organic original outgoing outdated outstanding overcooked overpriced overrated
overwhelming pale patient peaceful perfect perky permanent personable picky plain playful
pleasant pleasing plentiful plush polite poor popular portable positive possible powerful practical
precise predictable premium pricey pretty prickly professional proficient prompt proper proud
punctual pungent pure pushy quick quiet rancid rare rash raw ready real realistic reasonable
rectangular red redundant refreshing relaxing reliable repetitive responsive rich ridiculous right
rigid ripe robust romantic roomy rotten rough round rude runny rustic rusty sad safe salty same
satisfactory satisfying savory scarce scary scratchy secure sensitive serious severe shaky shallow
sharp shiny shoddy short shy sick silent silky silly similar simple sincere sleek sleepy slick slim
slimy slippery sloppy slow small smart smelly smoky smooth snappy snug sociable soft soggy solid
sore sour spacious sparse special spectacular speedy spicy spongy spotless square squeaky stable
stale standard steady steep sticky stiff stingy strange streaky stretchy strict striking strong
stubborn stuffy stunning stupid sturdy stylish subtle sudden suitable sunny superb superior
supportive sure surprising suspicious sweaty sweet swift tacky tall tart tasteless tasty tedious
tender tepid terrible terrific thick thin thirsty thorough thoughtful thought-provoking tidy tight
time-consuming timely tiny tired tiring tolerable top touchy tough toxic traditional trendy tricky
trivial trustworthy true ugly unbeatable uncomfortable understandable unhelpful uneven unique
unlucky unreliable unusual upbeat useful useless usual vague valuable varied vast versatile vibrant
vivid warm wary wasteful waterproof watertight watery weak wearable weird welcoming wet white whole
wide wild wise witty wobbly wonderful wooden worn worried worse worst worth worthless wrong yellow
young yummy zesty better best bigger smaller larger longer shorter cheaper faster slower louder
older newer harder easier lighter heavier stronger weaker cleaner warmer brighter darker nicer
abrupt agile amazed annoyed baggy balmy bent bitter-sweet bleak bloated blurry bogus bony boomy
boxy breezy brusque bubbly buggy bumpy buttery campy chalky cheery cheesy chipped choppy chunky
citrusy cliched compassionate constant contrived corded corny counterfeit cracked crooked crowded
crumbly crystal-clear curt cushioned cushiony cushy cutting-edge dainty dank deflated delighted
dented deserted diligent disappointed discolored disorganized displeased dissatisfied doughy
drafty drawn-out drenched droopy dumb earthy easy-to-use exorbitant faded fairly-priced
fast-paced finicky first-rate fizzy flaky fleecy fluent fluid frail fraudulent frayed frosty
frustrated furry garlicky gaudy ghastly gifted glitchy gloomy gloopy goofy grim grimy grippy
gristly gritty grungy hairy half-empty hard-to-find heartfelt heavyweight hefty hidden
high-quality high-tech hollow homely homey horrid immaculate impressed inept intermittent jerky
laggy leisurely lopsided low-quality low-tech luxe matte meaty mildewy minty moderate muffled
muggy musky musty nimble nuanced nutty obsolete old-fashioned opaque orderly overcrowded overlong
oversized packed padded patchy peppery peppy perfumed persistent petite phony picturesque
pixelated pleased poorly-made posh powdery pricy pristine punchy punctured quaint rainy rampant
ripped rock-solid rowdy rubbery rushed saggy satiny satisfied scammy scratched scripted scruffy
seasoned secluded second-rate self-explanatory serene shady sheer short-staffed silken
silky-smooth sketchy skilled slippy slouchy slow-paced snowy so-so soaked sooty spick-and-span
spotty springy stained state-of-the-art straightforward streamlined subpar sugary sultry supple
surprised swanky syrupy talented tangy tardy tense thrilled tinny top-heavy top-notch torn
tranquil translucent transparent true-to-size twisted undercooked undersized understaffed
unhurried unjustified unsanitary unsatisfied unscented unwieldy upscale vegan velvety verbose
vile warped washed-out waterlogged well-built well-constructed well-crafted well-designed
well-lit well-maintained well-organized well-priced well-stocked well-written widespread windy
wired woody woolly wordy world-class zippy
put dishwasher-safe see-through must-have well-made willing unwilling ill-fitting shredded stuck
""")

_VERBS = word_set("""
regard credit rebuild
absorb accept accommodate ache achieve act adapt add adhere adjust admire admit advertise advise
affect age agree aim allow amaze announce annoy answer anticipate apologize appear apply appreciate
argue arrange arrive ask assemble assist attach attract avoid bake balance bend benefit blame blast
bleed blend block blow boast boil boot bother bounce break breathe brew brighten bring brush bubble
build bulge bump burn burst buy buzz call cancel capture care carry cast catch cause celebrate
change charge chat cheat check chew chip chirp choke choose clap clash clean clear clip clog close
collapse collect combine come comment commend communicate compare compete complain complement
compliment concern confirm confuse connect consider consist contain continue contribute control
cook cool cope correct cost count cover crack crash create creak criticize crumble cry curl cut
damage darken deal decide decline decrease defend delay delight deliver demand depend describe
deserve design desire destroy detach deteriorate develop die differ dig dim dine direct disagree
disappear disappoint disconnect discover dislike display dissolve disturb dominate double doubt
drag drain draw drink drip drive drop dry earn eat eliminate embrace emit emphasize empty encounter
encourage end endure enforce engage enhance enjoy ensure enter entertain equip erase escape
evaporate evoke exceed excel exhibit exist expand expect experience expire explain explode express
extend face fade fail fall fasten favor fear feature feed feel fetch fight fill find finish fit fix
flake flap flash flatten flatter flicker flip float flow fly focus fold follow forget form frame
fray free freeze frighten frustrate fulfill function gain gather generate get give glide glow glue
go
grant greet grind grip groan grow guarantee guess guide handle hang happen harden hate have heal
hear heat help hesitate hide highlight hint hit hold honor hope host hug hum hurt ignore imagine
impress improve include increase indicate inform insist inspire install intend interact interfere
interrupt introduce invite involve iron irritate itch jam join jump justify keep kick kill knock
know lack land last lather laugh launch lay lead leak lean learn leave lend lengthen let lie lift
light like limit link list listen live load lock look loosen lose love lower mail maintain make
manage match matter mean measure melt mention mess mind mislead miss mix moisturize mold monitor
motivate mount move narrate need neglect nod note notice nourish obtain occur offer omit open
operate order
organize outlast outperform outweigh overcharge overcook overestimate overheat overlook overpower
overshadow owe own pack pair park pass pause pay peel perform persist pick pill pinch place
plan plant play please plug point polish pop possess post pour practice praise prefer prepare
present press prevent print proceed process produce promise promote proof protect prove provide
pull pump punch purchase push put puzzle quit rattle rave reach react read realize receive
recharge recognize recommend record recover reduce reflect refund refuse regret relax release rely
remain remark remember remind remove renew rent repair repeat replace reply report represent
request require rescue resemble reset resist resolve respond rest restore restrict retain return
reveal reward ride ring rinse rip rise rock roll rotate rub ruin run rush rust sag satisfy save say
scare schedule score scrape scratch scream screw scrub seal search season seat see seem select sell
send sense separate serve set settle shake shape share shed shift shine ship shock shoot show
shower shrink shut shuffle sing sink sit ski skip slam sleep slide slip slow smash smear smell smile
smoke smooth smudge snag snap soak solve soothe sort sound spark speak spill spin splash split spoil
spread squeak squeeze stab stabilize stain stall stand stare start starve state stay steal stick
stiffen stink stir stop store strain stream strengthen stress stretch strike strip struggle stuff
stumble succeed suck suffer suffice suggest suit supply support suppose surpass surprise surround
survive suspect swallow swear sweat switch tackle take talk tangle taste teach tear tell tend test
thank think threaten throw tick tie tighten tilt tip tire tolerate top toss touch tout track trade
train transfer transform translate transport trap travel treat trigger trim trip trust try turn
twist underestimate understand unfold update upgrade upset urge use value vanish vary vent vibrate
view visit voice wait wake walk want warm warn warp wash waste watch waver weaken wear weigh
welcome wipe wish withstand wobble wonder work worry wrap wreck write yell yield zip
accelerate accentuate alleviate amplify amuse analyze anchor apologise appeal applaud attempt
beat board book boost brace brake bruise buckle buffer captivate cater chafe char charm chop cite
clarify click climb cling clump coagulate compensate compress compromise conceal conclude congeal
contradict convey criticise crush curdle cushion customise customize dampen dazzle declutter
decorate deflate dehydrate dent depart depict descend detangle deter detract dilute discolor
discourage discuss disinfect dismiss dispatch dissuade distract divide downgrade download drape
echo edit educate elevate embody empower enable energize engross entail exaggerate examine
exfoliate exhaust explore expose exude facilitate falter fare fax fizz flaunt flood fluctuate
foam fry furnish garner grill hasten hinder hinge hover humidify hydrate ignite illuminate
illustrate immerse impart impede incorporate inflame inflate infuriate infuse insulate insult
integrate irk knead lag latch laud layer lease lessen linger maneuver mar marinate mask maximize
meander merge merit minimize misalign misfire mitigate mop muffle navigate necessitate nest numb
obstruct offset ooze optimize organise outshine overflow overpromise overstate overwhelm package
pamper personalize photograph pivot plateau plummet poke polarize portray prick purify radiate
ramble rank reboot recline recognise redden reek refresh refurbish reimburse reinforce rejuvenate
relieve remodel renovate repel reschedule reserve resonate result retract revitalize rival roast
rot sacrifice sanitize scan scoop scrimp scroll scuff sculpt seek seep shatter shave showcase
simmer simplify skid skimp slice snore soar soften sparkle speed splinter stack steer sting strap
streamline strive subscribe suffocate sway sweep sweeten swell swing swivel sync tailor tarnish
telescope temper tether thicken thrill toast tow trail tremble trump type unclog undercook
underdeliver undermine underperform underwhelm uninstall unite unlock unravel unsubscribe unzip
upload vacuum ventilate volumize waft warrant whine whir whisk win woo wow zoom
""")

_IRREGULAR = {
    "break": "broke broken", "bring": "brought", "build": "built", "buy": "bought",
    "catch": "caught", "choose": "chose chosen", "come": "came", "cost": "cost", "cut": "cut",
    "deal": "dealt", "draw": "drew drawn", "drink": "drank drunk", "drive": "drove driven",
    "eat": "ate eaten", "fall": "fell fallen", "feed": "fed", "feel": "felt", "fight": "fought",
    "find": "found", "fly": "flew flown", "forget": "forgot forgotten", "freeze": "froze frozen",
    "get": "got gotten", "give": "gave given", "go": "went gone goes", "grow": "grew grown",
    "hang": "hung", "hear": "heard", "hide": "hid hidden", "hit": "hit", "hold": "held",
    "hurt": "hurt", "keep": "kept", "know": "knew known", "lay": "laid", "lead": "led",
    "leave": "left", "lend": "lent", "let": "let", "lie": "lay lain", "lose": "lost",
    "make": "made", "mean": "meant", "pay": "paid", "put": "put", "quit": "quit", "read": "read",
    "ride": "rode ridden", "ring": "rang rung", "rise": "rose risen", "run": "ran",
    "say": "said", "see": "saw seen", "sell": "sold", "send": "sent", "set": "set",
    "shake": "shook shaken", "shine": "shone", "shoot": "shot", "show": "showed shown",
    "rebuild": "rebuilt", "shrink": "shrank shrunk", "shut": "shut", "sing": "sang sung",
    "sink": "sank sunk",
    "sit": "sat", "sleep": "slept", "slide": "slid", "speak": "spoke spoken", "spin": "spun",
    "split": "split", "spread": "spread", "stand": "stood", "steal": "stole stolen",
    "stick": "stuck", "stink": "stank", "strike": "struck", "swear": "swore sworn",
    "take": "took taken", "teach": "taught", "tear": "tore torn", "tell": "told",
    "think": "thought", "throw": "threw thrown", "understand": "understood", "wake": "woke woken",
    "wear": "wore worn", "withstand": "withstood", "write": "wrote written",
}  # fmt: skip

COPULAS = (
    word_set("""
feel feels felt seem seems seemed look looks looked appear appears appeared smell smells smelled
taste tastes tasted sound sounds sounded stay stays stayed remain remains remained become becomes
became get gets got turn turns turned arrive arrives arrived run runs ran come comes came go goes
went prove proves proved
""")
    | _BE
)
"""Verbs that an adjective may follow as what is said of the subject."""

_NOT_ADJECTIVES = word_set(
    "arrival meal material deal metal animal hospital festival rental total signal terminal trial "
    "manual music fabric topic traffic plastic table vegetable cable motive detective olive drive "
    "alternative bus focus bonus staff rubbish finish dish fish english trash polish british "
    "alcohol removal approval appeal proposal journal original professional clinic logic picnic "
    "perspective five live give locals individual potential goal medal coal renewal principal "
    "critic skeptic need dial seed feed speed bed weed shed breed thread bread reed red kid hundred"
)
_ENDINGS = re.compile(r"(?:ful|less|ous|able|ible|ive|ish|ic|ical|ial|al|proof|-free|-friendly)$")
_NOUNS_IN_LY = word_set("family supply assembly reply jelly belly bully fly july anomaly italy")
_NUMERAL = re.compile(r"\d")


def _past(base: str) -> list[str]:
    if base.endswith("e"):
        return [base + "d"]
    if base.endswith("y") and base[-2] not in "aeiou":
        return [base[:-1] + "ied"]
    doubled = re.search(r"[^aeiou][aeiou][bdgklmnprt]$", base) is not None
    return [base + "ed", base + base[-1] + "ed"] if doubled else [base + "ed"]


def _third(base: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh|o)$", base):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


@lru_cache(maxsize=1)
def _forms() -> dict[str, str]:
    """Form of a verb → ``third``, ``past`` or ``base``; a form that is several is the first."""
    found = dict.fromkeys(_VERBS, "base")
    for base in _VERBS:
        past = _IRREGULAR[base].split() if base in _IRREGULAR else _past(base)
        found |= {form: "past" for form in past if found.get(form) != "base"}
        found[_third(base)] = "third"
    return found


def singular_verb(word: str) -> str:
    """The form of a verb after one thing: ``are`` → ``is``, ``work`` → ``works``.

    >>> singular_verb("are"), singular_verb("have"), singular_verb("need"), singular_verb("broke")
    ('is', 'has', 'needs', 'broke')
    """
    known = {"are": "is", "were": "was", "have": "has", "do": "does", "aren't": "isn't",
             "weren't": "wasn't", "haven't": "hasn't", "don't": "doesn't"}  # fmt: skip
    return known.get(word, _third(word) if _forms().get(word) == "base" else word)


def is_past(word: str) -> bool:
    """Whether the word can be the past form of a verb.

    >>> is_past("made"), is_past("makes")
    (True, False)
    """
    return _forms().get(word) == "past" or word in _IRREGULAR.get(word, "").split()


def is_third(word: str) -> bool:
    """Whether the word is the form of a verb after one thing.

    >>> is_third("leaks"), is_third("leak"), is_third("is")
    (True, False, False)
    """
    return _forms().get(word) == "third"


def is_simple_past(word: str) -> bool:
    """Whether the word can be a past form that needs no auxiliary.

    >>> is_simple_past("tasted"), is_simple_past("broke"), is_simple_past("broken")
    (True, True, False)
    """
    return is_past(word) and word not in _participles()


def is_past_only(word: str) -> bool:
    """Whether the word is a past form and no participle.

    >>> is_past_only("broke"), is_past_only("made"), is_past_only("tasted")
    (True, False, False)
    """
    return word in _simple_pasts() - _participles()


@lru_cache(maxsize=1)
def _simple_pasts() -> frozenset[str]:
    forms = [found.split() for found in _IRREGULAR.values()]
    return frozenset(found[0] for found in forms if len(found) > 1)


@lru_cache(maxsize=1)
def _participles() -> frozenset[str]:
    return frozenset(form for forms in _IRREGULAR.values() for form in forms.split()[1:])


def is_base(word: str) -> bool:
    """Whether the word can be the plain form of a verb.

    >>> is_base("smell"), is_base("smells"), is_base("zipper")
    (True, False, False)
    """
    return _forms().get(word) == "base"


def plain_of_ing(word: str) -> str | None:
    """The verb of an -ing form: ``praising`` → ``praise``."""
    stem = word.removesuffix("ing")
    return next((base for base in (stem, stem + "e", stem[:-1]) if is_base(base)), None)


_PLURALS = word_set(
    "people children men women feet teeth staff they we you these those i police some many most "
    "several few others all both"
)


def is_plural(word: str) -> bool:
    """Whether a noun or pronoun takes ``are`` (or is I): by its ending, or by a list.

    >>> is_plural("drawers"), is_plural("glass"), is_plural("children")
    (True, False, True)
    """
    if word in _PLURALS:
        return True
    return word.endswith("people") or (
        word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    )


def be_after(noun: str) -> str:
    """The form of "be" after a noun.

    >>> be_after("rooms"), be_after("room"), be_after("staff")
    ('are', 'is', 'is')
    """
    return "are" if is_plural(noun) and noun != "staff" else "is"


def tagged(text: str) -> list[Token]:
    """Words and marks of a text with their tags, in time linear in its length.

    >>> [(t.text, t.tag) for t in tagged("The cover washes well.")]
    [('The', 'det'), ('cover', 'noun'), ('washes', 'verb'), ('well', 'adv'), ('.', 'mark')]
    """
    found = _WORD.finditer(text)
    return retagged(
        [Token(one.group(), lowered(one.group()), *one.span(), "noun") for one in found]
    )


def has_negation(words: Iterable[Token]) -> bool:
    """Whether one of the words denies something: "not", "never", "hardly", "can't".

    >>> has_negation(tagged("It isn't soft")), has_negation(tagged("It is soft"))
    (True, False)
    """
    return any(
        word.tag == "neg" or word.low.endswith("n't") or word.low == "cannot" for word in words
    )


def verb_of_contraction(pointer: Token) -> Token:
    """The verb in "it's" or "they'll"."""
    rest = pointer.low.split("'")[1]
    full = {"s": "is", "re": "are", "ll": "will", "ve": "have", "d": "would"}.get(rest, rest)
    return pointer.reworded(full, "aux")


def retagged(words: list[Token]) -> list[Token]:
    """The words with the tags that they have as they now stand together."""
    lows = [word.low for word in words]
    tags: list[str] = []
    before = ""
    for low, after in zip(lows, [*lows, ""][1:], strict=True):
        tags.append(_tag(low, before, tags, after))
        before = before if tags[-1] == "adv" else low
    for place in range(1, len(tags) - 1):
        # "a bit pricey", "a little loud": as much an adverb as "very".
        slightly = lows[place - 1] == "a" and lows[place] in {"bit", "little"}
        if slightly and tags[place + 1] in {"adj", "adv"}:
            tags[place - 1] = tags[place] = "adv"
    for place, low in enumerate(lows[:-1]):
        if low == "pretty" and tags[place + 1] == "adj":
            tags[place] = "adv"  # "pretty good", but "a pretty, warm room"
    return [word._replace(tag=tag) for word, tag in zip(words, tags, strict=True)]


_CLOSED: tuple[tuple[frozenset[str], str], ...] = (
    (_BE | _HAVE | _DO | MODALS, "aux"),
    (_NEGATIONS, "neg"),
    (_RELATIVES, "rel"),
    (_CONJUNCTIONS, "conj"),
    (frozenset({"to"}), "to"),
    (_POSSESSIVES, "poss"),
    (_OBJECTS, "obj"),
    (_DETERMINERS | _QUANTIFIERS, "det"),
    (_PRONOUNS, "pron"),
    (_NUMBERS, "num"),
)
_TAG_OF = {word: tag for words, tag in reversed(_CLOSED) for word in words}


def _tag(low: str, before: str, tags: list[str], after: str) -> str:
    if not (low[0].isalnum() or low[0] == "_"):
        return "mark"
    if _NUMERAL.match(low):
        return "num"
    last = _last(tags)
    if low in _TAG_OF:
        return _closed(low, last, after)
    if low in _SUBORDINATORS:
        return _subordinator(low, after)
    form = _forms().get(low)
    if form is not None and _can_be_verb(low, form, before, tags, after):
        return "base" if form == "base" and _governed(tags) else "verb"
    return _open(low, form, _Around(last, before, after))


def _governed(tags: list[str]) -> bool:
    """Whether "to" or an auxiliary stands before, adverbs and negations left aside."""
    place = len(tags) - 1
    while place > len(tags) - 5 and place >= 0 and tags[place] in {"adv", "neg"}:
        place -= 1
    return place >= 0 and tags[place] in {"to", "aux"}


def _last(tags: list[str]) -> str:
    """The tag before, adverbs left aside."""
    for place in range(len(tags) - 1, max(len(tags) - 4, -1), -1):
        if tags[place] != "adv":
            return tags[place]
    return "mark"


def _closed(low: str, last: str, after: str) -> str:
    tag = _TAG_OF[low]
    if low in {"this", "that", "these", "those"}:
        return _pointer(low, last, after)
    if low == "what" and after not in {"a", "an"}:
        return "rel"
    if low == "her" and after in {"", ".", ",", "and"}:
        return "obj"
    late = low == "yet" and last in {"aux", "neg"} and _forms().get(after) != "third"
    if late or (low == "so" and last in {"aux", "verb"}):
        return "adv"  # "has not yet failed", "is so soft"
    return tag


def _pointer(low: str, last: str, after: str) -> str:
    """``that`` before a noun, in place of one, or before a clause."""
    clause = _TAG_OF.get(after) in {"det", "poss", "pron"}
    if low == "that" and (clause or last in {"noun", "verb", "adj", "obj"}):
        return "rel"
    form = _forms().get(after)
    follows = _TAG_OF.get(after) in {"aux", "neg"} or form in {"third", "past"}
    return "pron" if follows or not after[:1].isalpha() else "det"


def _subordinator(low: str, after: str) -> str:
    if low in {"after", "before", "until", "till", "since"}:
        subject = _TAG_OF.get(after) == "pron"
        return "sub" if subject or low in {"since"} else "prep"
    return "sub"


_NOMINAL = {"det", "poss", "num"}
_WHO = word_set(
    "users customers reviewers buyers owners people guests visitors kids children parents readers"
)
_OBJECT = frozenset({"det", "poss", "obj", "pron"})
_SIDES = word_set("top bottom front back inside outside")
_STANDING = word_set("some many most several few others all both another")
"""Words that may stand for people or things by themselves."""


_PLAYED = word_set("music band bands entertainment jazz piano performances shows")


def _can_be_verb(low: str, form: str, before: str, tags: list[str], after: str) -> bool:
    """Whether a form of a verb is one here, by what stands around it."""
    last = _last(tags)
    if before.endswith("ing") and tags[-2:-1] == ["det"]:
        last = "noun"  # "the filling shifts", "the coating wears off"
    described = low in ADJECTIVES and (form == "base" or low in _participles())
    if described or (low == "live" and after in _PLAYED):
        object_next = _TAG_OF.get(after) in {"det", "poss", "obj"}
        return last == "to" or before in MODALS | _DO or (object_next and last != "noun")
    if last in {"to", "aux", "neg", "obj", "rel"} or (last == "det" and before in _STANDING):
        return form != "third" or last == "rel" or before.endswith("self") or before in _RARELY
    if last == "prep":
        return form == "past" and not low.endswith("ed")
    acts = _acts(form, last, before, after)
    named = form != "past" and (last == "adj" or _TAG_OF.get(after) == "aux")
    if acts or named or last in _NOMINAL:
        return acts
    joined = form == "base" and tags[-2:-1] == ["conj"]
    agrees = form == "past" or joined or is_plural(before) == (form == "base")
    agrees = agrees and (low != "like" or before in _WHO)
    if last == "conj":
        return form != "base" or _forms().get(after) not in {"past", "third"}
    return last in {"mark", "pron", "sub"} or (last == "noun" and agrees)


_NOUNS_IN_ING = (
    "morning", "evening", "ceiling", "-spring", "string", "wing", "thing", "frosting", "seating",
    "lighting", "seasoning", "pricing", "stitching",
)  # fmt: skip


def _acts(form: str, last: str, before: str, after: str) -> bool:
    """Whether a form is a verb behind a number or "top", which nouns follow more often.

    "The top looks beautiful", "one noted that it leaks", "two single out the soup".
    """
    if last == "adj":
        return before in _SIDES and form == "third" and after in ADJECTIVES
    if last != "num":
        return False
    one = before == "one"
    told = one and form != "base" and _TAG_OF.get(after) in _OBJECT
    return told or (after in {"that", "out"} and (one or form != "third"))


class _Around(NamedTuple):
    """The tag before a word, adverbs left aside, and the words before and after it."""

    last: str
    before: str
    after: str


def _open(low: str, form: str | None, around: _Around) -> str:
    """The tag of a word that is no verb here."""
    if low in _PREPOSITIONS and (low not in _ADVERBS or around.after[:1].isalnum()):
        return "prep"
    looks = low.endswith(("-looking", "-tasting", "-smelling", "-sounding", "-feeling"))
    if looks or low in ADJECTIVES or (low.startswith(("un", "in", "im")) and low[2:] in ADJECTIVES):
        return "adj"
    if low in _ADVERBS or (low.endswith("ly") and len(low) > 4 and low not in _NOUNS_IN_LY):
        return "adv"
    if low.endswith("ing") and len(low) > 5 and not low.endswith(_NOUNS_IN_ING):
        return "ing"
    return "noun" if low in _NOT_ADJECTIVES else _unknown(low, form, around)


def _unknown(low: str, form: str | None, around: _Around) -> str:
    """The tag of a word in no list, by its ending and what stands around it."""
    last, before, after = around
    past = low.endswith("ed") and len(low) > 4
    acts = _TAG_OF.get(after) in {"det", "poss", "obj"}
    third = low.endswith("s") and not low.endswith("ss")
    if past and (last == "pron" or (acts and last in {"noun", "mark", "conj"})):
        return "verb"
    if third and before in {"it", "he", "she", "which", "that", "who"}:
        return "verb"
    if third and acts and last == "noun" and not is_plural(before):
        return "verb"
    return "adj" if past or form == "past" or _ENDINGS.search(low) else "noun"
