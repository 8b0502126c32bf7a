"""tables.py: compute the two tables; render.py writes them as Markdown.

Table (a), native: clearing routines of one CPU, from user space. Every cell is compared with
v7.3's way (one rep stosb per piece) within the same round, and the median over the rounds
counts: absolute rates drift on shared machines, ratios within a round hold.
Table (b), kernels: "perf bench mem map" under a base and a patched kernel.
"""
import json

from math import hypot
from statistics import mean, median, stdev

from rawdata import BadInput, PAGES

STOSB = "clear-stosb"
NOT_ASKED = "not asked for"
EMULATORS = {"tcg": "QEMU's TCG", "qemu": "QEMU's TCG", "bochs": "Bochs"}
NAMES = {"default": "default (glibc memset)", "stream-avx512": "stream-avx512 (user space only)",
         "stream-avx2": "stream-avx2 (user space only)"}


def to_json(result):
    """The result as JSON text; not-a-number never gets into it."""
    return json.dumps(result, indent=2, allow_nan=False)


def emulator(facts):
    """The emulator that this was measured under, or None on a real CPU."""
    if "QEMU" in facts.get("cpu", ""):
        return EMULATORS["tcg"]
    return EMULATORS.get(facts.get("accelerator")) or EMULATORS.get(facts.get("hypervisor"))


def head(name, facts, rounds, accelerator):
    """What every result says of itself."""
    return {"table": name, "performance": emulator(facts) is None, "date": facts.get("date"),
            "accelerator": accelerator, "rounds": rounds,
            "machine": {key: facts.get(key) for key in (
                "cpu", "cpu-model", "cores", "numa-nodes", "memory-mib", "hypervisor", "l3", "load",
                "busy-percent")},
            "commands": facts["command"], "warnings": list(facts["warning"])}


def spread(values):
    """Standard deviation of the rounds; 0 for a single one."""
    return stdev(values) if len(values) > 1 else 0.0


def ratios(values, others):
    """Round by round, how many times the other's rate."""
    return [value / other for value, other in zip(values, others, strict=True)]


def native_result(facts, samples, skipped):
    """Table (a) as data."""
    pieces = list(dict.fromkeys(piece for _, piece in samples))
    result = head("native", facts, len(next(iter(samples.values()))), "none (native)")
    result.update(kernel=facts.get("kernel"), pages=facts.get("pages"), size=facts.get("size"),
                  pieces=pieces, skipped=skipped, cells=[])
    for (function, piece), values in samples.items():
        against = ratios(values, samples[STOSB, piece])
        result["cells"].append({
            "function": function, "piece": piece, "bytes_per_second": values,
            "median_gbps": median(values) / 1e9, "min_gbps": min(values) / 1e9,
            "max_gbps": max(values) / 1e9,
            "spread_percent": 100 * spread(values) / mean(values) if len(values) > 1 else None,
            "ratios_to_v7.3": against, "median_ratio_to_v7.3": median(against)})
    result["at_2mb"] = at_2mb(samples)
    return result


def at_2mb(samples):
    """At 2 MiB, the size that matters: each kernel routine against the three baselines."""
    found = {}
    baselines = {"v7.3": (STOSB, "2MB"), "page_at_a_time": (STOSB, "4KB")}
    for stream in ("stream-avx512", "stream-avx2"):
        if (stream, "2MB") in samples:
            baselines[stream] = (stream, "2MB")
    for (function, piece), values in samples.items():
        if piece == "2MB" and function.startswith("clear-") and function != STOSB:
            found[function] = {name: median(ratios(values, samples[cell]))
                               for name, cell in baselines.items() if cell in samples}
    return found


