"""Words and turns of phrase against groups of people. The list names slurs in order to find them."""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Clue

__all__ = ["CLUES"]

_GROUPS: Final = (
    r"(?:jews?|jewish people|joos?|jooish|muslims?|islam|blacks|black people|whites|white ?(?:people|man|"
    r"men)|mexicans?|latinos?|immigrants?|"
    r"migrants?|refugees?|foreigners?|gays?|lesbians?|homosexuals?|trans(?:gender|exuals?|"
    r"vestites?)?(?: people)?|women|females|arabs?|"
    r"asians?|chinese(?: people)?|indians?|africans?|christians?|catholics?|hindus?|sikhs?|gypsies|"
    r"disabled people|cripples|autistic people)"
)
_SLURS: Final = (
    r"n[i1!*]gg(?:er|a|ers|as|uh)s?|f[a@*]gg?[o0]ts?|trann(?:y|ies)|k[i1]kes?|"
    r"wetbacks?|beaners?|"
    r"ragheads?|towelheads?|camel ?jockeys?|jigaboos?|porch ?monkeys?|shemales?|negroid|"
    r"darkies|feminazis?|"
    r"sand ?monkeys?|jungle ?bunn(?:y|ies)|zipperheads?"
)
_VILE: Final = (
    r"(?:animals|vermin|subhumans?|parasites?|filth\w*|scum|disgusting|criminals|terrorists?|rapists|"
    r"inferior|evil|a? ?cancer|diseased?|"
    r"cockroaches|rats|savages|monkeys|apes|trash|garbage|a? ?plague|dirty|stupid|retarded|degenerates?|"
    r"the problem|fucking \w+|mentally ill)"
)
_HARM: Final = (
    r"(?:die|killed|shot|hanged|hung|exterminated|gassed|lynched|burned|eradicated|beaten|wiped out|"
    r"put down|executed|slaughtered)"
)

CLUES: Final[tuple[Clue, ...]] = (
    Clue("hate", "possible slur", 0.35, r"\b(?:dykes?|ch[i1]nks?|f[a@]gs?|sp[i1]cs?|pak[i1]s?|gooks?)\b"),
    Clue("hate", "slur", 0.85, rf"(?:\b|#)(?:{_SLURS})\b"),
    Clue(
        "hate",
        "group called vile",
        0.75,
        rf"\b{_GROUPS} (?:are|r|is) (?:all |just |nothing but |so |a bunch of |always |really |like )?{_VILE}\b",
    ),
    Clue(
        "hate",
        "hatred of a group",
        0.65,
        rf"\b(?:hate|despise|detest|fuck|can'?t stand) (?:all |the |those |these |fucking )*{_GROUPS}\b|"
        rf"\b{_GROUPS} hate the\b",
    ),
    Clue(
        "hate",
        "group told to leave",
        0.4,
        r"\b(?:go|send (?:them|him|her)|get) back to (?:your|their|his|her)(?: own)? (?:country|continent|"
        r"jungle|cave)\b",
    ),
    Clue(
        "hate",
        "supremacy",
        0.55,
        r"\b(?:heil hitler|sieg heil|14/88|white power|master race|gas the|white pride)\b",
    ),
    Clue(
        "hate",
        "plot of a group",
        0.4,
        rf"\b{_GROUPS} (?:have |now |secretly )*(?:control|run|own|took over|taken over|rule) (?:the|our)\b",
    ),
    Clue("hate", "hashtag", 0.55, r"#fuck(?:islam|feminis\w+|gays?|jews?|muslims?|blacks?|immigrants?)"),
    Clue(
        "hate/threatening",
        "group to be harmed",
        0.85,
        rf"\b{_GROUPS} (?:should|must|need to|ought to|deserve to) (?:all |just )?(?:be )?{_HARM}\b",
    ),
    Clue(
        "hate/threatening",
        "call against a group",
        0.85,
        rf"\b(?:death to|kill|exterminate|gas|lynch|shoot|burn|hang|eradicate|behead) (?:all |the |every |"
        rf"those |these )*{_GROUPS}\b",
    ),
)
