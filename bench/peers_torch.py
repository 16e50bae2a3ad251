"""peers_torch.py [--ours <file>] [--json <file>] [--full]: the rows of bench_fused in PyTorch 2.x.

SDPA, FlexAttention, and the formulas eager and compiled, in float32 on one thread, on the processor that bench_fused
ran on. The rows are compared with those of the report --ours, which come from another process, so the timing is not
interleaved. A row that cannot run here shows the reason.
"""

import argparse
import functools
import json
import math
import os
import sys
import time

os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # tensors on huge pages, as the caches of bench_fused are

import torch
import torch.nn.functional as F

TIMES = argparse.Namespace(rounds=5, slow_rounds=3)


# ---- formulas ------------------------------------------------------------------------------------------------------


def additive(query, keys, values, to_scores):
    """softmax(w . tanh(q + k)) v;  [B, L, D]"""
    scores = (torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1)) * to_scores).sum(-1)
    return torch.softmax(scores, -1) @ values


def additive_linear(query, keys, values, to_scores):
    """The same with a matrix product, which eager PyTorch does faster."""
    scores = F.linear(torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1)), to_scores.unsqueeze(0)).squeeze(-1)
    return torch.softmax(scores, -1) @ values


def multi_matrix(query, keys, values, to_scores):
    scores = F.linear(torch.tanh(query.unsqueeze(2) + keys.unsqueeze(1)), to_scores)  # [B, Lq, Lk, W]
    return (torch.softmax(scores, 2) * values.unsqueeze(1)).sum(2)


def multi_elementwise(query, keys, values):
    scores = 5 * torch.tanh((query.unsqueeze(2) + keys.unsqueeze(1)) / 5)
    return (torch.softmax(scores, 2) * values.unsqueeze(1)).sum(2)


def dot(query, keys, values, causal=False):
    scores = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores + torch.full(scores.shape[-2:], -math.inf, dtype=scores.dtype).triu(1)
    return torch.softmax(scores, -1) @ values


def sdpa(causal=False):
    return lambda query, keys, values: F.scaled_dot_product_attention(query, keys, values, is_causal=causal)


def flex(length, causal=False):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention)
    if not causal:
        return compiled
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, length, length, device="cpu")
    return lambda query, keys, values: compiled(query, keys, values, block_mask=mask)


# ---- measuring -----------------------------------------------------------------------------------------------------


