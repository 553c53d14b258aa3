"""The built-in model inside Qwen3-0.6B's full shape: the same answers at the cost of the larger model, for timings.

    python scripts/widen.py --qwen3 DIR --out DIR [--model DIR] [--seed 0] [--dtype float32]

`--qwen3` holds Qwen3's `tokenizer.json` (or `.gz`) and Qwen3-0.6B's `config.json`. Writes 1.5 GB (float32: 3 GB) within
a minute and needs 1.6 GB of memory. How it is done and what is exact stands in `copydesk.training.wide_weights`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from copydesk.errors import CopydeskError
from copydesk.models.resolve import BUILTIN_FOLDER
from copydesk.training.widen import widen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=BUILTIN_FOLDER, help="default: the built-in model")
    parser.add_argument("--qwen3", type=Path, required=True, help="folder with Qwen3's tokenizer and config.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--seed", type=int, default=0, help="of the weights that do nothing (default: 0)")
    parser.add_argument("--dtype", choices=["bfloat16", "float32"], default="bfloat16", help="default: bfloat16")
    arguments = parser.parse_args()
    try:
        widen(arguments.model, arguments.qwen3, arguments.out, seed=arguments.seed, dtype=arguments.dtype)
    except CopydeskError as error:
        sys.exit(f"widen: {error}")


if __name__ == "__main__":
    main()