def kernels_result(name, facts, base, patched, paired):
    """Table (b) as data. Paired: the change is the median of the rounds' own changes."""
    rounds = max(len(values) for side in (base, patched) for values in side.samples.values())
    accelerator = facts.get("accelerator", "none (native)")
    result = head(name, facts, rounds, accelerator)
    result.update(guest=facts.get("guest"), paired=paired, cells=[], kernels={})
    result["commands"] = list(dict.fromkeys(facts["command"] + base.facts["command"]))
    for side, which in ((base, "base"), (patched, "patched")):
        result["kernels"][which] = {"version": side.facts.get("kernel"),
                                    "sha256": facts.get(f"{which}-sha256"),
                                    "cpu": side.facts.get("cpu")}
    same = result["kernels"]["base"], result["kernels"]["patched"]
    if same[0] == same[1]:
        result["warnings"].append("base and patched are the same kernel; every change is noise")
    if rounds == 1 and any(sample["loops"] == 1 for values in base.samples.values() for sample in values):
        result["warnings"].append("one round of one loop has no spread; no change can be told from noise")
    cells = {**base.samples, **base.skipped, **patched.samples, **patched.skipped}
    for cell in sorted(cells, key=lambda cell: PAGES.index(cell[0])):
        result["cells"].append(kernels_cell(cell, base, patched, paired, result["warnings"]))
    if lopsided(result):
        result["warnings"].append("measured under one of the two kernels only, which fails the comparison: "
                                  + ", ".join(lopsided(result)))
    return result


def kernels_cell(cell, base, patched, paired, warnings):
    """One line of table (b): both sides and the change, or the reason why there is none."""
    line = {"page": cell[0], "function": cell[1]}
    for side, name in ((base, "base"), (patched, "patched")):
        if cell in side.samples:
            line[name] = side_of(side.samples[cell])
        else:
            line[name] = {"skipped": side.skipped.get(cell, NOT_ASKED)}
        if cell in side.samples and cell in side.skipped:
            warnings.append(f"{name}: {cell[1]}, {cell[0]} failed in a later round: {side.skipped[cell]}")
    if "skipped" in line["base"] or "skipped" in line["patched"]:
        return line
    old, new = line["base"], line["patched"]
    if (old["size"], old["loops"]) != (new["size"], new["loops"]):
        raise BadInput(f"{cell[1]}, {cell[0]}: base mapped {old['size']} {old['loops']} times, patched "
                       f"{new['size']} {new['loops']} times; measure both the same way")
    if paired:
        if len(old["bytes_per_second"]) != len(new["bytes_per_second"]):
            raise BadInput(f"{cell[1]}, {cell[0]}: base and patched have different numbers of rounds")
        changes = ratios(new["bytes_per_second"], old["bytes_per_second"])
    else:
        changes = [new["mean_gbps"] / old["mean_gbps"]]
    change = median(changes)
    # Round by round the common drift is out already; else both sides' spreads add up.
    deviation = stdev(changes) if len(changes) > 1 else change * hypot(
        old["sd_gbps"] / old["mean_gbps"], new["sd_gbps"] / new["mean_gbps"])
    line.update(change_percent=100 * (change - 1), change_sd_percent=100 * deviation,
                within_spread=abs(change - 1) <= deviation)
    return line


def lopsided(result):
    """The cells of table (b) that were measured under one of the two kernels only. Two outputs of
    map.sh may also be of different versions of it: then what one has no line of was not tried."""
    return [f"{cell['function']} {cell['page']} (not under {side}: {cell[side]['skipped']})"
            for cell in result["cells"] for side, other in (("base", "patched"), ("patched", "base"))
            if "skipped" in cell[side] and "skipped" not in cell[other]
            and (result["paired"] or cell[side]["skipped"] != NOT_ASKED)]


def side_of(samples):
    """One kernel's cell; the spread of a single sample is perf's own, over its loops."""
    rates = [sample["bytes_per_second"] for sample in samples]
    if len({(sample["size"], sample["loops"]) for sample in samples}) > 1:
        raise BadInput("the rounds of one kernel differ in size or loops; measure them the same way")
    deviation = spread(rates) if len(rates) > 1 else rates[0] * samples[0]["stddev_percent"] / 100
    return {"size": samples[0]["size"], "loops": samples[0]["loops"], "bytes_per_second": rates,
            "perf_stddev_percent": [sample["stddev_percent"] for sample in samples],
            "mean_gbps": mean(rates) / 1e9, "sd_gbps": deviation / 1e9}
