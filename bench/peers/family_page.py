"""Writes docs/results/families.md from docs/results/data/families.json alone."""
import json

from family_table import FAMILIES
from page import markdown, milliseconds
from sides import OURS, ROOT

DATA = ROOT / "docs" / "results" / "data" / "families.json"


def fastest(result, setting, ours):
    """(seconds, side, MB) of the fastest of either program."""
    return min((seconds, side, grown) for side, at, seconds, grown, _ in result["sides"] if at == setting and (side == OURS) == ours)


def ratio(result, setting):
    return fastest(result, setting, False)[0] / fastest(result, setting, True)[0]


def settings(results):
    return sorted({side[1] for result in results for side in result["sides"]}, key=lambda at: int(at.split()[0]))


def table(results, setting):
    rows = []
    for result in results:
        ours, theirs = fastest(result, setting, True), fastest(result, setting, False)
        rows.append([FAMILIES[result["family"]].title, milliseconds(ours[0]), milliseconds(theirs[0]), theirs[1],
                     f"**{ratio(result, setting):.3g}**", f"{ours[2]:.0f} MB", f"{theirs[2]:.0f} MB"])
    return markdown.table(["", "ort-ed", "PyTorch, best", "which", "times", "memory, ort-ed", "PyTorch"], rows)


def everything(results):
    return markdown.table(["", "side", "setting", "ms", "memory", "of it libraries"],
                          [[FAMILIES[r["family"]].title, side, at, f"{1e3 * seconds:.2f}", f"{peak:.0f} MB", f"{peak - grown:.0f} MB"]
                           for r in results for side, at, seconds, grown, peak in r["sides"]])


def without_compile(results):
    """Which families were measured without torch.compile(), in words."""
    missing = [FAMILIES[r["family"]].title for r in results if not any("compiled" in side for side, *_ in r["sides"])]
    if not missing:
        return ""
    return f"`torch.compile()` was not measured for {'any of them' if len(missing) == len(results) else '; '.join(missing)}.\n"


def write():
    data = json.loads(DATA.read_text())
    results = data["results"]
    versions = ", ".join(f"{peer} {version}" for peer, version in data["versions"].items())
    tables = "\n\n".join(f"## With {at}\n\n{table(results, at)}" for at in settings(results))
    (ROOT / "docs" / "results" / "families.md").write_text(f"""# A training step of many families of networks

Measured {data["date"]} on {data["machine"]}; {versions}. By `bench/families.py`: interleaved, the fastest of several. "Times" is how
many times as fast ort-ed is as PyTorch in its fastest form with the same number of threads: by processor time with one thread, which other
programs disturb little, by elapsed time with more. Memory: what a process had resident at most beyond its libraries. Batches are of 4 to
64 rows with 32 negatives each; `bench/peers/family_table.py` has them all, and `bench/families.py --check` compares the losses of five steps.
{without_compile(results)}
{tables}

## Everything measured

{everything(results)}
""")
