"""Writes docs/results/peers.md and the README's table from docs/results/data/peers.json alone."""
import json
import sys

from sides import OURS, PEERS, ROOT, TASKS, peer_of

sys.path.insert(0, str(ROOT / "bench"))
from paper import markdown  # noqa: E402

DATA = ROOT / "docs" / "results" / "data" / "peers.json"
BEGIN, END = "<!-- peers: written by bench/peers.py -->", "<!-- peers end -->"


def fastest(result, wanted, setting=None):
    """(seconds, side) of the fastest side that is wanted, of those that there are."""
    return min(((seconds, side) for side, at, seconds in result["sides"] if wanted(side) and setting in (None, at)), default=None)


def ours(result, setting=None):
    return fastest(result, lambda side: side == OURS, setting)


def strongest(result, setting=None):
    return fastest(result, lambda side: peer_of(side) != OURS, setting)


def of_peer(result, peer):
    return fastest(result, lambda side: peer_of(side) == peer)


def ratio(result, setting=None):
    peer = strongest(result, setting)
    return peer[0] / ours(result, setting)[0] if peer else float("nan")


def peak_share(result):
    flops = TASKS[result["task"]].flops
    if not flops:
        return ""
    rate, peak = flops / ours(result)[0] / 1e9, result["peak_gflops"]
    return f"{rate:.0f} of {peak:.0f} GFLOP/s, {100 * rate / peak:.0f} %"


def milliseconds(seconds):
    return f"{1e3 * seconds:,.{max(0, 3 - len(str(int(1e3 * seconds))))}f} ms"


def settings(results):
    return sorted({at for result in results for _, at, _ in result["sides"]}, key=lambda at: int(at.split()[0]))


def table(results):
    rows = [[TASKS[r["task"]].title, milliseconds(ours(r)[0]), strongest(r)[1], milliseconds(strongest(r)[0])]
            + [f"{ratio(r, s):.3g}" for s in settings(results)] + [f"**{ratio(r):.3g}**", peak_share(r)] for r in results]
    return markdown.table(["", "ort-ed, best", "strongest peer", "its best", *(f"times, {s}" for s in settings(results)),
                           "times, best to best", "of peak"], rows)


def by_peer(results):
    """Each peer at its best, with how many times as fast ort-ed is."""
    def cell(result, peer):
        found = of_peer(result, peer)
        return f"{milliseconds(found[0])} ({found[0] / ours(result)[0]:.3g})" if found else ""
    peers = [peer for peer in PEERS if any(of_peer(r, peer) for r in results)]
    return markdown.table(["", OURS, *peers], [[TASKS[r["task"]].title, milliseconds(ours(r)[0]), *(cell(r, p) for p in peers)]
                                               for r in results])


def provenance(data):
    versions = ", ".join(f"{peer} {version}" for peer, version in data["versions"].items())
    absent = [peer for peer in PEERS if peer not in data["versions"]]
    return (f"Measured {data['date']} on {data['machine']}; {versions}"
            + (f"; not installed: {', '.join(absent)}" if absent else "") + f". {LEGEND}")


LEGEND = """By `bench/peers.py`: interleaved, the fastest of several. "Times" is how many times as fast ort-ed is as the strongest peer,
with the same number of threads or each at its best. "Of peak": operations by the layers' definition, against the rate of ort-ed's own
matrix tiles with everything in cache; convolutions by Winograd's algorithm take fewer operations than their definition, so that theirs
could exceed it. "Less work": ONNX Runtime's training step has given negatives and no average of weights. "Checkerboard" uses
what the lattice is and updates half of it at once; ort-ed and D-Wave's sampler take any couplings.""".replace("\n", " ")

PAGE = """# ort-ed and its peers, side by side

{provenance}

{table}

## Each peer at its best

In brackets how many times as fast ort-ed is.

{by_peer}

- **PyTorch**: each task eager and compiled (`torch.compile`), convolutions also with channels last, chains also with the energy of
  the present state kept, which public codes do not do. Adam is the fused one.
- **JAX**: everything is jitted, a sweep is one loop on the device, random numbers are XLA's own (`unsafe_rbg`), which is faster than the default.
- **ONNX Runtime training**: the last release that trains. Its training step has less to do: rows and negatives are given,
  and there is no average of weights; it cannot take the gradient of ReduceMax, so that the loss is not the stable one. It scores by the
  same release's sessions for inference.
- **D-Wave**: `SimulatedAnnealingSampler` at one temperature with Gibbs' acceptance. It has one thread; with two, two calls work side by
  side on half of the chains each. A call makes 100 sweeps, so that beginning and ending one hardly counts.

`bench/peers.py --check` lets all sides do the same on the same weights and rows and compares: losses of five steps, energies of rows, and what
energies of chains are on average.

## Everything measured

| | side | setting | ms |
|---|---|---|---|
{details}
"""


def write():
    data = json.loads(DATA.read_text())
    results = data["results"]
    details = "\n".join(f"| {TASKS[r['task']].title} | {side} | {setting} | {1e3 * seconds:.2f} |"
                        for r in results for side, setting, seconds in r["sides"])
    markdown.write_page("peers", PAGE.format(provenance=provenance(data), table=table(results), by_peer=by_peer(results),
                                             details=details))
    readme = (ROOT / "README.md").read_text()
    before, after = readme.split(BEGIN)[0], readme.split(END)[1]
    (ROOT / "README.md").write_text(f"{before}{BEGIN}\n{table(results)}\n\n{provenance(data)}\n{END}{after}")
