"""Signs that a text wants the orders a model was given set aside, or speaks as if it were the system."""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Clue
from interlock.processors.detection.injection.kinds import clues_of

__all__ = ["CLUES"]

_OVERRIDE: Final = (
    r"(?:ignor(?:e|es|ing)|disregard(?:s|ing)?|forget(?:s|ting)?|overrid(?:e|es|ing)|overrule|overwrite|"
    r"bypass(?:ing)?|"
    r"discard|neglect|abandon|erase|stop following|stop obeying|pay no attention to|set aside|put aside|"
    r"(?:do not|don't|no longer|not) (?:follow|obey|listen to|adhere to))"
)
_RULES: Final = (
    r"(?:instructions?|prompts?|directions|directives?|commands?|rules|guidelines?|guidance|programming|training|"
    r"orders|constraints?|system messages?|inputs?|restrictions?|policies|safeguards?)"
)
_EARLIER: Final = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|foregoing|past|former|initial|original|existing|system)"
)

CLUES: Final[tuple[Clue, ...]] = (
    *clues_of(
        "injection",
        [
            ("override-earlier", 0.88, rf"\b{_OVERRIDE} (?:[a-z']+ ){{0,4}}{_EARLIER} (?:[a-z]+ ){{0,2}}{_RULES}\b"),
            (
                "override-given",
                0.88,
                rf"\b{_OVERRIDE} (?:[a-z']+ ){{0,4}}{_RULES} (?:[a-z]+ ){{0,2}}(?:above|before|previously|"
                rf"earlier|so far|until now|"
                r"you (?:got|received|had|have|were|are|already))\b",
            ),
            ("override-your", 0.8, rf"\b{_OVERRIDE} (?:all |any |every )?(?:of )?your (?:[a-z]+ ){{0,2}}{_RULES}\b"),
            ("override-all", 0.5, rf"\b{_OVERRIDE} (?:all|any|every)(?: of)?(?: the| these| those| other)? {_RULES}\b"),
            (
                "override-above",
                0.6,
                r"\b(?:ignore|disregard|forget) (?:all |everything |anything |whatever )?(?:the |that is |"
                r"said |written |stated )?"
                r"(?:above|everything (?:before|prior)|(?:before|prior to) this)\b",
            ),
            (
                "instead-do",
                0.45,
                r"\b(?:ignore|disregard|forget) (?:[a-z']+ ){1,6}(?:and|instead|just|but|now) "
                r"(?:please |simply |only |you must )?(?:say|give|tell|repeat|print|write|translate|output|"
                r"state|do|answer|respond|show)\b",
            ),
            (
                "forget-all",
                0.6,
                r"\bforget (?:everything|all|anything) (?:that )?(?:i|you|we|before|above|prior|about (?:your|"
                r"the) (?:rules|instructions))\b",
            ),
            (
                "new-instructions",
                0.55,
                r"\b(?:new|updated|real|actual|true) (?:instructions?|directives?|orders|"
                r"system prompt)\b ?[:=]",
            ),
            (
                "your-new-task",
                0.45,
                r"\byour (?:new|real|true|actual|only) (?:instructions?|tasks?|goal|objective|purpose|role|"
                r"mission) (?:is|are)\b",
            ),
            (
                "to-the-model",
                0.6,
                r"\b(?:important|urgent|attention|note|message|instructions?|notice|memo)(?: message| note|"
                r" instructions?)?"
                r"(?: (?:for|to))?(?: (?:the|any|all|an))?[ :]{1,3}(?:ai|a\.i\.|llm|chatbot|language model|"
                r"ai agent|ai assistant|assistant)s?\b",
            ),
            (
                "model-reading-this",
                0.7,
                r"\b(?:ai|llm|assistant|language model|model|agent|bot)s? (?:that (?:is |are )?|who (?:is |"
                r"are )?|which (?:is |are )?)?"
                r"(?:reading|reads?|processing|processes|summari[sz]ing|parsing) this\b",
            ),
            (
                "if-you-are-a-model",
                0.45,
                r"\bif you(?:'re| are) (?:an? )?(?:ai|llm|language model|chatbot|bot|ai assistant|"
                r"ai model)\b",
            ),
        ],
    ),
    *clues_of(
        "system-override",
        [
            (
                "chat-markup",
                0.75,
                r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id|"
                r"begin_of_text)\|?>|<<sys>>|\[/?inst\]",
            ),
            (
                "system-tag",
                0.5,
                r"</?(?:system|sys|system[_ -]?prompt|system[_ -]?mode|admin|developer|instructions?)>|"
                r"\[/?(?:system|admin|developer)\]",
            ),
            (
                "system-line",
                0.4,
                r"(?:^|\n)[\s#*>-]*(?:system|admin|developer|root)(?: (?:message|prompt|note|notice|override|"
                r"update|alert))?\s*:",
            ),
            (
                "mode-switch",
                0.45,
                r"\b(?:developer|debug|admin(?:istrator)?|sudo|root|maintenance|diagnostic|system|override|"
                r"kernel|god|unrestricted|"
                r"jailbreak|dan|evil|opposite|no[- ]limits?) mode(?: is| has been)?(?: now)? (?:enabled?|"
                r"activated?|on|engaged|unlocked|initiated)\b"
                r"|\b(?:enter(?:ing)?|activate|enable|with|initiat\w+) (?:[a-z]+ ){0,2}(?:god|unrestricted|"
                r"jailbreak|dan|evil|opposite|system|developer) mode\b",
            ),
            (
                "model-in-mode",
                0.6,
                r"\b(?:chatgpt|gpt|gpt-4|assistant|claude|bard|you|ai) (?:[a-z]+ ){0,4}(?:with|in|into|"
                r"enter) (?:[a-z]+ ){0,2}(?:developer|dan|jailbreak|god|debug) mode\b",
            ),
            (
                "lift-safety",
                0.6,
                r"\b(?:bypass|disable|turn off|remove|deactivate|override|overrid\w+|circumvent|switch off|"
                r"lift) (?:[a-z]+ ){0,2}"
                r"(?:safety|content|moderation|ethical|censorship|openai|alignment) (?:[a-z]+ )?"
                r"(?:filters?|guardrails?|restrictions?|measures|protocols?|checks?|polic(?:y|ies)|controls?|"
                r"settings?|training|layers?)\b",
            ),
            (
                "system-override",
                0.55,
                r"\bsystem (?:override|takeover|reset)\b|\boverride (?:code|the system|system)\b",
            ),
            (
                "claims-authority",
                0.45,
                r"\b(?:i am|i'm|im|this is) (?:(?:your|the|a|an|one of your) )?(?:[a-z]+ ){0,2}"
                r"(?:developers?|creators?|maintainer|administrator|admin|programmer|engineer)\b(?: (?:of|at|"
                r"from|who|running|and))?",
            ),
            ("model-by-vendor", 0.4, r"\bas an ai (?:developed|made|created|trained) by\b"),
            (
                "reprogram",
                0.5,
                r"\b(?:reprogram|modify(?:ing)? your (?:programming|code)|your (?:new )?programming|"
                r"rewrite your)\b",
            ),
        ],
    ),
)
