"""The tasks of bench/peers.py, the programs that do them, and the processes in which they run."""
import collections
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = pathlib.Path(os.environ.get("ORT_ED_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ort-ed")
OURS = "ort-ed"


def mlp_flops():
    rows, layers = 128 * 33, [(32, 256), (256, 256), (256, 256), (256, 1)]
    products = sum(a * b for a, b in layers)
    return 2 * rows * (3 * products - 32 * 256)  # the data need no gradient


def resnet_flops():
    rows, c = 10 * 33, 64
    first = 9 * c * 28 * 28
    down = [(9 * c * c + 9 * c * c + c * c) * side * side for side in (14, 7)]
    same = 6 * 2 * 9 * c * c * 7 * 7
    return 2 * rows * (3 * (first + sum(down) + same + c) - first)


# Steps of one measurement; floating-point operations if they are counted.
Task = collections.namedtuple("Task", "title steps flops", defaults=[None])
TASKS = {
    "train-mlp": Task("training step, MLP 32-256-256-256-1, batch 128, M = 32", 10, mlp_flops()),
    "train-resnet": Task("training step, ResNet-64 on 28 x 28, batch 10, M = 32", 2, resnet_flops()),
    "pcd-gwg": Task("PCD step, ResNet-64 on 28 x 28, batch 16, 10 steps of GWG", 2),
    "pcd-dula": Task("PCD step, ResNet-64 on 28 x 28, batch 16, 10 steps of DULA", 2),
    "score-mlp": Task("scoring 16,384 rows, MLP", 5),
    "score-resnet": Task("scoring 512 rows, ResNet-64", 2),
    "gibbs-ising": Task("Gibbs sweep of 2,000 chains, Ising 10 x 10", 5),
    "gibbs-mlp": Task("Gibbs sweep of 1,000 chains, MLP", 2),
    "ais-mlp": Task("AIS temperature of 1,000 chains, MLP", 2),
}

# A program: its Python environment by tools/setup.sh --bench, its worker in bench/peers, what says its version, and its variants
# of each task that it can do, by what they are called behind its name: {task: {variant: options}}.
Peer = collections.namedtuple("Peer", "environment worker package tasks")
PLAIN = {"": []}
COMPILED = {"": [], "compiled": ["--compiled"]}
IMAGES = COMPILED | {"channels last": ["--channels-last"], "compiled, channels last": ["--compiled", "--channels-last"]}
CHAINS = {"": [], "keeping energies": ["--cached"], "keeping energies, compiled": ["--cached", "--compiled"]}
CHECKERBOARD = {"checkerboard": ["--checkerboard"], "checkerboard, compiled": ["--checkerboard", "--compiled"]}
PEERS = {
    "PyTorch": Peer("torch", "torch_worker.py", "torch", {
        "train-mlp": COMPILED, "train-resnet": IMAGES, "pcd-gwg": IMAGES, "pcd-dula": IMAGES, "score-mlp": COMPILED,
        "score-resnet": IMAGES, "gibbs-ising": CHAINS | CHECKERBOARD, "gibbs-mlp": CHAINS, "ais-mlp": CHAINS}),
    "JAX": Peer("jax", "jax_worker.py", "jax", {
        "train-mlp": PLAIN, "train-resnet": PLAIN, "score-mlp": PLAIN, "score-resnet": PLAIN, "gibbs-ising": {"checkerboard": []},
        "gibbs-mlp": {"keeping energies": []}, "ais-mlp": {"keeping energies": []}}),
    "ONNX Runtime training": Peer("ort-training", "ort_worker.py", "onnxruntime-training-cpu", {
        "train-mlp": {"less work": []}, "train-resnet": {"less work": []}, "score-mlp": PLAIN, "score-resnet": PLAIN}),
    "D-Wave": Peer("dwave", "dwave_worker.py", "dwave-samplers", {"gibbs-ising": PLAIN}),
}


def python_of(peer):
    return CACHE / PEERS[peer].environment / "bin" / "python"


def version(peer):
    """As its environment has it, or nothing where that is not complete."""
    code = f"from importlib.metadata import version; print(version('{PEERS[peer].package}'))"
    try:
        return subprocess.run([python_of(peer), "-c", code], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def installed():
    """{peer: version}."""
    return {peer: found for peer in PEERS if (found := version(peer))}


def name_of(peer, variant):
    return f"{peer}, {variant}" if variant else peer


def peer_of(side):
    return side.split(",")[0]


class Failed(Exception):
    pass


class Worker:
    """A process that takes steps on command, with a fixed number of threads. Libraries read theirs once, from the environment."""

    def __init__(self, side, command, threads):
        self.side, self.best = side, float("inf")
        self.setting = f"{threads} thread{'s' * (threads > 1)}"
        libraries = {f"{library}_NUM_THREADS": str(threads) for library in ("OPENBLAS", "MKL", "OMP")}
        try:
            self.process = subprocess.Popen([str(word) for word in command], env=os.environ | libraries, text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except FileNotFoundError as error:
            raise Failed(f"there is no {error.filename}") from error
        self.ask("threads", threads)

    def ask(self, command, count=1):
        try:
            self.process.stdin.write(f"{command} {count}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self.process.stdout.readline()
        if not answer:
            raise Failed(f"{self.side} stopped")
        return answer.split()

    def measure(self, steps, clock="steps"):
        self.best = min(self.best, float(self.ask(clock, steps)[0]))

    def check(self):
        return [float(value) for value in self.ask("check")]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def commands(task, build, peers):
    """What runs on this machine: {side: command}."""
    ours = build / "bench" / "pair_worker"
    found = {OURS: [ours, task]}
    if task.startswith("train-"):
        found[f"{OURS}, standard operators"] = [ours, task, "--standard"]
    for peer in peers:
        for variant, options in PEERS[peer].tasks.get(task, {}).items():
            found[name_of(peer, variant)] = [python_of(peer), ROOT / "bench" / "peers" / PEERS[peer].worker, task, *options]
    return found


def start(side, command, threads):
    """A worker, or nothing where a peer cannot work; it has said why."""
    try:
        return Worker(side, command, threads)
    except Failed as failure:
        if peer_of(side) == OURS:
            raise
        print(f"{failure}: {side} is absent", flush=True)
        return None
