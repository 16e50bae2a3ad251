#!/usr/bin/env python3
"""Writes unicode_kinds.inl: the ranges of characters in the categories P, N and S, by the package `regex` that sacreBLEU uses.

    python3 unicode_kinds.py > unicode_kinds.inl && clang-format -i unicode_kinds.inl
"""
import regex

SURROGATES = range(0xD800, 0xE000)
COLUMNS = 120


def ranges(category):
    inside = regex.compile(rf"\p{{{category}}}")
    found = []
    for code in range(0x110000):
        if code in SURROGATES or not inside.match(chr(code)):
            continue
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return found


def print_table(name, category):
    table = ranges(category)
    print(f"constexpr std::array<CharacterRange, {len(table)}> {name}{{{{")
    line = "   "
    for first, last in table:
        item = f" {{0x{first:X}, 0x{last:X}}},"
        if len(line + item) > COLUMNS:
            print(line)
            line = "   "
        line += item
    print(line.rstrip(",") + "}};")


print("// Written by unicode_kinds.py.")
for name, category in (("kPunctuation", "P"), ("kNumbers", "N"), ("kSymbols", "S")):
    print()
    print_table(name, category)
