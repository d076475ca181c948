"""Ising lattices (the paper, Table 3): couplings learned from 2,000 samples, by the distance to the true ones."""
import math

import numpy

from . import experiment, markdown

NAME = "ising"
LATTICES = {"0.1": 10, "0.2": 10, "0.3": 10, "0.4": 10, "0.5": 10, "-0.1": 9, "-0.2": 9}
PAPER_METHODS = ["bernoulli", "pool", "grid"]
# By samples of the model, 100 updates of a site, or moves along the gradient, in each step.
CHAINS = {"pcd-gibbs": ["--sampler", "gibbs", "--chain-steps", 1], "pcd-gwg": ["--sampler", "gwg", "--chain-steps", 100],
          "pcd-dula": ["--sampler", "dula", "--sampler-step-size", 0.1, "--chain-steps", 100]}
POLICY = "eb-gfn"
POLICY_PENALTY = "0.01"
# The paper's table, in the order of LATTICES.
PAPER_SCORES = {"pcd-gibbs": [4.8, 4.7, 3.4, 2.6, 2.3, 4.8, 4.7], "pcd-gwg": [4.8, 4.7, 3.4, 2.6, 2.3, 4.8, 4.7],
                "eb-gfn": [6.1, 5.1, 3.3, 2.6, 2.3, 5.7, 5.1], "bernoulli": [5.1, 4.0, 2.9, 2.5, 2.3, 5.1, 4.3],
                "pool": [4.9, 3.6, 3.2, 2.6, 2.3, 4.9, 3.6], "grid": [4.6, 4.0, 3.1, 2.6, 2.3, 4.5, 4.0]}
GOALS = {"0.1": 5.9, "0.2": 5.6, "0.3": 4.0, "0.4": 3.2, "0.5": 3.0, "-0.1": 5.9, "-0.2": 5.5}
PAPER_PENALTIES = ["0.001", "0.003", "0.01"]
PENALTIES = ["0.0003", *PAPER_PENALTIES]
THRESHOLDS = ["0.01", "0.02", "0.03", "0.05", "0.08", "0.12"]
REACHES = ["1", "1.5", "2", "3"]
DECAYS = ["0", "0.0001", "0.001", "0.01"]
LONG = ["--steps", 3000, "--learning-rate", 0.003, "--ema", 0.999]  # for the fit that counts: less noise of erased spins
OURS = ["sparse", "local"]
APPROACHES = [*CHAINS, POLICY, *PAPER_METHODS, *OURS]
TITLES = {"pcd-gibbs": "PCD, Gibbs", "pcd-gwg": "PCD, GWG", "pcd-dula": "PCD, DULA", "eb-gfn": "EB-GFN", "bernoulli": "ED-Bern",
          "pool": "ED-Pool", "grid": "ED-Grid", "sparse": "ours: sparse", "local": "ours: local"}
REPEATED = {name: [2, 3] for name in ("0.2-local", "0.3-local", "-0.2-bernoulli")}  # with other data, too
SHOWN = ["0.2-sparse", "0.2-bernoulli", "0.3-local"]
AS_ZERO = 0.1  # scores that are no further apart are called the same: published ones have one digit


def by_name():
    return {f"{sigma}-{approach}": (sigma, approach) for sigma in LATTICES for approach in APPROACHES}


def cells():
    return experiment.with_seeds(by_name(), REPEATED)


def rows_of(cell, sigma, seed):
    """Data of the paper: 2,000 chains of 1,000,000 site updates, and the couplings they were made with."""
    side = LATTICES[sigma]
    name = sigma if seed == 1 else f"{sigma}-seed-{seed}"
    truth = experiment.Settings.out / NAME / f"{name}-J.npy"
    data = experiment.test_rows(cell, f"{name}.npy", "ising", "--shape", f"{side}x{side}", f"--sigma={sigma}", "-n", 2000,
                                "--steps", 1000000, "--seed", seed, "--couplings", truth)
    return data, truth


def couplings(cell, model):
    cell.ort_ed("inspect", model, "--couplings", cell.folder / "J.npy", keep=False)
    return numpy.load(cell.folder / "J.npy").astype(float)


def edges(learned):
    return int((abs(learned) > 1e-5).sum()) // 2


def losses(learned, rows):
    """Minus the pseudo-likelihood of each row, in nats: all spins, each given the others."""
    spins = 2.0 * rows - 1
    return numpy.logaddexp(0, -4 * spins * (spins @ learned)).sum(axis=1)


