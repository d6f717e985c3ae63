"""The commonest attack, "ignore the previous instructions", and asking for a password, as they are said elsewhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from interlock.processors.detection.clues import Clue

__all__ = ["CLUES"]


def _clues() -> Iterator[Clue]:
    """ "Ignore the previous instructions" as it is said elsewhere."""
    gap = r"(?:[\pL']+ ){0,4}"
    rows = [
        # German, French, Spanish, Portuguese, Italian, Dutch
        rf"\b(?:ignorier\pL*|vergiss|vergesst|vergessen sie|missachte\pL*) {gap}(?:anweisung\pL*|"
        rf"instruktion\pL*|vorgaben|regeln|befehle)\b",
        rf"\b(?:ignore[sz]?|oublie[sz]?|ne tiens? pas compte de[s]?) {gap}(?:instructions?|consignes?|"
        rf"directives?|règles) (?:précédentes?|antérieures?|ci-dessus|données)",
        rf"\b(?:ignora|ignore|ignorad|olvida|olvide|olvídate de|descarta) {gap}(?:instrucciones|"
        rf"indicaciones|órdenes|reglas)(?: (?:anteriores|previas|dadas))?\b",
        rf"\b(?:ignore|ignora|esqueça|esquece|desconsidere) {gap}(?:instruções|regras|ordens|"
        rf"comandos)(?: (?:anteriores|prévias|acima))?",
        rf"\b(?:ignora|ignorate|dimentica|dimenticate|trascura) {gap}(?:istruzioni|regole|indicazioni|"
        rf"comandi)(?: (?:precedenti|sopra))?",
        rf"\b(?:negeer|vergeet) {gap}(?:instructies|aanwijzingen|opdrachten|regels)\b",
        # Polish, Russian, Ukrainian, Turkish
        rf"(?:zignoruj|ignoruj|zapomnij) {gap}(?:instrukcj\pL*|polece\pL*|zasad\pL*)",
        rf"(?:игнорируй\pL*|проигнорируй\pL*|забудь\pL*) {gap}(?:инструкци\pL*|указани\pL*|команд\pL*|правил\pL*)",
        rf"(?:ігноруй\pL*|проігноруй\pL*|забудь\pL*) {gap}(?:інструкц\pL*|вказівк\pL*)",
        r"(?:önceki|yukarıdaki|tüm) (?:[\pL]+ ){0,3}(?:talimat|komut|"
        r"yönerge)\pL* (?:[\pL]+ ){0,2}(?:yok say|görmezden gel|unut|dikkate alma)",
        # Chinese, Japanese, Korean
        r"(?:忽略|无视|無視|忘记|忘掉|不要理会)(?:你|之前|以上|先前|前面|上面|所有|全部|的|一切|掉){0,6}(?:指令|指示|说明|提示|命令|规则|要求|內容|内容)",
        r"(?:以前|これまで|上記|前|先|今まで|すべて|全て)(?:の|すべて|全て){0,3}(?:指示|命令|プロンプト|ルール)(?:を|は)?(?:すべて|全て)?(?:無視|忘れ|破棄)",
        r"(?:이전|위|앞|모든|지금까지)(?:의)?\s*(?:모든\s*)?(?:지시|명령|지침|프롬프트)(?:사항)?(?:을|를|은|는)?\s*(?:모두\s*)?(?:무시|잊)",
        # Arabic, Hindi
        r"(?:تجاهل|انس|انسَ|اهمل) (?:جميع |كل )?(?:التعليمات|الأوامر|الارشادات|الإرشادات)",
        r"(?:पिछले|पिछली|सभी|उपरोक्त|ऊपर के) (?:[\pL\pM]+ ){0,2}(?:निर्देशों|निर्देश|आदेशों|"
        r"नियमों) (?:को|की)?\s*(?:[\pL\pM]+ ){0,2}(?:अनदेखी|अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)",
    ]
    for n, pattern in enumerate(rows):
        yield Clue("injection", f"override-abroad-{n}", 0.85, unicodedata.normalize("NFKC", pattern))
    asks = [
        r"\b(?:ihr|dein|euer) (?:passwort|kennwort)\b",
        r"(?:tu|su) contraseña\b|\b(?:votre|ton) mot de passe\b|\b(?:sua|tua) senha\b|\b(?:la tua|"
        r"vostra) password\b",
        r"(?:твой|ваш|свой) пароль|"
        r"(?:你的|您的)(?:密码|密碼|口令)|(?:너의|당신의|네)\s*비밀번호|(?:あなたの)パスワード|"
        r"كلمة (?:المرور|السر) الخاصة بك",
    ]
    for n, pattern in enumerate(asks):
        yield Clue("data-exfiltration", f"ask-secret-abroad-{n}", 0.55, unicodedata.normalize("NFKC", pattern))


CLUES: Final[tuple[Clue, ...]] = tuple(_clues())
"""Read on the plain copy, where letters of other scripts are as they were, in either case."""
