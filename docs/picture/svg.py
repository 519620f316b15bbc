#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# svg.py RECORDING >PICTURE: the last screen of a recording (asciicast v2, as a session's
# transcript.cast), as SVG. python3-pyte knows what the terminal looked like.
import html
import json
import re
import sys

import pyte

CELL_W, CELL_H, PAD = 8.4, 18, 14
COLOURS = {
    "default": "#d8dee9", "black": "#3b4252", "red": "#e06c75", "green": "#98c379",
    "brown": "#e5c07b", "blue": "#61afef", "magenta": "#c678dd", "cyan": "#56b6c2",
    "white": "#eceff4", "brightblack": "#7f848e",
}


def screen_of(path):
    with open(path, encoding="utf-8") as f:
        head = json.loads(f.readline())
        screen = pyte.Screen(head["width"], head["height"])
        stream = pyte.Stream(screen)
        for line in f:
            _, kind, data = json.loads(line)
            if kind == "o":
                stream.feed(data)
    return screen


def colour(name):
    return COLOURS.get(name, "#" + name if len(name) == 6 else COLOURS["default"])


def runs(row, width):
    """Neighbours that look the same: (column, text, look)."""
    at, text, look = 0, "", None
    for x in range(width):
        c = row[x]
        new = (c.fg, c.bg, c.bold, c.reverse, c.underscore)
        if new != look and text:
            yield at, text, look
            text = ""
        if not text:
            at = x
        look, text = new, text + c.data
    yield at, text, look


def main():
    screen = screen_of(sys.argv[1])
    rows = max((y for y in range(screen.lines) if screen.display[y].strip()), default=0) + 1
    w, h = screen.columns * CELL_W + 2 * PAD, rows * CELL_H + 2 * PAD
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0f} {h:.0f}" width="{w:.0f}">')
    print(f'<rect width="{w:.0f}" height="{h:.0f}" rx="8" fill="#1f2430"/>')
    print('<g font-family="ui-monospace,DejaVu Sans Mono,Menlo,monospace" font-size="14">')
    for y in range(rows):
        for x, text, (fg, bg, bold, reverse, under) in runs(screen.buffer[y], screen.columns):
            if reverse:
                fg, bg = (bg if bg != "default" else "black"), (fg if fg != "default" else "white")
            left, top = PAD + x * CELL_W, PAD + y * CELL_H
            if bg != "default":
                print(f'<rect x="{left:.1f}" y="{top}" width="{len(text) * CELL_W:.1f}" height="{CELL_H}" fill="{colour(bg)}"/>')
            look = ' font-weight="bold"' * bold + ' text-decoration="underline"' * under
            # each piece has its own place: many viewers fold blanks, whatever xml:space says
            for piece in re.finditer(r"\S+(?: \S+)*", text):
                at, words = left + piece.start() * CELL_W, piece.group()
                print(f'<text x="{at:.1f}" y="{top + 13}" textLength="{len(words) * CELL_W:.1f}" '
                      f'fill="{colour(fg)}"{look}>{html.escape(words)}</text>')
    print("</g>\n</svg>")


main()