def information_criterion(learned, rows):
    """Extended BIC of pseudo-likelihood: every coupling is a parameter of two spins, found among all others."""
    count, variables = rows.shape
    per_spin = math.log(count) + 2 * math.log(variables - 1)
    return 2 * losses(learned, rows).sum() + 2 * edges(learned) * per_spin


def means(held_out):
    return {name: values.mean() for name, values in held_out.items()}


def best_of(held_out):
    return min(held_out, key=lambda name: held_out[name].mean())


def first_good(held_out):
    """The first, that is the simplest, whose losses are not above the best ones by more than a standard error."""
    best = held_out[best_of(held_out)]
    for name, values in held_out.items():
        excess = values - best
        if excess.mean() <= excess.std() / len(excess) ** 0.5:
            return name


class Fits:
    """Trainings of one cell, with half of the rows to judge by the others, or with all."""

    def __init__(self, cell, sigma, seed):
        self.cell, (self.data, self.truth) = cell, rows_of(cell, sigma, seed)
        self.seed = [] if seed == 1 else ["--seed", seed]  # the first trainings have the default, 0
        self.shape = f"{LATTICES[sigma]}x{LATTICES[sigma]}"
        self.rows = numpy.load(self.data)
        self.halves = numpy.split(self.rows, 2)
        self.half_files = [self.data.with_name(f"{self.data.stem}-{half}-half.npy") for half in ("first", "second")]
        for file, rows in zip(self.half_files, self.halves):
            numpy.save(file, rows)

    def fit(self, name, recipe, *options, rows=None):
        return self.cell.train(f"ising/{recipe}.toml", "--data", rows or self.data, "--image-shape", self.shape,
                               "--validation-fraction", 0, *options, *self.seed, run=name)["model"]

    def other_half(self, half, name, recipe, *options):
        """The losses of the rows of one half that a fit of the other gives."""
        file = self.half_files[1 - half]
        return losses(couplings(self.cell, self.fit(f"{file.stem}-{name}", recipe, *options, rows=file)), self.halves[half])

    def held_out(self, *arguments):
        """The losses of all rows that fits without them give. By halves: where nearly all spins agree, a smaller part of the
        rows has too few that do not for a choice."""
        return numpy.concatenate([self.other_half(half, *arguments) for half in (0, 1)])

    def finish(self, model, **values):
        """The measure of the paper: -log of the root mean square error over all entries."""
        self.cell.ort_ed("plot", "couplings", model, "--truth", self.truth, "-o", self.cell.folder / "couplings.png",
                         keep=False)
        learned = couplings(self.cell, model)
        error = numpy.mean((learned - numpy.load(self.truth)) ** 2)
        ones = self.rows.mean(axis=1)
        self.cell.finish({"neg_log_rmse": -0.5 * math.log(error), "edges": edges(learned), **values,
                          "minority": numpy.minimum(ones, 1 - ones).mean(),
                          "seconds": sum(c.get("seconds", 0) for c in self.cell.commands)})


def by_paper(fits, *arguments):
    """The paper's protocol; the penalty by held-out rows, not by the truth."""
    held_out = {l1: fits.other_half(1, f"l1-{l1}", *arguments, "--l1", l1) for l1 in PAPER_PENALTIES}
    best = best_of(held_out)
    fits.finish(fits.fit("final", *arguments, "--l1", best), l1=best, held_out=means(held_out))


def by_policy(fits):
    """One fit: each takes a quarter of an hour."""
    fits.finish(fits.fit("final", POLICY, "--l1", POLICY_PENALTY), l1=POLICY_PENALTY)


def refit(start, decay):
    return ["conditional", "--model", start, "--freeze-zeros", "--weight-decay", decay]


def with_decays(start):
    return {f"decay-{decay}": refit(start, decay) for decay in DECAYS}


def judge(fits, candidates):
    return {name: fits.held_out(name, *arguments) for name, arguments in candidates.items()}


def finish_with_best(fits, candidates, **values):
    """The fit that counts, with the arguments that held-out rows choose; the simplest come first."""
    held_out = judge(fits, candidates)
    chosen = first_good(held_out)
    fits.finish(fits.fit("final", *candidates[chosen], *LONG), chosen=chosen, held_out=means(held_out), **values)


