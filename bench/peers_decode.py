"""peers_decode.py [--device cpu|cuda] [--steps <n>] [--rounds <n>] [--sentences <n>,<n>...] [--only <words>]
[--ours <file>] [--json <file>]: the greedy and beam search of bench_search in PyTorch eager.

The same models, sizes, sources and number of steps. Transformer: keys and values of the source are projected once, those
of the targets are kept in a cache of fixed capacity; attention is scaled_dot_product_attention. Recurrent: keys are
projected once. Beams are chosen on the device, and only what differs between the beams of a sentence is reordered; the
host waits for nothing before the last step. Weights are random, and no translation ends: the end marker's bias is -1e4.
--ours: a report of bench_search, which is compared row by row.
"""

import argparse
import json
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, PAD, BEGIN, END = 9700, 0, 2, 3
SHORTEST, LENGTHS = 6, 16  # sources have 6 to 21 tokens
DIM, HEADS, FEED_FORWARD, LAYERS = 256, 4, 512, 3
SOURCE, STATE, OUT = 512, 512, 512


def sources(sentences, device):
    longest = SHORTEST + LENGTHS - 1
    lengths = SHORTEST + torch.arange(sentences)[:, None] % LENGTHS
    ids = torch.randint(END + 1, VOCABULARY, (sentences, longest))
    return ids.masked_fill(torch.arange(longest)[None] >= lengths, PAD).to(device)


# ---- Transformer ---------------------------------------------------------------------------------------------------


def heads(x):
    """[B, L, DIM] -> [B, HEADS, L, DIM / HEADS]"""
    return x.view(x.size(0), x.size(1), HEADS, DIM // HEADS).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.size(0), x.size(2), DIM)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner, self.outer = nn.LayerNorm(DIM), nn.Linear(DIM, FEED_FORWARD), nn.Linear(FEED_FORWARD, DIM)

    def forward(self, x):
        return x + self.outer(self.inner(self.norm(x)).relu_())


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.projection, self.out = nn.LayerNorm(DIM), nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

    def forward(self, x, mask):
        q, k, v = map(heads, self.projection(self.norm(x)).chunk(3, -1))
        return x + self.out(joined(F.scaled_dot_product_attention(q, k, v, mask)))

    def step(self, x, cache, t):
        """cache [2, rows, HEADS, capacity, D], filled up to t."""
        q, k, v = map(heads, self.projection(self.norm(x)).chunk(3, -1))
        cache[0, :, :, t : t + 1] = k
        cache[1, :, :, t : t + 1] = v
        return x + self.out(joined(F.scaled_dot_product_attention(q, cache[0, :, :, : t + 1], cache[1, :, :, : t + 1])))


class CrossAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.query, self.out = nn.LayerNorm(DIM), nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)
        self.source = nn.Linear(DIM, 2 * DIM)

    def keys(self, source):
        return [heads(part).contiguous() for part in self.source(source).chunk(2, -1)]

    def step(self, x, keys, mask):
        return x + self.out(joined(F.scaled_dot_product_attention(heads(self.query(self.norm(x))), *keys, mask)))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, DIM)
        nn.init.normal_(self.embedding.weight, 0, DIM**-0.5)
        self.encoder = nn.ModuleList(nn.ModuleList([SelfAttention(), FeedForward()]) for _ in range(LAYERS))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.decoder = nn.ModuleList(
            nn.ModuleList([SelfAttention(), CrossAttention(), FeedForward()]) for _ in range(LAYERS)
        )
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))
        self.bias.data[END] = -1e4
        angle = torch.arange(512)[:, None] * 10000 ** (-torch.arange(0, DIM, 2) / DIM)
        self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))

    def start(self, source, beams, steps):
        keep = (source != PAD)[:, None, None]
        x = self.embedding(source) * math.sqrt(DIM) + self.positions[: source.size(1)]
        for attention, feed_forward in self.encoder:
            x = feed_forward(attention(x, keep))
        x = self.encoder_norm(x).repeat_interleave(beams, 0)
        rows = x.size(0)
        shape = (LAYERS, 2, rows, HEADS, steps, DIM // HEADS)
        return {
            "mask": keep.repeat_interleave(beams, 0),
            "cross": [layer[1].keys(x) for layer in self.decoder],
            "self": x.new_empty(shape),
            "t": 0,
        }

    def step(self, tokens, state):
        t = state["t"]
        x = (self.embedding(tokens) * math.sqrt(DIM) + self.positions[t])[:, None]
        for i, (attention, cross, feed_forward) in enumerate(self.decoder):
            x = attention.step(x, state["self"][i], t)
            x = feed_forward(cross.step(x, state["cross"][i], state["mask"]))
        state["t"] = t + 1
        return F.linear(self.decoder_norm(x[:, 0]), self.embedding.weight, self.bias)

    def reorder(self, rows, state):
        t = state["t"]
        state["self"][..., :t, :] = state["self"][..., :t, :].index_select(2, rows)


# ---- recurrent -----------------------------------------------------------------------------------------------------


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.target = nn.Embedding(VOCABULARY, DIM), nn.Embedding(VOCABULARY, DIM)
        self.encoder = nn.GRU(DIM, SOURCE // 2, batch_first=True, bidirectional=True)
        self.first = nn.Linear(SOURCE, STATE)
        self.key, self.query = nn.Linear(SOURCE, SOURCE), nn.Linear(STATE, SOURCE, bias=False)
        self.score = nn.Linear(SOURCE, 1, bias=False)
        self.cell = nn.GRUCell(DIM + SOURCE, STATE)
        self.readout, self.to_embedding = nn.Linear(STATE + SOURCE + DIM, OUT), nn.Linear(OUT, DIM)
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))
        self.bias.data[END] = -1e4

    def start(self, source, beams, steps):
        keep = source != PAD
        features = self.encoder(self.source(source))[0]
        mean = (features * keep[..., None]).sum(1) / keep.sum(1, True)
        return {
            "pad": ~keep.repeat_interleave(beams, 0),
            "features": features.repeat_interleave(beams, 0),
            "keys": self.key(features).repeat_interleave(beams, 0),
            "hidden": self.first(mean).tanh().repeat_interleave(beams, 0),
        }

    def step(self, tokens, state):
        embedded, hidden = self.target(tokens), state["hidden"]
        scores = self.score((state["keys"] + self.query(hidden)[:, None]).tanh_())[..., 0]
        weights = scores.masked_fill(state["pad"], -math.inf).softmax(-1)
        context = torch.bmm(weights[:, None], state["features"])[:, 0]
        state["hidden"] = hidden = self.cell(torch.cat([embedded, context], -1), hidden)
        out = self.readout(torch.cat([hidden, context, embedded], -1)).tanh()
        return F.linear(self.to_embedding(out), self.target.weight, self.bias)

    def reorder(self, rows, state):
        state["hidden"] = state["hidden"].index_select(0, rows)


