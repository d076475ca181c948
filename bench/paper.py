#!/usr/bin/python3
"""The paper's experiments with ort-ed: runs a table, resumes where it was stopped, writes docs/results/*.md.

    tools/setup.sh --bench                     # brings numpy
    cmake --preset release && cmake --build --preset release --target ort-ed
    bench/paper.py densities                   # runs the cells that have no result yet, then writes the page
    bench/paper.py densities --only='pinwheel*' --again    # runs these cells, also where they have a result
    bench/paper.py real --data ~/data          # the sets of others, in a folder of yours
    ~/.cache/ort-ed/tables/bin/python bench/paper.py tables --data ~/data    # with what tools/setup.sh --tables brings
    bench/paper.py ising real --render         # only writes the pages
"""
import argparse
import fnmatch
import importlib.util
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from paper import experiment  # noqa: E402

TABLES = ["densities", "ablations", "ising", "images", "image_methods", "learned_base", "real", "tables"]
NEED_DATA = {"images", "image_methods", "learned_base", "real", "tables"}
NEED_PEERS = {"tables"}


def run(table, pattern, again):
    names = fnmatch.filter(table.cells(), pattern)
    if not names:
        raise SystemExit(f"{table.NAME} has no cell '{pattern}'; there are {', '.join(table.cells())}")
    failures = [run_cell(table, experiment.Cell(table.NAME, name), again) for name in names]
    return [failure for failure in failures if failure]


def run_cell(table, cell, again):
    """Says what failed, so that the other cells go on."""
    if cell.result() is not None and not again:
        print(f"{table.NAME}/{cell.name} has a result; --again runs it anew", flush=True)
        return None
    print(f"{table.NAME}/{cell.name}", flush=True)
    try:
        table.run(cell)
    except experiment.Failed as failure:
        print(failure, file=sys.stderr, flush=True)
        return str(failure)


def render(table):
    cells = [experiment.Cell(table.NAME, name) for name in table.cells()]
    results = {cell.name: cell.result() for cell in cells if cell.result()}
    if results:
        table.render(results)
    else:
        print(f"{table.NAME}: no results yet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", choices=TABLES, metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--only", default="*", metavar="PATTERN", help="cells to run, e.g. 'pinwheel*'")
    parser.add_argument("--again", action="store_true", help="run cells that have a result, too")
    parser.add_argument("--render", action="store_true", help="run nothing, write the pages")
    parser.add_argument("--ort-ed", type=pathlib.Path, default=experiment.Settings.ort_ed, metavar="FILE")
    parser.add_argument("--out", type=pathlib.Path, default=experiment.Settings.out, metavar="FOLDER",
                        help="for runs and rows")
    parser.add_argument("--data", type=pathlib.Path, metavar="FOLDER", help="where the image and real data sets are")
    options = parser.parse_args()
    if not options.data and not options.render and NEED_DATA.intersection(options.tables):
        parser.error(f"{' and '.join(sorted(NEED_DATA))} need --data FOLDER: their pages in docs/results say with which files")
    if not options.render and not options.ort_ed.exists():
        parser.error(f"there is no {options.ort_ed}; build it as above, or name another with --ort-ed")
    if not options.render and NEED_PEERS.intersection(options.tables) and not importlib.util.find_spec("sklearn"):
        parser.error(f"{' and '.join(NEED_PEERS)}: this Python has no scikit-learn; use the one that tools/setup.sh --tables makes")
    experiment.Settings.ort_ed = options.ort_ed.resolve()
    experiment.Settings.out = options.out.resolve()
    if options.data:
        experiment.Settings.data = options.data.resolve()
    failures = []
    for name in options.tables:
        table = importlib.import_module(f"paper.{name}")
        if not options.render:
            failures += run(table, options.only, options.again)
        render(table)
    return "\n".join(["these cells failed:", *failures]) if failures else 0


sys.exit(main())