def sparse(fits):
    """l1, couplings below a threshold cut, the others fitted again. An information criterion chooses penalty and threshold;
    held-out rows decide whether the cut is any good."""
    penalised = {f"l1-{l1}": ["conditional", "--init", "zero", "--l1", l1] for l1 in PENALTIES}
    criteria, starts = {}, {}
    for penalty, arguments in penalised.items():
        model = fits.fit(penalty, *arguments)
        for cut in THRESHOLDS:
            name = f"{penalty}-cut-{cut}"
            starts[name] = fits.cell.folder / f"{name}.onnx"
            fits.cell.ort_ed("export", model.parent, "--threshold", cut, "--threshold-on", "G", "-o", starts[name])
            trial = fits.fit(f"refit-{name}", *refit(starts[name], 0))
            criteria[name] = information_criterion(couplings(fits.cell, trial), fits.rows)
    support = min(criteria, key=criteria.get)
    uncut = {penalty: penalised[penalty] for penalty in reversed(penalised)}
    finish_with_best(fits, with_decays(starts[support]) | uncut, support=support, criterion=criteria)


def local(fits):
    """Couplings up to a distance on the image. An information criterion chooses the distance, held-out rows a weight decay."""
    starts = {}
    for reach in REACHES:
        starts[reach] = fits.cell.folder / f"reach-{reach}.onnx"
        starts[reach].parent.mkdir(parents=True, exist_ok=True)
        fits.cell.ort_ed("new", "ising", "--image-shape", fits.shape, "--init", "lattice", "--reach", reach, "--coupling",
                         0.01, "-o", starts[reach])
    trials = {reach: fits.fit(f"reach-{reach}", *refit(start, 0)) for reach, start in starts.items()}
    criteria = {reach: information_criterion(couplings(fits.cell, model), fits.rows) for reach, model in trials.items()}
    reach = min(criteria, key=criteria.get)
    finish_with_best(fits, with_decays(starts[reach]), reach=reach, criterion=criteria)


def run(cell):
    name, seed = experiment.name_and_seed(cell.name)
    sigma, approach = by_name()[name]
    fits = Fits(cell, sigma, seed)
    if approach in PAPER_METHODS:
        by_paper(fits, approach)
    elif approach in CHAINS:
        by_paper(fits, "pcd", *CHAINS[approach])
    else:
        {POLICY: by_policy, "sparse": sparse, "local": local}[approach](fits)


def minority(results):
    """How many spins differ from most of their row, as far as this was measured."""
    shares = {sigma: r["minority"] for sigma in LATTICES for r in [results.get(f"{sigma}-local")] if r}
    return ", ".join(f"{100 * share:.2g} % at {sigma}" for sigma, share in shares.items() if float(sigma) > 0.2)


def score_of_zero(sigma):
    """What J = 0 scores: four neighbours of each site are missed."""
    return -0.5 * math.log(4 * float(sigma) ** 2 / LATTICES[sigma] ** 2)


def marked(score, sigma, digits):
    """With a mark where J = 0 scores the same."""
    return f"{score:.{digits}f}" + ("°" if abs(score - score_of_zero(sigma)) <= AS_ZERO + 1e-9 else "")


def shown(results, sigma, approach):
    """The score, of all seeds, beside the published one where there is one."""
    found = [r for name, r in results.items() if experiment.name_and_seed(name)[0] == f"{sigma}-{approach}"]
    ours = "; ".join(marked(r["neg_log_rmse"], sigma, 2) for r in found)
    published = PAPER_SCORES.get(approach)
    return f"{ours} ({marked(published[list(LATTICES).index(sigma)], sigma, 1)})".strip() if published else ours


def minutes(results, approach):
    """Of all fits of a cell, on average."""
    found = [r["seconds"] for sigma in LATTICES for r in [results.get(f"{sigma}-{approach}")] if r]
    return f"{numpy.mean(found) / 60:.1f}" if found else ""


def score_table(results):
    rows = [[TITLES[a], *(shown(results, sigma, a) for sigma in LATTICES), minutes(results, a)] for a in APPROACHES]
    rows = [["J = 0", *(f"{score_of_zero(sigma):.2f}" for sigma in LATTICES), ""], *rows, ["goal", *map(str, GOALS.values()), ""]]
    return markdown.table(["", *(f"{sigma} ({side} x {side})" for sigma, side in LATTICES.items()), "minutes"], rows)


