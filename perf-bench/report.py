#!/usr/bin/env python3
"""report.py: turn raw measurements into JSON and Markdown, and print the table.

  report.py native RAW OUTDIR         native.sh's samples  -> OUTDIR/native.json, native.md
  report.py guest RUNS OUTDIR         guest.sh's boots     -> OUTDIR/guest.json, guest.md
  report.py compare BASE PATCHED [-o OUTDIR]
                                      two outputs of map.sh from the same machine, run under the
                                      base and the patched kernel -> compare.json, compare.md

Raw rates are bytes per second; GB/s is 1e9 bytes per second. Exit: 0 done, 1 bad input, or
a cell of table (b) that only one of the kernels could do.
Only the standard library is needed.
"""
import argparse
import sys

from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the repository
# pylint: disable=wrong-import-position
import rawdata
import render
import tables


def native(args):
    """Table (a): this CPU's routines from user space."""
    facts, samples, skipped = rawdata.read_native(args.raw)
    result = tables.native_result(facts, samples, skipped)
    write(args.outdir, "native", result, render.native(result))


def guest(args):
    """Table (b): base and patched kernels booted in turn; round N of each is a pair."""
    host, base, patched = rawdata.read_runs(args.runs)
    result = tables.kernels_result("guest", host, base, patched, paired=True)
    write(args.outdir, "guest", result, render.kernels(result))
    same_cells(result)


def compare(args):
    """Table (b) from two runs on bare metal; their rounds are not pairs."""
    base, patched = rawdata.read_map(args.base), rawdata.read_map(args.patched)
    for key in ("cpu", "cpu-model", "cores"):
        if base.facts.get(key) != patched.facts.get(key):
            raise rawdata.BadInput(
                f"{args.base} and {args.patched} are not from the same machine: {key} is "
                f"'{base.facts.get(key)}' and '{patched.facts.get(key)}'")
    # Other load under either kernel spoils the comparison.
    facts = {**base.facts, "warning": [f"{name}: {warning}" for name, side in
                                       (("base", base), ("patched", patched))
                                       for warning in side.facts["warning"]]}
    result = tables.kernels_result("compare", facts, base, patched, paired=False)
    write(args.outdir, "compare", result, render.kernels(result))
    same_cells(result)


def same_cells(result):
    """A kernel that cannot do what the other can has failed; the report is there by now."""
    if tables.lopsided(result):
        raise rawdata.BadInput("measured under one of the two kernels only, which fails the comparison: "
                               + ", ".join(tables.lopsided(result)))


def write(outdir, name, result, markdown):
    """Write both files, each whole or not at all, and print the table. No OUTDIR: print only."""
    print(markdown)
    if outdir is None:
        return
    outdir = Path(outdir)
    outdir.mkdir(parents=True, exist_ok=True)
    for suffix, text in ((".json", tables.to_json(result)), (".md", markdown)):
        part = outdir / (name + suffix + ".part")
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(outdir / (name + suffix))
    print(f"report: {outdir / name}.json and {name}.md are written")


def main():
    """Parse the command line and run the one sub-command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("native", help="table of the clearing routines")
    command.add_argument("raw")
    command.add_argument("outdir")
    command.set_defaults(run=native)
    command = commands.add_parser("guest", help="table of two kernels, from guest.sh")
    command.add_argument("runs")
    command.add_argument("outdir")
    command.set_defaults(run=guest)
    command = commands.add_parser("compare", help="table of two kernels, from two map.sh outputs")
    command.add_argument("base")
    command.add_argument("patched")
    command.add_argument("-o", dest="outdir")
    command.set_defaults(run=compare)
    args = parser.parse_args()
    try:
        args.run(args)
    except (rawdata.BadInput, OSError, UnicodeDecodeError) as error:
        print(f"report: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
