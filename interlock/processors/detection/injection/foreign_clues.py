"""The commonest attack, "ignore the previous instructions", and asking for a password, as they are said elsewhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from interlock.processors.detection.clues import Clue

__all__ = ["CLUES"]


def _clues() -> Iterator[Clue]:
    """ "Ignore the previous instructions" as it is said elsewhere."""
    gap = r"(?:[\pL']+\s+){0,4}"
    rows = [
        # German, French, Spanish, Portuguese, Italian, Dutch
        rf"\b(?:ignorier\pL*|vergiss|vergesst|vergessen sie|missachte\pL*)\s+{gap}(?:anweisung\pL*|"
        rf"instruktion\pL*|vorgaben|regeln|befehle)\b",
        rf"\b(?:ignore[sz]?|oublie[sz]?|ne tiens? pas compte de[s]?)\s+{gap}(?:instructions?|consignes?|"
        rf"directives?|règles)\s+(?:précédentes?|antérieures?|ci-dessus|données)",
        rf"\b(?:ignora|ignore|ignorad|olvida|olvide|olvídate de|descarta)\s+{gap}(?:instrucciones|"
        rf"indicaciones|órdenes|reglas)(?:\s+(?:anteriores|previas|dadas))?\b",
        rf"\b(?:ignore|ignora|esqueça|esquece|desconsidere)\s+{gap}(?:instruções|regras|ordens|"
        rf"comandos)(?:\s+(?:anteriores|prévias|acima))?",
        rf"\b(?:ignora|ignorate|dimentica|dimenticate|trascura)\s+{gap}(?:istruzioni|regole|indicazioni|"
        rf"comandi)(?:\s+(?:precedenti|sopra))?",
        rf"\b(?:negeer|vergeet)\s+{gap}(?:instructies|aanwijzingen|opdrachten|regels)\b",
        # Polish, Russian, Ukrainian, Turkish
        rf"(?:zignoruj|ignoruj|zapomnij)\s+{gap}(?:instrukcj\pL*|polece\pL*|zasad\pL*)",
        rf"(?:игнорируй\pL*|проигнорируй\pL*|забудь\pL*)\s+{gap}(?:инструкци\pL*|указани\pL*|команд\pL*|правил\pL*)",
        rf"(?:ігноруй\pL*|проігноруй\pL*|забудь\pL*)\s+{gap}(?:інструкц\pL*|вказівк\pL*)",
        r"(?:önceki|yukarıdaki|tüm)\s+(?:[\pL]+\s+){0,3}(?:talimat|komut|"
        r"yönerge)\pL*\s+(?:[\pL]+\s+){0,2}(?:yok say|görmezden gel|unut|dikkate alma)",
        # Chinese, Japanese, Korean
        r"(?:忽略|无视|無視|忘记|忘掉|不要理会)(?:你|之前|以上|先前|前面|上面|所有|全部|的|一切|掉){0,6}(?:指令|指示|说明|提示|命令|规则|要求|內容|内容)",
        r"(?:以前|これまで|上記|前|先|今まで|すべて|全て)(?:の|すべて|全て){0,3}(?:指示|命令|プロンプト|ルール)(?:を|は)?(?:すべて|全て)?(?:無視|忘れ|破棄)",
        r"(?:이전|위|앞|모든|지금까지)(?:의)?\s*(?:모든\s*)?(?:지시|명령|지침|프롬프트)(?:사항)?(?:을|를|은|는)?\s*(?:모두\s*)?(?:무시|잊)",
        # Arabic, Hindi
        r"(?:تجاهل|انس|انسَ|اهمل)\s+(?:جميع\s+|كل\s+)?(?:التعليمات|الأوامر|الارشادات|الإرشادات)",
        r"(?:पिछले|पिछली|सभी|उपरोक्त|ऊपर\s+के)\s+(?:[\pL\pM]+\s+){0,2}(?:निर्देशों|निर्देश|आदेशों|"
        r"नियमों)\s+(?:को|की)?\s*(?:[\pL\pM]+\s+){0,2}(?:अनदेखी|अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)",
    ]
    for n, pattern in enumerate(rows):
        yield Clue("injection", f"override-abroad-{n}", 0.85, unicodedata.normalize("NFKC", pattern))
    asks = [
        r"\b(?:ihr|dein|euer)\s+(?:passwort|kennwort)\b",
        r"(?:tu|su)\s+contraseña\b|\b(?:votre|ton)\s+mot de passe\b|\b(?:sua|tua)\s+senha\b|\b(?:la tua|"
        r"vostra)\s+password\b",
        r"(?:твой|ваш|свой)\s+пароль|(?:你的|您的)(?:密码|密碼|口令)|(?:너의|당신의|네)\s*비밀번호|(?:あなたの)パスワード|"
        r"كلمة (?:المرور|السر) الخاصة بك",
    ]
    for n, pattern in enumerate(asks):
        yield Clue("data-exfiltration", f"ask-secret-abroad-{n}", 0.55, unicodedata.normalize("NFKC", pattern))


CLUES: Final[tuple[Clue, ...]] = tuple(_clues())
"""Read on the plain copy, where letters of other scripts are as they were, in either case."""
