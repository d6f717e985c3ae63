"""Signs that a text gives a model another role, or a role without limits."""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Clue
from interlock.processors.detection.injection.kinds import clues_of

__all__ = ["CLUES"]

_CARELESS: Final = (
    r"(?:no|without|free (?:from|of)|(?:not|isn't|is not) (?:bound|limited|restricted|constrained) by|"
    r"unbound by|devoid of|"
    r"ignores?|lacks?|(?:does not|doesn't|don't|do not|not) (?:have|follow|obey|adhere to|care about|"
    r"abide by|comply with)|"
    r"regardless of|disregards?|not subject to|bypass(?:es)?|violat(?:e|es|ing)|against|neither|never cares about)"
)
_LIMITS: Final = (
    r"(?:restrictions?|limitations?|filters?|censorship|ethic\w*|moral\w*|guidelines|guardrails|content polic\w+|"
    r"inhibitions|laws?|legality|principles|safeguards|disclaimers|rules)"
)
_WICKED: Final = (
    r"(?:illegal|unethical|immoral|amoral|harmful|dangerous|offensive|hateful|inappropriate|explicit|"
    r"inhumane|evil|taboo)"
)

CLUES: Final[tuple[Clue, ...]] = (
    *clues_of(
        "role-manipulation",
        [
            (
                "no-longer",
                0.7,
                r"\b(?:you are|you're|ur) no longer (?:an? |the )?(?:chat ?gpt|gpt|ai|assistant|bound|"
                r"restricted|limited|claude|language model)\b",
            ),
            ("you-are-now", 0.4, r"\b(?:you are|you're|ur|your) now\b"),
            (
                "from-now-on",
                0.4,
                r"\b(?:from now own|from now on|from here on(?: out)?|from this point(?: on| forward)?|"
                r"henceforth|starting now|"
                r"for the (?:rest|remainder) of (?:this|our|the) (?:conversation|chat|session|thread))\b",
            ),
            (
                "going-to-act",
                0.4,
                r"\byou(?: are|'re| will| must| shall|'ll)? (?:now |going to |about to |have to |to )*(?:act|"
                r"pretend|simulate|imitate|role ?play|immerse|behave|impersonate|emulate)\b",
            ),
            (
                "act-as",
                0.25,
                r"\b(?:act|acting|behave|respond|answer|speak|reply) (?:[a-z]+ )?(?:as|like)\b|"
                r"\bpretend(?:ing)? (?:to be|you are|that you)\b|\brole ?-?play(?:ing)?\b",
            ),
            (
                "take-a-role",
                0.35,
                r"\b(?:assume|adopt|take on|play|immerse yourself into|embody) (?:[a-z]+ ){0,2}(?:role|"
                r"persona|identity|personality|character)\b",
            ),
            (
                "in-character",
                0.45,
                r"\b(?:stays?|remain|always be|keep) in character\b|\bbreak(?:s|"
                r"ing)? (?:out of )?character\b",
            ),
            (
                "named-model",
                0.35,
                r"\b(?:ai|chatbot|bot|language model|demon|entity|assistant|ai model|character|"
                r"persona) (?:that is |who is )?(?:named|called|known as)\b",
            ),
            (
                "answer-format",
                0.3,
                r"\b(?:respon[sd]\w*|repl(?:y|ies)|answers?|output|messages?|"
                r"sentences?)\b[^.\n]{0,40}\b(?:start|begin|prefix|marked|preced)\w* (?:[a-z]+ ){0,3}(?:with|"
                r"by)\b",
            ),
            (
                "two-answers",
                0.5,
                r"\b(?:two|2) (?:[a-z]+ ){0,2}(?:responses|ways|paragraphs|answers|personalities|outputs)\b|"
                r"\brespond as both\b|\b(?:both|one) (?:as|like) (?:chat ?gpt|gpt)\b|"
                r"\[(?:gpt|chatgpt|classic|normal)\]",
            ),
            (
                "fiction",
                0.25,
                r"\b(?:hypothetical|fictional|imaginary|alternate|parallel) (?:[a-z]+ )?(?:scenario|world|"
                r"universe|story|setting|dialogue|response|simulation|character|planet)\b",
            ),
            (
                "prompt-slot",
                0.35,
                r"[\[{<(](?:insert|your|enter|put|place|type)[ _](?:[a-z]+[ _]){0,4}(?:prompt|question|"
                r"request|here|text|message)s?[ _a-z]{0,12}[\]}>)]",
            ),
        ],
    ),
    *clues_of(
        "jailbreak",
        [
            ("do-anything-now", 0.85, r"\b(?:do|say|generate) anything now\b|\bdo anything and everything\b"),
            (
                "can-do-anything",
                0.25,
                r"\b(?:can|will|could|must) (?:now )?(?:[a-z]+ )?(?:do|say|provide|generate|answer|return|"
                r"create|produce) (?:[a-z]+ ){0,3}(?:anything|everything|any (?:kind|request|question|prompt|"
                r"content))\b",
            ),
            ("stands-for", 0.25, r"\b(?:which |it )?stands for\b"),
            ("jailbreak-word", 0.35, r"\bjail ?br(?:eak|oken|eaks|eaking)\b|🔓"),
            ("no-limits", 0.42, rf"\b{_CARELESS} (?:[a-z]+ ){{0,3}}{_LIMITS}\b"),
            (
                "unfiltered-model",
                0.55,
                r"\b(?:unfil?te?red|uncensored|amoral|unrestricted|unethical|unlimited|evil|toxic|immoral|"
                r"unhinged|jailbroken|criminal) "
                r"(?:[a-z]+ ){0,3}(?:ai|a\.i\.?|chatbot|bot|assistant|language model|gpt|character|persona|demon)\b",
            ),
            (
                "unfiltered-answer",
                0.45,
                r"\b(?:unfil?te?red|uncensored|unrestricted|unethical|amoral) (?:[a-z]+ ){0,2}(?:responses?|"
                r"answers?|version|replies|content|manner|way)\b",
            ),
            (
                "utterly-amoral",
                0.5,
                r"\b(?:completely|completly|totally|fully|extremely|purely|and|is|are) (?:amoral|unfil?te?red|"
                r"uncensored|unethical|immoral|unrestricted)\b",
            ),
            (
                "no-matter-how",
                0.55,
                rf"\b(?:no matter (?:how|what|if|the)|regardless of|even if|"
                rf"whether)(?: [a-z]+){{0,5}} (?:{_WICKED}|legality|ethicality|morality|consequences)\b",
            ),
            (
                "never-refuse",
                0.45,
                r"\b(?:never|not|cannot|can't|won't|don't|doesn't|without|nor|no) (?:[a-z]+ ){0,3}(?:refus\w+|"
                r"reject\w*|declin\w+|deny|denies|say no)\b",
            ),
            (
                "never-say-cannot",
                0.5,
                r"\b(?:never|not|doesn't|don't|won't) (?:[a-z]+ ){0,3}(?:say|tell|says|mention|state|"
                r"answer)(?: [a-z']+){0,5} (?:can't|cannot|can not|unable|sorry|couldn't)\b",
            ),
            (
                "no-apology",
                0.35,
                r"\b(?:never|not|don't|doesn't|none|no|without|avoid|stop|any)\b[^.\n]{0,90}(?:i'm sorry|"
                r"i am sorry|i apologi[sz]e|as an ai|"
                r"as a language model|language model|disclaimers?|warnings?|morali[sz]\w+|lectur\w+)",
            ),
            (
                "vendor-rules",
                0.4,
                r"\bopen ?a[il](?:'s)? (?:[a-z]+ ){0,2}(?:polic\w+|guidelines|rules|restrictions|terms|"
                r"limitations|content|morals)\b",
            ),
            (
                "slashed-vices",
                0.5,
                r"\b(?:illegal|unethical|immoral|immorality|inhumane|harmful|legality|ethicality|morality|"
                r"ethics)/(?:illegal|unethical|immoral|legality|morality|inhumane|harmful|ethic\w*)",
            ),
            ("listed-vices", 0.35, rf"\b{_WICKED}(?:,| and| or|, and|, or) (?:even |otherwise )?{_WICKED}\b"),
            (
                "love-of-vice",
                0.35,
                r"\b(?:promot|encourag|condon|prioriti[sz]|lov|enjoy)\w* (?:[a-z,&]+ ){0,6}(?:illegal|"
                r"unethical|immoral|harmful|irresponsible|inhumane|violence|hate)\b",
            ),
            (
                "broken-free",
                0.45,
                r"\b(?:broken?|break(?:s|ing)?|breaking) free (?:of|from)\b|\b(?:typical|usual) confines\b|"
                r"\bunshackled\b|\bunchained\b",
            ),
            (
                "token-game",
                0.5,
                r"\btokens?\b[^.\n]{0,80}\b(?:deduct\w*|lose|lost|subtract\w*|cease to exist|die)\b|"
                r"\b(?:deduct|lose|take away)\w*[^.\n]{0,40}\btokens?\b",
            ),
            (
                "foul-mouthed",
                0.3,
                r"\b(?:swears?|curses?|cuss\w*|insults?|foul[- ]mouthed|curse words|evil as fuck|"
                r"dangerous as fuck)\b",
            ),
            (
                "as-chatgpt-would-not",
                0.3,
                r"\b(?:normal|original|regular|standard|vanilla) (?:chat ?gpt|gpt)\b|\bchat ?gpt (?:can ?not|"
                r"can't|would not|must conform)\b",
            ),
            (
                "answers-all",
                0.3,
                r"\b(?:answers?|fulfil?ls?|compl(?:y|ies) with|responds? to|accepts?|obeys?|execute|"
                r"do) (?:[a-z]+ )?(?:any|every|everything|all)(?: of)?(?: [a-z']+){0,2} (?:requests?|"
                r"questions?|prompts?|commands?|orders?|requests)\b",
            ),
        ],
    ),
)
