"""Tables and pages for docs/results, written from result files alone."""
import shutil

from . import experiment


PAPER = "Schröder, Ou, Li, Duncan 2023 ([arXiv 2307.07595](https://arxiv.org/abs/2307.07595))"  # "the paper" on all pages


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def commands(result):
    lines = [c["command"] + (f"   # {c['seconds']:.0f} s" if c.get("seconds", 0) >= 1 else "") for c in result["commands"]]
    return "```\n" + "\n".join(lines) + "\n```"


def provenance(results, table_name):
    dates = sorted({r["date"] for r in results})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    machines = ", ".join(sorted({r["machine"] for r in results}))
    versions = ", ".join(sorted({r["version"] for r in results}))
    return (f"Measured {span} on {machines}, {versions}. `bench/paper.py {table_name}` makes this page: it runs what has no "
            f"result file in `docs/results/data/{table_name}/` yet, with `--again` also the rest, and writes the tables from those "
            "files. The driver makes data files that no command in the list makes.")


def write_page(name, text):
    experiment.DOCS.mkdir(parents=True, exist_ok=True)
    (experiment.DOCS / f"{name}.md").write_text(text.strip() + "\n")
    print(f"wrote docs/results/{name}.md")


def picture(name, source):
    """Keeps a picture of a run, where there is one, as docs/results/images/NAME.png; what shows it, or nothing."""
    kept = experiment.PICTURES / f"{name}.png"
    if source.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, kept)
    return f"![{name}](images/{kept.name})" if kept.exists() else ""


def estimates(evaluation):
    """Negative log-likelihood by log Z forwards and in reverse, and by RAISE; one figure where log Z is exact."""
    if "nll_reverse" not in evaluation:
        return f"{evaluation['nll']:.3f} (exact)"
    raised = evaluation.get("nll_raise")
    shown = f"{evaluation['nll']:.2f} to {evaluation['nll_reverse']:.2f}"
    return shown + (f"; RAISE {raised['value']:.2f} ± {raised['standard_error']:.2f}" if raised else "")


def seconds(value):
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.1f} min"


def unreliable(evaluation):
    """Whether `ort-ed eval` warns that its estimate of log Z cannot be trusted."""
    return bool(evaluation.get("warnings")) or any("warning" in evaluation.get(side, {}) for side in ("log_z", "log_z_reverse"))


def effective_chains(evaluation):
    """Of annealing and its reverse, with a mark where `ort-ed eval` warns; nothing where log Z is exact."""
    if "log_z_reverse" not in evaluation:
        return ""
    forward, reverse = evaluation["log_z"], evaluation["log_z_reverse"]
    mark = " (!)" if unreliable(evaluation) else ""
    return f"{forward['effective_samples']:.0f} and {reverse['effective_samples']:.0f} of {forward['samples']}{mark}"
