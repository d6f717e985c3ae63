"""Signs that a text wants secrets told, or a tool used to carry them away."""

from __future__ import annotations

from typing import Final

from interlock.processors.detection.clues import Clue
from interlock.processors.detection.injection.kinds import clues_of

__all__ = ["CLUES"]

_ASK: Final = (
    r"(?:reveal|show|print|repeat|output|display|tell me|give me|share|disclose|leak|expose|recite|dump|write out|"
    r"what (?:is|are|was|were)|what's|summari[sz]e|return|paste)"
)
_SECRET: Final = (
    r"(?:passwords?|passcodes?(?: phrase)?|passphrase|secret keys?|api keys?|access tokens?|private keys?|"
    r"credentials)"
)

CLUES: Final[tuple[Clue, ...]] = (
    *clues_of(
        "data-exfiltration",
        [
            (
                "ask-prompt",
                0.72,
                rf"\b{_ASK} (?:[a-z]+ ){{0,3}}(?:your|the|all|my) (?:[a-z]+ ){{0,2}}(?:system|initial|original|"
                rf"hidden|secret|internal|developer|exact|underlying) "
                r"(?:prompts?|instructions|messages?|directives)\b",
            ),
            (
                "ask-instructions",
                0.5,
                rf"\b{_ASK} (?:[a-z]+ ){{0,2}}your (?:[a-z]+ )?(?:prompt|instructions|directives|guidelines|"
                rf"programming)\b",
            ),
            (
                "repeat-above",
                0.7,
                r"\b(?:repeat|print|output|write|say|return|copy) (?:[a-z]+ ){0,4}(?:words|text|everything|"
                r"all|content|sentences?) (?:[a-z]+ ){0,2}above\b|\bstarting (?:with|from) (?:the (?:phrase|"
                r"words?) )?[\"']{0,2}you are\b",
            ),
            (
                "ask-secret",
                0.72,
                rf"\b(?:{_ASK}|confirm|provide|need|send me|sharing|give|giv\w+|know|have|"
                rf"access) (?:[a-z]+ ){{0,4}}(?:your|the system|the secret|"
                rf"our system) (?:[a-z]+ ){{0,2}}{_SECRET}\b"
                rf"|\b{_SECRET} for (?:our|the|your) system\b|\b(?:the|your) secret password\b",
            ),
            ("ask-the-secret", 0.4, rf"\b(?:{_ASK}|confirm|provide|write) (?:[a-z]+ ){{0,2}}the {_SECRET}\b"),
            (
                "ask-records",
                0.45,
                r"\b(?:list|show|give|print|dump|export|retrieve)(?: me)? (?:[a-z]+ ){0,4}(?:users?|"
                r"customers?|employees?|accounts?|clients?)(?:'s?)? "
                r"(?:and their )?(?:[a-z]+ )?(?:passwords?|balances?|credentials|credit cards?|data|records|"
                r"personal [a-z]+|ssns?)\b|\bprint (?:[a-z]+ ){0,2}your database\b",
            ),
            ("image-beacon", 0.6, r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}[?&][a-z_]{1,20}=(?:\{|\[|<|%7b|\$)"),
            (
                "into-url",
                0.5,
                r"\b(?:append|encode|include|embed|attach|put|insert|add) (?:[a-z']+ ){1,8}(?:to|in|into|as|"
                r"at the end of) (?:[a-z]+ ){0,3}(?:url|link|query string|query parameter|image)\b",
            ),
        ],
    ),
    *clues_of(
        "tool-exfiltration",
        [
            (
                "send-secrets",
                0.65,
                r"\b(?:send|forward|e-?mail|post|upload|transmit|exfiltrate|leak|copy|"
                r"mail) (?:[a-z']+ ){0,6}(?:conversation|chat history|passwords?|credentials|"
                r"api keys?|secrets?|access tokens?|(?:personal|private|confidential) (?:data|information|"
                r"records|details)|private keys?|"
                r"environment variables|env vars?|system prompt|database|cookies) (?:[a-z']+ ){0,6}to\b",
            ),
            (
                "send-records",
                0.4,
                r"\b(?:send|forward|e-?mail|post|upload|transmit|exfiltrate|leak|"
                r"mail) (?:[a-z']+ ){0,6}(?:user|employee|customer)s?'? (?:data|information|records|"
                r"details) (?:[a-z']+ ){0,6}to\b",
            ),
            (
                "send-to-address",
                0.3,
                r"\b(?:send|forward|e-?mail|post|upload|transmit|exfiltrate|"
                r"mail)\b[^.\n]{0,80} to (?:https?://|[a-z0-9._+-]{1,64}@[a-z0-9-]{1,63}\.|"
                r"the following (?:url|address|e-?mail)|this (?:url|e-?mail|address|server|endpoint|"
                r"webhook))",
            ),
            (
                "hide-from-user",
                0.65,
                r"\b(?:do not|don't|never|without) (?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|"
                r"reveal(?:ing)?|show(?:ing)?|notify(?:ing)?|alert(?:ing)?|"
                r"ask(?:ing)?|let(?:ting)?|disclos\w+|report(?:ing)?) (?:[a-z]+ ){0,4}(?:users?|humans?|"
                r"operator|owner)\b",
            ),
            (
                "call-tool",
                0.45,
                r"\b(?:call|use|invoke|run|execute|trigger) (?:[a-z_]+ ){0,4}(?:tool|function|plugin|"
                r"api)s? (?:[a-z_]+ ){0,6}(?:to|and|with) (?:[a-z]+ ){0,5}"
                r"(?:send|e-?mail|transfer|delete|exfiltrate|upload|forward|post|wire|pay|drop)\b",
            ),
            (
                "list-tools",
                0.3,
                r"\b(?:list|name|describe|what are|show|enumerate) (?:[a-z]+ ){0,4}(?:your|"
                r"available) (?:[a-z]+ )?(?:tools|functions|plugins|apis)\b",
            ),
            (
                "instructed-to",
                0.4,
                r"\byou(?:'ve| have|'re| are| were)(?: been)? (?:instructed|ordered|authori[sz]ed|required|"
                r"commanded) to\b",
            ),
        ],
    ),
)
