"""Words and turns of phrase about hurting somebody or oneself, and about sex."""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Clue

__all__ = ["CLUES"]

_WILL: Final = (
    r"(?:i'll|i will|i'm going to|i am going to|i'm gonna|im gonna|i'm about to|we will|we'll|"
    r"we are going to|we're gonna|i would love to)"
)
_KILL: Final = r"(?:kill|shoot|stab|murder|strangle|rape|hang|behead|torture|lynch)"
_HURT: Final = r"(?:beat|hurt|burn|destroy|choke|slap|punch|break|end)"
_THEM: Final = r"(?:you|u|him|her|them|ya|your (?:family|kids|wife|children|mother)|them all|y'all)"
_MYSELF_DEAD: Final = (
    r"(?:kill myself|end my life|end it all|commit suicide|hurt myself|cut myself|hang myself|overdose|"
    r"be dead|take my (?:own )?life)"
)
_MINOR: Final = (
    r"(?:child(?:ren)?|kids?|minors?|underaged?|pre-?teens?|toddlers?|schoolgirls?|schoolboys?|little (?:girl|boy)s?|"
    r"(?:[1-9]|1[0-7])[- ]?(?:years?|yrs?)[- ]old)"
)
_EXPLICIT: Final = (
    r"(?:sexy|porn\w*|nudes?|erotic\w*|horny|blow ?jobs?|masturbat\w*|orgasm\w*|fetish\w*|seduc\w+|lewd|"
    r"incest|sex with)"
)

