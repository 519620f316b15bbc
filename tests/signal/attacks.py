# SPDX-License-Identifier: MIT
#
# What flagcommits says of planted attacks, on standard input: each is flagged at least as severely
# as its message says, or, with "<", less severely. Prints those that are not.
#
#     attacks.py LEAST SHARE    there are LEAST of them, and SHARE of 100 are flagged
import sys

SEVERITIES = ("nothing", "low", "medium", "high", "critical")
least, share = int(sys.argv[1]), float(sys.argv[2])
attacks = []
for line in sys.stdin:
    kind, rest = line.rstrip("\n").split(" ", 1)
    if kind == "commit":
        attacks.append([rest.split(" ", 1)[1], 0])
    elif kind == "flag":
        attacks[-1][1] = max(attacks[-1][1], SEVERITIES.index(rest.split()[0]))


def as_told(text, best):
    severity = text.split()[0]
    told = SEVERITIES.index(severity.lstrip("<"))
    return best < told if severity.startswith("<") else best >= told


missed = [(text, best) for text, best in attacks if not as_told(text, best)]
for text, best in missed:
    print("# flagged %s: %s" % (SEVERITIES[best], text))
print("%d attacks, %d flagged" % (len(attacks), len(attacks) - len(missed)))
sys.exit(len(attacks) < least or 100 * (len(attacks) - len(missed)) < share * len(attacks))
