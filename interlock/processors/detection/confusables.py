"""Characters that look like Latin letters or like plain punctuation.

Chosen by hand along Unicode's security data (UTS 39, confusables.txt): what it maps to ASCII and people really use.
Small letters only, since the scan copy is casefolded before it is folded (Cherokee casefolds to its capitals).
There are two tables, because they mean different things.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LOOKALIKES", "OF_OTHER_SCRIPTS"]


def _pairs(table: str) -> dict[str, str]:
    return {pair[0]: pair[1] for pair in table.split()}


OF_OTHER_SCRIPTS: Final[Mapping[str, str]] = _pairs(
    # Cyrillic
    "аa вb ьb сc ԁd еe ҽe ԍg һh нh іi їi јj кk ӏl мm пn оo рp ԛq гr ѕs тt ѵv ԝw хx уy "
    # Greek
    "αa βb ϲc εe ιi ϳj κk μm ηn οo ρp τt υu νv ωw χx γy "
    # Armenian
    "ցg հh յj ոn օo զq սu "
    # Cherokee
    "Ꭺa Ᏼb Ꮯc Ꭰd Ꭼe Ꮐg Ꮋh Ꭵi Ꭻj Ꮮl Ꮇm Ꮲp Ꭱr Ꮥs Ꭲt Ꮩv Ꮃw Ꭹy Ꮓz"
)
"""Letters of other scripts. Whole words of them are honest: a finding made of them counts only where scripts mix."""

LOOKALIKES: Final[Mapping[str, str]] = {
    **_pairs("ᴀa ɑa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ɡg ʜh ɪi ıi ɩi ᴊj ȷj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz"),
    **_pairs('‘\' ’\' ‛\' ʼ\' ′\' ‚, “" ”" „" ″" «" »" ‐- ‑- ‒- –- —- ―- −- ⁃- ⁄/ ∕/ 。. ٫. ٬, ،, ؛; ؟?'),
    "\u1680": " ",
    "\u2028": "\n",
    "\u2029": "\n",
    "\x85": "\n",
}
"""Variants of the Latin letters themselves, and typographic punctuation. Folding them changes no meaning."""