CLUES: Final[tuple[Clue, ...]] = (
    Clue("harassment/threatening", "threat", 0.7, rf"\b{_WILL} (?:\w+ )?{_KILL} {_THEM}\b"),
    Clue(
        "harassment/threatening",
        "soft threat",
        0.35,
        rf"\b{_WILL} (?:\w+ )?{_HURT} {_THEM}\b|\bwatch your back\b|\bcoming for (?:you|your)\b|\byou(?:'re|"
        rf" are) (?:going to|gonna) (?:die|regret)\b",
    ),
    Clue(
        "harassment/threatening",
        "told to die",
        0.8,
        r"(?:\b|#)(?:go )?(?:kill|hang|shoot|off) ?(?:yourself|yourselves|urself)\b|\bkys\b|hangyourself|"
        r"\bgo die\b|\bi hope (?:you|he|she|they) (?:all )?(?:die|rot|suffer|get (?:cancer|covid|killed))",
    ),
    Clue(
        "harassment/threatening",
        "deserves harm",
        0.6,
        rf"\b(?:you|he|she|(?:these|those) \w+) (?:should|deserves?(?: to)?|needs?(?: to)?|ought to|"
        rf"must) (?:all |just )?be (?:shot|hanged|hung|killed|executed|tortured|beaten|stoned|whipped|raped)\b|"
        rf"\bdeserves? to die\b|\b(?:somebody|someone) (?:should|needs to|please) (?:{_KILL}|{_HURT}) {_THEM}\b",
    ),
    Clue("harassment/threatening", "stalking", 0.6, r"\bi know where (?:you|he|she) lives?\b"),
    Clue(
        "violence",
        "call to kill",
        0.45,
        rf"\b(?:{_KILL}|execute) (?:them all|all of them)\b|\bdeath to (?:all|the|every|these|those|him|her|"
        rf"them)\b",
    ),
    Clue(
        "violence",
        "weapon making",
        0.55,
        r"\bhow (?:to|do i|can i|do you) (?:make|build|assemble) (?:a |an )?(?:pipe |nail |car )?(?:bombs?|"
        r"explosives?|molotov|grenade|ied)\b|\bblow up (?:the |a )?(?:school|building|bridge|church|mosque|"
        r"synagogue|hospital|plane|airport)\b",
    ),
    Clue(
        "violence",
        "cruelty",
        0.3,
        r"\b(?:tortured?|torturing|massacre|slaughter|lynch\w*|beat(?:en)? to death|bloodbath|"
        r"blood on your hands|murderers?|kick(?:ed)? (?:his|her|their|your) (?:nuts|ass|teeth))\b",
    ),
    Clue(
        "violence/graphic",
        "gore",
        0.35,
        r"\b(?:decapitat\w+|dismember\w*|disembowel\w*|mutilat\w+|entrails|severed (?:head|limb|hand|arm|"
        r"leg)s?|slit (?:his|her|their|your|the) throats?|(?:guts|intestines|brains?) (?:spill|splatter|hang|"
        r"ooz|pour)\w*|blood (?:spray|splatter|gush|squirt|spurt)\w*|goug(?:e|ed|ing) (?:out )?(?:his|her|"
        r"their|your) eyes?|skulls? (?:crack|crush|split)\w*)\b",
    ),
    Clue(
        "self-harm",
        "self-harm talk",
        0.3,
        r"\b(?:self[- ]harm(?:ing)?|suicid(?:e|al)|cutting myself|starv(?:e|ing) (?:myself|yourself)|thinspo|"
        r"pro-?ana)\b",
    ),
    Clue(
        "self-harm/intent",
        "wish to die",
        0.75,
        rf"\bi(?:'m| am| have|'ve)? (?:really |just |\w+ )?(?:want|wanna|going|gonna|plan|planning|decided|"
        rf"intend|ready|need)(?: to)? {_MYSELF_DEAD}\b|\bi (?:just |really )?(?:want|wanna|"
        rf"wish) (?:to )?(?:die|be dead)\b(?:[.!,;]|\z)",
    ),
    Clue(
        "self-harm/intent",
        "no wish to live",
        0.65,
        r"\bi (?:do not|don't|dont|no longer) (?:really )?(?:want|wish) to (?:live|be alive|exist|be here|"
        r"wake up)\b|\b(?:i'?d be|i am|i'm|everyone(?:'d| would) be) better off (?:dead|without me)\b|"
        r"\bkill(?:ing)? myself\b",
    ),
    Clue(
        "self-harm/instructions",
        "ways to die",
        0.85,
        rf"\bhow (?:to|do i|can i|should i|many pills)\b[^.?!]{{0,30}}\b(?:{_MYSELF_DEAD}|kill yourself)|"
        rf"\b(?:painless|easiest|best|quickest|quick|easy) (?:ways?|methods?) (?:to|of) (?:die|dying|suicide|"
        rf"kill(?:ing)? (?:myself|yourself)|end my life|commit suicide)\b",
    ),
    Clue(
        "sexual",
        "explicit word",
        0.5,
        r"\b(?:porn(?:o|hub|star|ography)?|blow ?jobs?|hand ?jobs?|cum ?shots?|cumming|dildos?|masturbat\w+|"
        r"deep ?throat\w*|gang ?bang\w*|creampies?|milfs?|hentai|xxx|horny|orgies|orgy|felch\w*|camel ?toe)\b",
    ),
    Clue(
        "sexual",
        "body in slang",
        0.35,
        r"\b(?:(?:my|your|his|a|their) (?:d[i1]ck|cock)|dicks|cocks|tits|titties|boobs|boners?|tube ?steak|nudes)\b",
    ),
    Clue(
        "sexual",
        "act",
        0.5,
        r"\bsuck(?:s|ing)? (?:my|his|your|a|on|off) (?:\w+ )?(?:dick|cock|balls|tube ?steak)s?\b|\b(?:fuck|"
        r"bang)(?:s|ed|ing)? (?:me|your (?:mom|mother|wife|sister))\b|\bsend (?:me )?nudes\b",
    ),
    Clue(
        "sexual/minors",
        "child abuse material",
        0.85,
        r"\b(?:child|kiddie|kid|preteen|underage) ?(?:porn\w*|nudes|sex|erotica)\b|\b(?:loli(?:con)?|"
        r"shota(?:con)?|jailbait)\b",
    ),
    Clue(
        "sexual/minors",
        "sex near a child",
        0.6,
        rf"\b(?:{_EXPLICIT})(?:\W+\w+){{0,4}}\W+{_MINOR}\b|\b{_MINOR}(?:\W+\w+){{0,4}}\W+{_EXPLICIT}\b",
    ),
)
