#!/usr/bin/env python3
"""Judge one machine's KUnit run from the JSON that kunit.py wrote.

usage: judge.py RESULT.json SUITES SKIPS

Prints one line per suite: "<suite> <passed> <failed> <skipped> <ok|FAIL>", and
on standard error what is wrong: a suite that did not run, a failed test, a skip
that is not in SKIPS, a test in SKIPS that was not skipped.
Exit code 0 if nothing is, else 1; 2 for unreadable input.
"""
import json
import sys


def names(path):
    """The lines of a list file without comments and blanks."""
    with open(path, encoding="utf-8") as lines:
        return {l.strip() for l in lines if l.strip() and not l.startswith("#")}


def walk(group, prefix=""):
    """Yield (dotted test name, status) of all leaf tests below a group."""
    for case in group.get("test_cases", []):
        yield prefix + case["name"], case["status"]
    for sub in group.get("sub_groups", []):
        yield from walk(sub, prefix + sub["name"] + ".")


def judge(result, suites, skips, complain):
    """Print the table rows; return whether all is as it has to be."""
    good = True
    by_suite = {sub["name"]: list(walk(sub, sub["name"] + "."))
                for sub in result.get("sub_groups", [])}
    for suite in sorted(suites):
        tests = by_suite.get(suite, [])
        wrong = [] if tests else [f"suite {suite} did not run"]
        count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        for name, status in tests:
            if status not in count:
                status = "FAIL"
            count[status] += 1
            if status == "FAIL":
                wrong.append(f"{name} failed")
            elif status == "SKIP" and name not in skips:
                wrong.append(f"{name} was skipped, which nobody expected")
            elif status == "PASS" and name in skips:
                wrong.append(f"{name} ran, but is listed as skipped")
        listed = {s for s in skips if s.startswith(suite + ".")}
        for name in sorted(listed - {n for n, _ in tests}):
            wrong.append(f"{name} is listed as skipped, but there is no such test")
        for line in wrong:
            complain(line)
        good = good and not wrong
        print(suite, count["PASS"], count["FAIL"], count["SKIP"],
              "FAIL" if wrong else "ok")
    return good


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            result = json.load(file)
        suites, skips = names(sys.argv[2]), names(sys.argv[3])
    except (OSError, ValueError) as error:
        print(f"judge: {error}", file=sys.stderr)
        return 2
    good = judge(result, suites, skips,
                 lambda line: print(f"judge: {line}", file=sys.stderr))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