# ---- search --------------------------------------------------------------------------------------------------------


def log_probabilities(logits):
    log_p = logits.log_softmax(-1)
    log_p[:, PAD] = -math.inf
    log_p[:, BEGIN] = -math.inf
    return log_p


def greedy(model, source, steps):
    state = model.start(source, 1, steps)
    tokens = source.new_full((source.size(0),), BEGIN)
    score, found = torch.zeros(source.size(0), dtype=torch.double, device=source.device), []
    for _ in range(steps):
        best, tokens = log_probabilities(model.step(tokens, state)).max(-1)
        score = score + best
        found.append(tokens)
    return torch.stack(found, 1).cpu(), score.cpu()


def beam_search(model, source, steps, beams):
    sentences = source.size(0)
    state = model.start(source, beams, steps)
    tokens = source.new_full((sentences * beams,), BEGIN)
    score = torch.full((sentences, beams), -math.inf, device=source.device)
    score[:, 0] = 0
    first = torch.arange(0, sentences * beams, beams, device=source.device)[:, None]
    found, before = [], []
    for _ in range(steps):
        sums = score[..., None] + log_probabilities(model.step(tokens, state)).view(sentences, beams, -1)
        best, at = sums.flatten(1).topk(2 * beams, -1)
        token, beam = at % VOCABULARY, at // VOCABULARY
        going = (token == END).to(torch.uint8).sort(dim=-1, stable=True)[1][:, :beams]
        score, tokens = best.gather(1, going), token.gather(1, going).flatten()
        rows = (first + beam.gather(1, going)).flatten()
        model.reorder(rows, state)
        found.append(tokens)
        before.append(rows)
    found, before, score = torch.stack(found).cpu(), torch.stack(before).cpu(), score.cpu()
    rows = first[:, 0].cpu() + score.argmax(-1)
    best = []
    for t in reversed(range(steps)):
        best.append(found[t][rows])
        rows = before[t][rows]
    return torch.stack(best[::-1], 1), score


# ---- rows ----------------------------------------------------------------------------------------------------------


def measured(search, source, steps, rounds):
    times = []
    for i in range(rounds + 1):
        start = time.perf_counter()
        tokens, _ = search()  # ends with a copy to the host
        if i > 0:
            times.append(time.perf_counter() - start)
        assert tokens.shape == (source.size(0), steps) and not (tokens == END).any()
    median = sorted(times)[len(times) // 2]
    count = source.size(0) * steps
    return {
        "tokens_per_second": count / median,
        "best_tokens_per_second": count / min(times),
        "step_ms": 1e3 * median / steps,
        "seconds": times,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", default="64,1000")
    parser.add_argument("--only", default="")
    parser.add_argument("--ours")
    parser.add_argument("--json")
    a = parser.parse_args()
    ours = {}
    if a.ours:
        with open(a.ours) as file:
            report = json.load(file)
        assert (report["device"], report["steps"]) == (a.device, a.steps), "the report has another device or other steps"
        ours = {(row["model"], row["search"], row["sentences"]): row for row in report["rows"]}
    rows = []
    for name, maker in (("transformer", Transformer), ("recurrent", Recurrent)):
        if a.only not in name:
            continue
        torch.manual_seed(1)
        model = maker().to(a.device).eval()
        for sentences in map(int, a.sentences.split(",")):
            source = sources(sentences, a.device)
            for kind, beams in (("greedy", 1), ("beam 5", 5)):
                search = (
                    (lambda: greedy(model, source, a.steps))
                    if beams == 1
                    else (lambda: beam_search(model, source, a.steps, beams))
                )
                with torch.inference_mode():
                    row = {"model": name, "search": kind, "sentences": sentences}
                    row.update(measured(search, source, a.steps, a.rounds))
                own = ours.get((name, kind, sentences))
                if own:
                    row["ours_over_peer"] = own["tokens_per_second"] / row["tokens_per_second"]
                rows.append(row)
                print(
                    f"{name:12} {kind:8} {sentences:9} {row['tokens_per_second']:14.0f} {row['step_ms']:10.3f}"
                    + (f"   ours: {row['ours_over_peer']:.2f} times" if own else ""),
                    flush=True,
                )
    report = {"torch": torch.__version__, "device": a.device, "threads": torch.get_num_threads(), "steps": a.steps}
    report["rows"] = rows
    if a.json:
        with open(a.json, "w") as file:
            json.dump(report, file, indent=2)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
