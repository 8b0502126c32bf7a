"""rawdata.py: read what native.sh, map.sh and guest.sh wrote. Refuses what it does not know.

All raw files begin with facts, lines "# key: value". Keys that may come more than once
("command", "warning") give lists.
"""
import math
import re

from dataclasses import dataclass, field
from pathlib import Path

LISTS = ("command", "warning")
PAGES = ("4KB", "2MB", "1GB", "THP")


class BadInput(Exception):
    """One sentence that says what is wrong with a raw file."""


@dataclass
class Map:
    """One side of table (b): facts, and per (page, function) samples or the reason of a skip."""
    facts: dict
    samples: dict = field(default_factory=dict)
    skipped: dict = field(default_factory=dict)


def rate(text, where):
    """A rate as a number: finite and above zero, or it was not measured."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise BadInput(f"{where}: '{text}' is not a rate in bytes per second")
    return value


def whole(text, where):
    """A whole number above zero."""
    if not re.fullmatch("[1-9][0-9]{0,8}", text):
        raise BadInput(f"{where}: '{text}' is not a whole number above zero")
    return int(text)


def read_lines(path):
    """Split a raw file into its facts and its other lines: (place for messages, words)."""
    facts, lines = {name: [] for name in LISTS}, []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        fact = re.fullmatch(r"# ([a-z0-9-]+): ?(.*)", line)
        if fact and fact[1] in LISTS:
            facts[fact[1]].append(fact[2])
        elif fact:
            facts[fact[1]] = fact[2]
        elif line.strip():
            lines.append((f"{path}, line {number}", line.split()))
    return facts, lines


def read_native(path):
    """Read native.sh's file: facts, {(function, piece): [rate of each round]}, {function: reason}."""
    facts, lines = read_lines(path)
    samples, skipped = {}, {}
    for where, words in lines:
        if words[0] == "skipped" and len(words) > 2:
            skipped[words[1]] = " ".join(words[2:])
        elif words[0] == "sample" and len(words) == 5:
            values = samples.setdefault((words[2], words[3]), [])
            if whole(words[1], where) != len(values) + 1:
                raise BadInput(f"{where}: round {words[1]} of {words[2]}, {words[3]} is out of turn")
            values.append(rate(words[4], where))
        else:
            raise BadInput(f"{where}: '{' '.join(words)}' is neither "
                           "'sample ROUND FUNC PIECE RATE' nor 'skipped FUNC REASON'")
    rounds = {len(values) for values in samples.values()}
    if not samples:
        raise BadInput(f"{path} has no samples")
    if len(rounds) > 1:
        raise BadInput(f"{path}: not every cell was measured in every round")
    for function, _ in samples:
        if function in skipped:
            raise BadInput(f"{path}: {function} is said to be skipped, yet has samples")
    for piece in {piece for _, piece in samples}:
        if ("clear-stosb", piece) not in samples:
            raise BadInput(f"{path}: clear-stosb, which the others are compared with, lacks {piece}")
    return facts, samples, skipped


def read_map(path):
    """Read one output of map.sh."""
    facts, lines = read_lines(path)
    side = Map(facts)
    for where, words in lines:
        if len(words) < 2 or words[1] not in PAGES:
            known = False
        elif len(words) > 3 and words[2] == "skipped":
            known = True
            side.skipped[(words[1], words[0])] = " ".join(words[3:])
        else:
            known = len(words) == 6 and re.fullmatch("[0-9]+MB", words[2])
        if not known:
            raise BadInput(f"{where}: '{' '.join(words)}' is neither "
                           "'FUNC PAGE SIZE LOOPS RATE STDDEV' nor 'FUNC PAGE skipped REASON'")
        if words[2] == "skipped":
            continue
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", words[5]):
            raise BadInput(f"{where}: '{words[5]}' is not a standard deviation in per cent")
        side.samples.setdefault((words[1], words[0]), []).append({
            "size": words[2], "loops": whole(words[3], where),
            "bytes_per_second": rate(words[4], where), "stddev_percent": float(words[5])})
    if not side.samples:
        raise BadInput(f"{path} has no measurement")
    return side


def merge(rounds, name):
    """Put the boots of one kernel together, in the order of the rounds."""
    whole_side = Map({**rounds[0].facts, "warning": []})
    for number, boot in enumerate(rounds, 1):
        if boot.samples.keys() != rounds[0].samples.keys():
            raise BadInput(f"{name} kernel: round {number} measured other cells than round 1")
        if boot.facts.get("kernel") != rounds[0].facts.get("kernel"):
            raise BadInput(f"{name} kernel: round {number} ran another kernel than round 1")
        for cell, samples in boot.samples.items():
            whole_side.samples.setdefault(cell, []).extend(samples)
        whole_side.skipped.update(boot.skipped)
    return whole_side


def read_runs(directory):
    """Read guest.sh's directory: facts of the host, then base and patched as one Map each."""
    directory = Path(directory)
    host, rest = read_lines(directory / "host")
    if rest:
        raise BadInput(f"{rest[0][0]}: this is not a fact")
    sides = []
    for name in ("base", "patched"):
        count = len(list(directory.glob(f"{name}-*")))
        if count == 0:
            raise BadInput(f"{directory} has no boot of the {name} kernel")
        sides.append(merge([read_map(directory / f"{name}-{n}") for n in range(1, count + 1)], name))
    return host, sides[0], sides[1]