def commands_of_others(results):
    """Of every cell but ours, which are long and alike."""
    found = {name: r for name, r in results.items() if by_name()[experiment.name_and_seed(name)[0]][1] not in OURS}
    return "\n".join(f"\n### {name}\n\n{markdown.commands(r)}" for name, r in found.items())


def render(results):
    pictures = [markdown.picture(f"ising-{name}", experiment.run_file(NAME, name, "couplings.png"))
                for name in SHOWN if name in results]
    example = next((name for name in SHOWN if name in results), next(iter(results)))
    markdown.write_page(NAME, PAGE.format(paper=markdown.PAPER, provenance=markdown.provenance(results.values(), NAME),
                                          table=score_table(results), flips=minority(results),
                                          example=example, commands=markdown.commands(results[example]),
                                          others=commands_of_others(results), pictures="\n".join(pictures)))


PAGE = """
# Ising lattices (the paper, Table 3)

Couplings learned from 2,000 samples of a periodic lattice, p(s) ~ exp(s'Js), J = sigma between neighbours. The measure is
minus the logarithm of the root mean square error over all entries of J; larger is better. `J = 0` is what a model scores
that has learned nothing.

{provenance} Data have seed 1, trainings the default, 0; where a cell has three scores, the second and third have other data (seeds 2
and 3) and trainings with these seeds.

Each score stands beside the published one, in brackets, where there is one: Table 3 of the paper, {paper}, which took those of PCD and EB-GFN
from Zhang et al. 2022. A ° says that J = 0 scores the same, within {as_zero}: such a model is no
better by this measure than one that has learned nothing. That holds for every published figure of sigma 0.4 and 0.5. Minutes are
those of all trainings of a cell.

{table}

- **PCD**: 256 chains, which all move in every step by 100 updates of a site: a sweep of Gibbs sampling, 100 steps of GWG, 100 of DULA (alpha
  0.1); Adam 1e-3, batch 256, after the protocol of discrete Langevin samplers. What differs: 3,000 steps instead of 10,000, and a penalty
  chosen as for ED. The published figures of Gibbs and GWG are those of the EB-GFN paper, whose settings are not known in all; the program of GWG's
  authors has 100 chains, Adam 1e-2, no penalty and 100,000 steps. DULA has no published figure.
- **EB-GFN**: Adam 1e-3 with cosine decay, batch 128, 1,000 steps, one penalty ({policy_penalty}), the policy of three layers of 256, Barker's
  acceptance as in the authors' program. What differs: steps are few because each moves a policy over 100 variables; a public
  reimplementation takes 20,000 of 256 rows and a policy of four layers.
- **ED-Bern, ED-Pool, ED-Grid**: after the paper's protocol (Adam 1e-4, batch 256, M = 32, w = 1, an l1 penalty). What differs:
  3,000 steps, where the paper names no number (a coupling moves by 0.3 at most, too little for sigma 0.4 and 0.5), and the penalty is the one of {penalties} with the best pseudo-likelihood of held-out rows, where the paper
  takes the one of 0.01, 0.1, 1, 5, 10 with the best score.
- **sparse**: one spin is erased and guessed from all others (`--method erase --block 1 --exact`), with an l1 penalty;
  couplings below a threshold are cut and the rest is fitted again without the penalty. Penalty and threshold are chosen by
  an information criterion (extended BIC of the pseudo-likelihood). Held-out rows then choose the weight decay of the last fit,
  or against the cut: the simplest fit within a standard error of the best. Nothing looks at the true J.
- **local**: the same fit with couplings only between spins up to a distance on the image, chosen among {reaches} by the same
  criterion. The distance is that on a torus, so that the true graph is one of the four candidates (1), and all seven lattices
  chose it: what is learned are its values and that nothing beyond it is needed. Without that knowledge (`sparse`) the goals for
  sigma 0.3, 0.4 and 0.5 are missed.

Above the critical sigma of 0.22 nearly all spins of a sample agree (those that differ from the majority of their row are
{flips}), and the data say less and less about single couplings. A model that does not know the lattice cannot tell neighbours from others there; what `local` gains is that knowledge.

{pictures}

## Commands of {example}

{commands}

## Commands of the others
{others}
""".replace("{as_zero}", str(AS_ZERO)).replace("{policy_penalty}", POLICY_PENALTY).replace("{reaches}", ", ".join(REACHES)).replace("{penalties}", ", ".join(PAPER_PENALTIES))
