#!/usr/bin/env python3
"""Draws words.csv from Debian's lists of words: wamerican, wfrench, wngerman, witalian, wspanish, wswedish.

Usage: draw.py DICT > words.csv, where DICT is the folder of the lists, such as /usr/share/dict.
Drawn with the versions of Debian 12 that the README beside this file names.
"""

import hashlib
import pathlib
import re
import sys

LISTS = {
    "English": "american-english",
    "French": "french",
    "German": "ngerman",
    "Italian": "italian",
    "Spanish": "spanish",
    "Swedish": "swedish",
}
EACH = 450
FITS = re.compile("[a-z]{4,12}")  # names have capitals; the window draws ASCII letters only

# Abbreviations, and words that are vulgar or would distract a class.
LEFT_OUT = set(
    """
    avdp bawdy fornicate fums impregnate schizoid seduction obscenities pooped smut wusses
    amerloque bittait chiadasses engueuliez glaviotterai lynchassiez pocharder
    betatschest betr rammelndem rammelt schiss tuntigstem
    ficcato seghe
    desmamonar feto hembruno impotencia manoseadora manoseo
    bystens cannabisen judarnas orgasmer pornografins rasernas
    """.split()
)


def words(path):
    content = path.read_bytes()
    try:
        return set(content.decode("utf-8").split("\n"))
    except UnicodeDecodeError:
        return set(content.decode("latin-1").split("\n"))


def drawn(language, lists):
    """The words that stand in no other list, in the order of their checksums: as good as chance."""
    others = {word.lower() for name, all in lists.items() if name != language for word in all}
    fit = [word for word in lists[language] - others - LEFT_OUT if FITS.fullmatch(word)]
    return sorted(fit, key=lambda word: hashlib.sha256(word.encode()).hexdigest())[:EACH]


def main():
    folder = pathlib.Path(sys.argv[1])
    lists = {language: words(folder / name) for language, name in LISTS.items()}
    rows = sorted((word, language) for language in LISTS for word in drawn(language, lists))
    print("word,language")
    for word, language in rows:
        print(f"{word},{language}")


main()
