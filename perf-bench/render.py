"""render.py: the two tables as Markdown. The head carries every fact that the numbers depend on."""
from tables import NAMES, STOSB, emulator


def table(header, rows):
    """A Markdown table, padded so that it reads well on a terminal too."""
    rows = [[str(cell).replace("|", "\\|") for cell in row] for row in [header] + rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def head(title, result, more):
    """Title, the mark of an emulator, the facts as a list, the warnings."""
    machine = result["machine"]
    lines = [f"# {title}", ""]
    if not result["performance"]:
        under = emulator({"accelerator": result["accelerator"], **machine})
        lines += [f"**These are not performance figures.** They were taken under {under}, an emulator, "
                  "whose speeds say nothing of any CPU. They show that every path runs.", ""]
    lines += [f"- CPU: {machine['cpu']} ({machine['cpu-model']}), L3 as the kernel sees it: {machine['l3']}",
              f"- machine: {machine['cores']} CPUs, {machine['numa-nodes']} NUMA node(s), "
              f"{machine['memory-mib']} MiB, hypervisor: {machine['hypervisor']}, "
              f"load average before the run: {machine['load']}, "
              f"CPU time in use in the second before it: {machine['busy-percent'] or 'not measured'}"
              f"{' %' if machine['busy-percent'] not in (None, 'unknown') else ''}"]
    lines += [f"- {key}: {value}" for key, value in more if value]
    lines += [f"- date: {result['date']}, rounds: {result['rounds']}, accelerator: {result['accelerator']}"]
    lines += [f"- command: `{command}`" for command in result["commands"]]
    lines += [""] if result["warnings"] else []
    lines += [f"**Warning:** {warning}." for warning in result["warnings"]]
    return "\n".join(lines) + "\n"


def native(result):
    """Table (a)."""
    cells = {(cell["function"], cell["piece"]): cell for cell in result["cells"]}
    rows = []
    for function in dict.fromkeys(function for function, _ in cells):
        row = [NAMES.get(function, function)]
        for piece in result["pieces"]:
            cell = cells[function, piece]
            rate = f"{cell['median_gbps']:.1f}"
            if cell["spread_percent"] is not None:  # one round has none
                rate += f" ±{cell['spread_percent']:.0f} %"
            row.append(rate)
            row.append(f"{cell['median_ratio_to_v7.3']:.2f}")
        rows.append(row)
    for function, reason in result["skipped"].items():
        rows.append([NAMES.get(function, function), f"not on this CPU: {reason}"]
                    + [""] * (2 * len(result["pieces"]) - 1))
    header = ["routine"]
    for piece in result["pieces"]:
        header += [f"{piece} pieces, GB/s", "ratio"]
    text = head("Page-clearing routines of this CPU, from user space", result,
                [("kernel", result["kernel"]), ("pages", result["pages"]),
                 ("working set", result["size"])])
    text += "\n" + table(header, rows) + "\n\n" + (
        "GB/s is 1e9 bytes per second: median over the rounds ± standard deviation. ratio: median over "
        f"the rounds of this routine's rate divided by {STOSB}'s on the same pieces in the same round.\n"
        f"{STOSB} on 4KB pieces is what kernels before 7.0 do for a page of any size; on 2MB pieces it is "
        "v7.3's way for a 2 MiB folio.\n"
        "clear-clzero and stream-* end every piece with an SFENCE, as the kernel ends every folio: their 4KB "
        "column is with one fence per 4 KiB, not what CLZERO does at 4 KiB without a fence.\n")
    for function, against in result["at_2mb"].items():
        text += (f"\nAt 2 MiB {function} does "
                 + ", ".join(f"{ratio:.2f} times {NAMES.get(name, name).replace('_', '-')}"
                             for name, ratio in against.items()) + ".")
    return text.rstrip("\n") + "\n"


def side(value):
    """One kernel's cell of table (b)."""
    if "skipped" in value:
        return f"not measured: {value['skipped']}"
    return f"{value['mean_gbps']:.2f} ± {value['sd_gbps']:.2f}"


def kernels(result):
    """Table (b)."""
    rows = []
    for cell in result["cells"]:
        change = ""
        if "change_percent" in cell:
            change = f"{cell['change_percent']:+.1f} ± {cell['change_sd_percent']:.1f} %"
            change += " (within the spread)" if cell["within_spread"] else ""
        rows.append([cell["page"], cell["function"], side(cell["base"]), side(cell["patched"]), change])
    more = [("guest", result["guest"])]
    for name, kernel in result["kernels"].items():
        digest = f", sha256 {kernel['sha256'][:16]}" if kernel["sha256"] else ""
        more.append((f"{name} kernel", f"{kernel['version']}{digest}"))
    guest_cpu = result["kernels"]["base"]["cpu"]
    if guest_cpu != result["machine"]["cpu"]:
        more.append(("CPU in the guest", guest_cpu))
    text = head("Memory given out by two kernels (perf bench mem map)", result, more)
    text += "\n" + table(["page", "function", "base, GB/s", "patched, GB/s", "change"], rows) + "\n\n"
    text += ("GB/s is 1e9 bytes per second: mean over the rounds ± standard deviation (of perf's loops where "
             "there was one round). change: "
             + ("median over the rounds of patched divided by base in the same round."
                if result["paired"] else "mean of patched divided by mean of base."))
    return text + "\n"
