"""Words of English and their forms: adjectives, verbs, and which form goes with what.

The lists hold what people say of products, places and services.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = [
    "ADJECTIVES",
    "COPULAS",
    "IS",
    "be_after",
    "forms",
    "is_base",
    "is_past",
    "is_past_only",
    "is_plural",
    "is_simple_past",
    "is_third",
    "participles",
    "plain_of_ing",
    "singular_verb",
    "word_set",
]


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


IS = word_set("is are was were am be been being isn't aren't wasn't weren't ain't")
"""Forms of "be"."""
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
high-end low-end mid-range candlelit delayed damaged burnt spoiled bruised wilted mislabeled
mislabelled botched put dishwasher-safe see-through must-have well-made willing unwilling
creaky ill-fitting shredded stuck bent convinced deformed discontinued disgusted distorted
embarrassed excited exhausted misaligned preserved standout absorbent resistant soothing experienced
real-time
""")

_VERBS = word_set("""
rate tune bicker forgive joke grumble gush vouch moan reckon concede caution lament adore cherish
relish froth descale
savor savour dread loathe excuse reassure cram tuck crave misplace topple hiss squeal
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
begin believe belong resume complete spend convince raise meet budge embarrass locate crawl
sniff assume pretend howl gleam unplug discontinue droop disgust reject undo redo unwrap restart
convert shiver reuse preserve delete tingle roar distort tickle thump straighten reapply swipe
stutter behave swirl squirt shove pry imply attend alter unscrew stow dangle thrive inspect adopt
outgrow insure emerge await submit configure tempt revive cleanse repack grasp rearrange deform
jiggle replenish snuggle center centre overcome undergo unwind withdraw unpack excite
launder drown bury mend donate revise whistle become deny wick
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
    "beat": "beat beaten", "become": "became become", "begin": "began begun", "bend": "bent",
    "bleed": "bled", "blow": "blew blown", "cling": "clung", "dig": "dug", "light": "lit",
    "meet": "met", "mislead": "misled", "outgrow": "outgrew outgrown", "overcome": "overcame",
    "seek": "sought", "shed": "shed", "spend": "spent", "sting": "stung", "sweep": "swept",
    "swing": "swung", "undergo": "underwent undergone", "undo": "undid undone",
    "unwind": "unwound", "win": "won", "withdraw": "withdrew withdrawn",
}  # fmt: skip

COPULAS = (
    word_set("""
feel feels felt seem seems seemed look looks looked appear appears appeared smell smells smelled
taste tastes tasted sound sounds sounded stay stays stayed remain remains remained become becomes
became get gets got turn turns turned arrive arrives arrived run runs ran come comes came go goes
went prove proves proved
""")
    | IS
)
"""Verbs that an adjective may follow as what is said of the subject."""


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
def forms() -> dict[str, str]:
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
             "weren't": "wasn't", "haven't": "hasn't", "don't": "doesn't",
             "single": "singles"}  # fmt: skip
    return known.get(word, _third(word) if forms().get(word) == "base" else word)


def is_past(word: str) -> bool:
    """Whether the word can be the past form of a verb.

    >>> is_past("made"), is_past("makes")
    (True, False)
    """
    return forms().get(word) == "past" or word in _IRREGULAR.get(word, "").split()


def is_third(word: str) -> bool:
    """Whether the word is the form of a verb after one thing.

    >>> is_third("leaks"), is_third("leak"), is_third("is")
    (True, False, False)
    """
    return forms().get(word) == "third"


def is_simple_past(word: str) -> bool:
    """Whether the word can be a past form that needs no auxiliary.

    >>> is_simple_past("tasted"), is_simple_past("broke"), is_simple_past("broken")
    (True, True, False)
    """
    return is_past(word) and word not in participles()


def is_past_only(word: str) -> bool:
    """Whether the word is a past form and no participle.

    >>> is_past_only("broke"), is_past_only("made"), is_past_only("tasted")
    (True, False, False)
    """
    return word in _simple_pasts() - participles()


@lru_cache(maxsize=1)
def _simple_pasts() -> frozenset[str]:
    forms = [found.split() for found in _IRREGULAR.values()]
    return frozenset(found[0] for found in forms if len(found) > 1)


@lru_cache(maxsize=1)
def participles() -> frozenset[str]:
    """Past participles that are no regular forms: ``made``, ``broken``."""
    return frozenset(form for found in _IRREGULAR.values() for form in found.split()[1:])


def is_base(word: str) -> bool:
    """Whether the word can be the plain form of a verb.

    >>> is_base("smell"), is_base("smells"), is_base("zipper")
    (True, False, False)
    """
    return forms().get(word) == "base"


def plain_of_ing(word: str) -> str | None:
    """The verb of an -ing form: ``praising`` → ``praise``."""
    stem = word.removesuffix("ing")
    if stem == "singl":
        return "single"
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