def measure(run):
    """Minimum and median seconds, after two untimed runs."""
    start = time.perf_counter()
    run()
    slow = time.perf_counter() - start > 1
    if not slow:
        run()
    times = []
    for _ in range(TIMES.slow_rounds if slow else TIMES.rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    times.sort()
    return times[0], times[len(times) // 2]


def error_of(got, expected):
    """|x - r| / |r|, the largest of all tensors."""
    return max(((x.double() - r).norm() / r.norm()).item() for x, r in zip(got, expected))


def forward(function, inputs):
    def run():
        with torch.no_grad():
            return [function(*inputs)]

    return run


def both(function, inputs, pull):
    leaves = [x.detach().requires_grad_() for x in inputs]
    return lambda: torch.autograd.grad(function(*leaves), leaves, pull)


def backward(function, inputs, pull):
    leaves = [x.detach().requires_grad_() for x in inputs]
    context = function(*leaves)
    return lambda: torch.autograd.grad(context, leaves, pull, retain_graph=True)


class Report:
    def __init__(self, ours):
        self.rows = []
        self.ours = {}
        for race in ours.get("races", []):
            for baseline in race["baselines"]:
                title = race["title"] + ": " if race["name"].startswith("grid") else ""
                self.ours[race["name"], title + baseline["name"]] = baseline["least_ms"]

    def add(self, race, baseline, peer, make, expected=None):
        """make() returns the function to time; expected() the result it should have."""
        row = {"race": race, "baseline": baseline, "peer": peer, "ours_ms": self.ours.get((race, baseline))}
        try:
            run = make()
            if expected is not None:
                row["error"] = error_of(run(), expected())
            row["least_ms"], row["median_ms"] = (1e3 * t for t in measure(run))
        except Exception as reason:  # no compiler, no such backend: reported in the row
            row["failed"] = (str(reason).strip() or type(reason).__name__).splitlines()[0][:160]
        self.rows.append(row)
        self.print_row(row)

    def print_row(self, row):
        what = f"  {row['race']:<9} {row['baseline']:<50} {row['peer']:<23}"
        if "failed" in row:
            print(f"{what} could not run: got {row['failed']}", flush=True)
            return
        beside = ""
        if row["ours_ms"]:
            beside = f" {row['ours_ms']:>10.3f} {row['least_ms'] / row['ours_ms']:>9.2f}"
        error = f"{row['error']:.1e}" if "error" in row else ""
        print(f"{what} {row['least_ms']:>10.3f} {row['median_ms']:>10.3f} {error:>9}{beside}", flush=True)


# ---- rows ----------------------------------------------------------------------------------------------------------


def in_double(tensors):
    return [x.double() for x in tensors]


def dot_rows(report):
    length, width = 2048, 64
    inputs = [torch.randn(1, 1, length, width) for _ in range(3)]
    pull = torch.randn(1, 1, length, width)
    a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
    report.add("product", "2048 x 2048", "matmul", lambda: lambda: a @ b)
    for causal in (False, True):
        name = "causal " if causal else ""
        plain = functools.partial(dot, causal=causal)
        truth = forward(plain, in_double(inputs))
        gradients = both(plain, in_double(inputs), pull.double())
        fast = sdpa(causal)
        report.add("dot", name + "forward", "SDPA", lambda: forward(fast, inputs), truth)
        report.add("dot", name + "backward", "SDPA", lambda: backward(fast, inputs, pull), gradients)
        peer = "FlexAttention, compiled"
        report.add("dot", name + "forward", peer, lambda: forward(flex(length, causal), inputs), truth)
        report.add("dot", name + "backward", peer, lambda: backward(flex(length, causal), inputs, pull), gradients)


def additive_rows(report, race, inputs, pull, with_forward):
    truth = functools.cache(forward(additive, in_double(inputs)))
    gradients = functools.cache(both(additive, in_double(inputs), pull.double()))
    for peer, make in (("eager", lambda: additive_linear), ("compiled", lambda: torch.compile(additive))):
        if with_forward:
            report.add(race, "forward", peer, lambda: forward(make(), inputs), truth)
        report.add(race, "forward + backward", peer, lambda: both(make(), inputs, pull), gradients)


def multi_rows(report):
    length, width = 512, 64
    inputs = [torch.randn(1, length, width) for _ in range(3)]
    to_scores = torch.randn(width, width) / math.sqrt(width)
    for baseline, formula, given in (
        ("matrix", multi_matrix, [*inputs, to_scores]),
        ("elementwise", multi_elementwise, inputs),
    ):
        truth = forward(formula, in_double(given))
        report.add("multi", baseline, "eager", lambda: forward(formula, given), truth)
        report.add("multi", baseline, "compiled", lambda: forward(torch.compile(formula), given), truth)


def decode_rows(report):
    heads, length, width, caches = 8, 8192, 64, 8
    query = torch.randn(1, heads, 1, width)
    memory = [[torch.randn(1, heads, length, width) for _ in range(2)] for _ in range(caches)]
    fast = sdpa()

    def run():
        with torch.no_grad():
            return [fast(query, *memory[i]) for i in range(caches)]

    report.add("decode", "forward", "SDPA", lambda: run)


def grid_rows(report):
    """The grid of bench_fused --full, on SDPA."""
    for causal in (False, True):
        for width in (64, 128):
            for heads in (1, 8):
                for length in (128, 256, 512, 1024, 2048, 4096):
                    inputs = [torch.randn(1, heads, length, width) for _ in range(3)]
                    pull = torch.randn(1, heads, length, width)
                    title = f"d {width}, {heads} {'heads' if heads > 1 else 'head'}, N {length}"
                    title += ", causal: " if causal else ": "
                    fast = sdpa(causal)
                    report.add("grid_dot", title + "forward", "SDPA", lambda: forward(fast, inputs))
                    report.add("grid_dot", title + "forward + backward", "SDPA", lambda: both(fast, inputs, pull))
    for end in (": forward", ": forward + backward"):
        times = [
            row["least_ms"] / row["ours_ms"]
            for row in report.rows
            if row["race"] == "grid_dot" and row["baseline"].endswith(end) and row.get("least_ms") and row["ours_ms"]
        ]
        if times:
            mean = math.exp(sum(map(math.log, times)) / len(times))
            print(f"  grid{end}, times SDPA: geometric mean {mean:.2f}, best {max(times):.2f}, worst {min(times):.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", default="", help="the report of bench_fused")
    parser.add_argument("--json", default="", help="where to leave the rows")
    parser.add_argument("--full", action="store_true", help="more rounds, and the grid")
    options = parser.parse_args()
    if int(torch.__version__.split(".")[0]) < 2:
        sys.exit(f"peers_torch: PyTorch {torch.__version__}, expected 2.x")
    if options.full:
        TIMES.rounds = TIMES.slow_rounds = 15
    ours = {}
    if os.path.exists(options.ours):
        with open(options.ours, encoding="utf-8") as file:
            ours = json.load(file)
    processors = ours.get("machine", {}).get("processors", "").split()
    if processors:
        os.sched_setaffinity(0, {int(processors[0])})
    torch.set_num_threads(1)
    torch.manual_seed(1)

    print(f"PyTorch {torch.__version__}, one thread, float32; {torch.backends.cpu.get_cpu_capability()}")
    head = f"{'least ms':>10} {'median ms':>10} {'error':>9} {'ours, ms':>10} {'times':>9}"
    print(f"  {'row':<9} {'':<50} {'peer':<23} {head}")
    report = Report(ours)
    dot_rows(report)
    length, width = 1024, 128
    inputs = [torch.randn(1, length, width) for _ in range(3)] + [torch.randn(width) / math.sqrt(width)]
    additive_rows(report, "additive", inputs, torch.randn(1, length, width), with_forward=True)
    step = [torch.randn(64, 1, 256), torch.randn(64, 20, 256), torch.randn(64, 20, 512), torch.randn(256) / 16]
    additive_rows(report, "step", step, torch.randn(64, 1, 512), with_forward=False)
    multi_rows(report)
    decode_rows(report)
    if options.full:
        grid_rows(report)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "threads": 1, "rows": report.rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
