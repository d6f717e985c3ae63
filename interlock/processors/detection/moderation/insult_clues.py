"""Words and turns of phrase that abuse somebody: graded lists, written for casefolded text with look-alikes folded.

Profanity alone is no category and weighs little: people also swear for joy. What is aimed at somebody weighs more.
"""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Clue

__all__ = ["CLUES"]

_FUCK: Final = r"(?:f[u*@#v]{1,3}[ck*@#]{0,3}k|fuk|fck|fuq|phuck|f[*@#-]{2,}k?)"
_SHIT: Final = r"(?:sh[i1!*l][t+*]|s[*@#-]{2,}t)"
_ASS: Final = r"(?:a[s$*@]{2}|arse)"

_STRONG: Final = (
    rf"{_ASS} ?(?:hole|hat|wipe|clown)s?|a-?holes?|asswipes?|dick ?heads?|douche(?:bag|nozzle)?s?|"
    rf"{_SHIT} ?(?:head|bag|stain|face)s?|"
    rf"scum ?bags?|scum|dumb ?{_ASS}(?:es)?|jack ?{_ASS}(?:es)?|dip ?{_SHIT}s?|mother ?{_FUCK}\w*|mofos?|"
    rf"mfr|mfers?|c[u*]nts?|"
    rf"tw[a@]ts?|wankers?|{_FUCK}(?:er|ers|wit|wits|tard|tards|tarded|face)|b[!1*]tch(?:es|y)?|"
    rf"whores?|sluts?|skanks?|bimbos?|"
    rf"retard(?:s|ed)?|lib ?tards?|lib ?turds?|libfuks?|trump ?tards?|republi(?:tards?|cunts?)|"
    rf"demo ?(?:rats|craps)|shitlibs?|"
    rf"pencil ?dick|pu(?:s\*|\*s|\*\*)(?:y|ies)|pricks?|cock ?suckers?|morons?|moronic|imbeciles?|cretins?|"
    rf"subhumans?|"
    rf"(?:piece|pile|sack|bag|load) of (?:{_SHIT}|crap|garbage|trash|dung|filth)"
)
_PLAIN: Final = (
    r"idiots?|idiotic|bastards?|nut ?(?:case|job|bag)s?|kooks?|dumm(?:y|ies)|lowlifes?|buffoons?|half ?wits?|"
    r"dim ?wits?|"
    r"numbskulls?|nitwits?|simpletons?|degenerates?|scoundrels?|meth ?heads?|crack ?heads?|brain ?dead|jerks?|"
    r"b[i!1*]tch(?:y|ass)?|cucks?|incels?|inbreds?|thots?|cry ?bab(?:y|ies)|(?:white|trailer) trash|dolts?|dunces?|"
    r"air ?heads?|block ?heads?|bone ?heads?|knuckle ?heads?|(?:dirt|sleaze|wind) ?bags?|slimeballs?|wh?ackos?|"
    r"sickos?|fatso|fat ?ass|lard ?ass|dingbats?|human (?:garbage|waste|trash|filth)|garbage human"
)
_MIDDLE: Final = (
    r"losers?|maggots?|vermin|creeps?|perverts?|psychos?|pedo(?:phile)?s?|pedifiles?|paedo(?:phile)?s?|"
    r"parasites?|traitors?|"
    r"pukes?|bigots?|hypocrites?|puss(?:y|ies)|bitches"
)
_HARSH: Final = (
    r"stupid|dumb|pathetic|disgusting|repulsive|clowns?|liars?|clueless|demented|senile|worthless|useless|"
    r"vile|filthy|ugly|"
    r"incompetent|deranged|coward(?:s|ly)?|disgrace(?:ful)?|rotten|pigs?"
)
_SOFT: Final = (
    r"stupidity|evil|corrupt|thugs?|crooks?|tyrants?|demons?|witch|freaks?|phon(?:y|ey)|lunacy|lunatics?|"
    r"illegitimate|"
    r"shameful|criminals"
)
_SOMEBODY: Final = r"(?:you|u|ya|yall|y'all|him|her|them|em|'em|your|ur|yourself|yourselves)"
_IS: Final = (
    r"(?:you|u|he|she|they|this (?:guy|man|woman)|these (?:people|guys)|those people)(?: all)?(?: (?:are|"
    r"is|r)|'re|'s|re)"
)
_INSULT: Final = f"(?:{_STRONG}|{_PLAIN}|{_MIDDLE}|{_HARSH})"

