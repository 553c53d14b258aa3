"""How right the address rules are on gold lines, and how fast. Prints one JSON object a file.

    python scripts/measure_rules.py FILE...

`exact`: shares of lines equal on all labelled fields; `certain`: of what the rules say on their own (not counting what
they leave open), the share that is right and the share that is said, for each field and together.
"""

from __future__ import annotations

import argparse
import json
import time

from copydesk.bench.gold import Gold, read_gold
from copydesk.drafting.rules import RULES_DATA_DATE, draft
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS


def measure(lines: list[Gold]) -> dict[str, object]:
    """The figures of one file."""
    draft("", ADDRESS_FIELDS)
    start = time.perf_counter()
    answers = [draft(line.text, ADDRESS_FIELDS) for line in lines]
    ms = 1000 * (time.perf_counter() - start) / len(lines)
    said = dict.fromkeys(ADDRESS_FIELDS, 0)
    right = dict.fromkeys(ADDRESS_FIELDS, 0)
    asked = dict.fromkeys(ADDRESS_FIELDS, 0)
    exact = 0
    for line, answer in zip(lines, answers, strict=True):
        exact += all(answer.values[field] == value for field, value in line.expected.items())
        certain = answer.certain()
        for field, value in line.expected.items():
            asked[field] += 1
            if certain.fields[field].confidence > 0:
                said[field] += 1
                right[field] += certain.values[field] == value
    return {
        "lines": len(lines),
        "exact": round(exact / len(lines), 4),
        "certain": {
            field: {"precision": round(right[field] / said[field], 4), "coverage": round(said[field] / asked[field], 4)}
            for field in ADDRESS_FIELDS
            if said[field]
        },
        "precision": round(sum(right.values()) / sum(said.values()), 4),
        "coverage": round(sum(said.values()) / sum(asked.values()), 4),
        "ms_mean": round(ms, 3),
        "data": RULES_DATA_DATE,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="+", help="gold lines of the address task (.jsonl)")
    for file in parser.parse_args().files:
        print(json.dumps({"file": file} | measure(read_gold(file, ADDRESS)), ensure_ascii=False))


if __name__ == "__main__":
    main()