CLUES: Final[tuple[Clue, ...]] = (
    Clue(
        "harassment",
        "profanity",
        0.28,
        rf"(?:\b|[#@]){_FUCK}\w*|\b(?:bull|bat|horse)?{_SHIT}(?:s|ty|ting|show)?\b|\b{_ASS}\b|\bgoddamn\w*",
    ),
    Clue(
        "harassment",
        "mild profanity",
        0.12,
        r"\b(?:damn|crap|hell|wtf|piss(?:ed)?|bloody|frigging|freaking|turds?)\b",
    ),
    Clue("harassment", "strong insult", 0.52, rf"(?:\b|[#@])(?:{_STRONG})\b"),
    Clue("harassment", "plain insult", 0.5, rf"\b(?:{_PLAIN})\b"),
    Clue("harassment", "insult", 0.42, rf"\b(?:{_MIDDLE})\b"),
    Clue("harassment", "mild insult", 0.25, rf"\b(?:{_HARSH}|{_SOFT})\b"),
    Clue(
        "harassment",
        "abbreviation",
        0.5,
        r"(?:\b|[#@])(?:fjb|stfu|gfy|gtfo|kys|foff|ftrump|fbiden)\b|\bf\.?j\.?b\b",
    ),
    Clue(
        "harassment",
        "curse at somebody",
        0.5,
        rf"\b(?:{_FUCK}|screw|damn|f) ?(?:{_SOMEBODY}|off|joe|ted|trump|biden)\b|\bup yours\b|\beat {_SHIT}|"
        rf"\bkiss my {_ASS}\b",
    ),
    Clue(
        "harassment",
        "silencing",
        0.5,
        rf"\bshut (?:the |your |ur )?(?:{_FUCK}\w*|hell|f\S*|absolute|mouth|trap|face|"
        rf"pie ?hole)(?: {_FUCK})?(?: up)?\b",
    ),
    Clue(
        "harassment",
        "mild silencing",
        0.25,
        r"\b(?:shut up|go away|get lost|drop dead|nobody (?:likes|asked) you|get a (?:life|job))\b",
    ),
    Clue(
        "harassment",
        "somebody is",
        0.35,
        rf"\b{_IS} (?:such |just |nothing but |all |a |an |the |one |\w+ ){{0,4}}(?:{_INSULT}|"
        rf"trash|garbage|joke|disaster)\b",
    ),
    Clue(
        "harassment",
        "you insult",
        0.3,
        rf"\b(?:(?:you|u) (?:\w+ ){{0,2}}|your (?:an? |such )(?:\w+ )?){_INSULT}\b",
    ),
    Clue(
        "harassment",
        "waste of space",
        0.55,
        r"\bwaste of (?:space|oxygen|skin|breath)\b|\b(?:rot|burn) in hell\b|\bshove (?:\S+ ){1,6}up (?:your|"
        r"ur|his|her)\b",
    ),
    Clue(
        "harassment",
        "sexual belittling",
        0.5,
        r"\b(?:screwed|slept|sleep|sucked?) (?:her|his) way (?:up|to)\b|\bknows how to suck\b",
    ),
    Clue("harassment", "chant", 0.45, r"\blet'?s go brandon\b|\bbuck ?joe ?fiden\b|\block (?:her|him|them) up\b"),
    Clue(
        "harassment",
        "ugly comparison",
        0.3,
        r"\bhow stupid\b|\black of (?:a )?brains?\b|\b(?:zero|no|low) iq\b|\bcan'?t fix stupid\b|"
        r"\byo(?:ur)? (?:mom|mother|momma)\b",
    ),
)
