"""peers_train_step.py [--ours <file>] [--json <file>] [--full] [--threads <n>] [--only <words>]: the training steps of
bench_train_step in PyTorch 2.x eager.

The same model, sizes, batches and optimizer: forward, mean cross entropy over tokens, backward, gradient clipping, Adam.
Whatever does not depend on the state of the decoder is computed for all steps at once: keys, the part of the cell's input
that comes from embedded targets, readout and output layer. Alternatives in PyTorch are separate rows: the encoder over
packed or padded batches, the cell by hand or nn.GRUCell, Adam fused or not. The figures are compared with those of the
report --ours, which come from another process, so the timing is not interleaved: run the two alternately and check the
load. bench_train_step keeps freed memory (heed/torch_support/freed_memory.h); to give PyTorch the same, set
MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=1073741824 in the environment.
"""

import argparse
import json
import os
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

WORDS, EMBEDDING, SOURCE, STATE, HIDDEN, OUT = 8000, 256, 512, 512, 256, 256
BATCH, BATCHES = 64, 16
PAD = 0


# ---- batches -------------------------------------------------------------------------------------------------------


class Draws:
    """The random generator of bench_train_step: both have the same lengths and tokens."""

    def __init__(self):
        self.state = 1

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n


def batches():
    """Sentences of 4 to 24 tokens, sorted by length and split into batches, as bucketing does."""
    draws = Draws()
    pairs = []
    for _ in range(BATCH * BATCHES):
        source = 4 + sum(draws.below(6) for _ in range(4))
        pairs.append((source, max(3, source + draws.below(5) - 2)))
    pairs.sort()
    made = []
    for first in range(0, len(pairs), BATCH):
        some = pairs[first : first + BATCH]
        made.append([words_of(draws, [p[i] for p in some]) for i in (0, 1)])
    return made


def words_of(draws, lengths):
    """int64 [B, L], PAD after the last token."""
    rows = [[1 + draws.below(WORDS - 1) for _ in range(n)] + [PAD] * (max(lengths) - n) for n in lengths]
    return torch.tensor(rows)


# ---- the model -----------------------------------------------------------------------------------------------------


class Encoder(nn.Module):
    """A bidirectional GRU, packed or padded. Padded: the backward GRU reads each sentence reversed."""

    def __init__(self, packed):
        super().__init__()
        self.packed = packed
        if packed:
            self.gru = nn.GRU(EMBEDDING, SOURCE // 2, batch_first=True, bidirectional=True)
        else:
            self.ahead = nn.GRU(EMBEDDING, SOURCE // 2)
            self.back = nn.GRU(EMBEDDING, SOURCE // 2)

    def forward(self, rows, lengths):
        """[B, L, EMBEDDING] -> [B, L, SOURCE], and the backward state at the first token."""
        if self.packed:
            passed, last = self.gru(pack_padded_sequence(rows, lengths, batch_first=True, enforce_sorted=False))
            return pad_packed_sequence(passed, batch_first=True)[0], last[1]
        places = torch.arange(rows.shape[1])
        turned = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places).t()  # [L, B]
        rows = rows.transpose(0, 1)
        ahead, _ = self.ahead(rows)
        back, _ = self.back(rows.gather(0, turned[..., None].expand_as(rows)))
        back = back.gather(0, turned[..., None].expand_as(back))
        return torch.cat([ahead, back], -1).transpose(0, 1), back[0]


class Decoder(nn.Module):
    """c = Att(s, H), s <- GRU([y; c], s), t = tanh(W [s; y; c])   (Bahdanau et al., 2015)"""

    def __init__(self, by_hand):
        super().__init__()
        self.by_hand = by_hand
        self.start = nn.Linear(SOURCE // 2, STATE)
        self.from_query = nn.Linear(STATE, HIDDEN)
        self.from_keys = nn.Linear(SOURCE, HIDDEN, bias=False)
        self.to_scores = nn.Linear(HIDDEN, 1, bias=False)
        self.cell = nn.GRUCell(EMBEDDING + SOURCE, STATE)
        self.readout = nn.Linear(STATE + EMBEDDING + SOURCE, OUT)

    def attend(self, state, keys, source, masked):
        scores = self.to_scores(torch.tanh(self.from_query(state).unsqueeze(1) + keys)).squeeze(-1)  # [B, L]
        weights = torch.softmax(scores + masked, -1)
        return torch.bmm(weights.unsqueeze(1), source).squeeze(1)

    def forward(self, targets, source, masked, first):
        keys = self.from_keys(source)
        state = torch.tanh(self.start(first))
        by_step = targets.transpose(0, 1)
        cell = self.cell
        if self.by_hand:
            from_targets = F.linear(by_step, cell.weight_ih[:, :EMBEDDING], cell.bias_ih)  # [T, B, 3 STATE]
            by_context = cell.weight_ih[:, EMBEDDING:].t()
            steps = from_targets.unbind(0)  # indexing each step instead would give gradients of the full size
        else:
            steps = by_step.unbind(0)
        states, contexts = [], []
        for step in steps:
            context = self.attend(state, keys, source, masked)
            if self.by_hand:
                given = torch.addmm(step, context, by_context)
                own = F.linear(state, cell.weight_hh, cell.bias_hh)
                gates = torch.sigmoid(given[:, : 2 * STATE] + own[:, : 2 * STATE])
                reset, update = gates[:, :STATE], gates[:, STATE:]
                fresh = torch.tanh(torch.addcmul(given[:, 2 * STATE :], reset, own[:, 2 * STATE :]))
                state = torch.lerp(fresh, state, update)
            else:
                state = cell(torch.cat([step, context], 1), state)
            states.append(state)
            contexts.append(context)
        read = torch.cat([torch.stack(states, 1), targets, torch.stack(contexts, 1)], -1)
        return torch.tanh(self.readout(read))


class Translator(nn.Module):
    def __init__(self, packed, by_hand):
        super().__init__()
        self.from_source = nn.Embedding(WORDS, EMBEDDING)
        self.from_target = nn.Embedding(WORDS, EMBEDDING)
        self.encoder = Encoder(packed)
        self.decoder = Decoder(by_hand)
        self.output = nn.Linear(OUT, WORDS)

    def forward(self, source, before, target):
        """The mean loss over the tokens that are not padding."""
        lengths = (source != PAD).sum(1)
        masked = torch.zeros(source.shape).masked_fill(source == PAD, -torch.inf)
        encoded, first = self.encoder(self.from_source(source), lengths)
        outputs = self.decoder(self.from_target(before), encoded, masked, first)
        real = (target != PAD).flatten().nonzero().squeeze(1)
        scores = self.output(outputs.flatten(0, 1).index_select(0, real))
        return F.cross_entropy(scores, target.flatten().index_select(0, real), reduction="sum") / real.numel()


class TransformerTranslator(nn.Module):
    """Of the sizes of recipes/multi30k-transformer, norms before sublayers, one table of embeddings."""

    def __init__(self, selects):
        super().__init__()
        self.selects = selects  # whether the logits of padding are left out
        self.embedding = nn.Embedding(WORDS, EMBEDDING)
        self.transformer = nn.Transformer(EMBEDDING, 4, 3, 3, 512, 0.3, batch_first=True, norm_first=True)
        for layer in [*self.transformer.encoder.layers, *self.transformer.decoder.layers]:
            layer.self_attn.dropout = 0.0  # as in the recipe
            if hasattr(layer, "multihead_attn"):
                layer.multihead_attn.dropout = 0.0
        self.bias = nn.Parameter(torch.zeros(WORDS))
        self.register_buffer("positions", torch.randn(64, EMBEDDING))

    def forward(self, source, before, target):
        def embedded(ids):
            return self.embedding(ids) * 16 + self.positions[: ids.shape[1]]

        padding = source == PAD
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        outputs = self.transformer(embedded(source), embedded(before), tgt_mask=causal, src_key_padding_mask=padding,
                                   memory_key_padding_mask=padding, tgt_is_causal=True).flatten(0, 1)
        wanted, tokens = target.flatten(), (target != PAD).sum()
        if self.selects:
            real = (wanted != PAD).nonzero().squeeze(1)
            outputs, wanted = outputs.index_select(0, real), wanted.index_select(0, real)
        scores = F.linear(outputs, self.embedding.weight, self.bias)
        return F.cross_entropy(scores, wanted, ignore_index=PAD, reduction="sum", label_smoothing=0.1) / tokens


class Training:
    def __init__(self, make, fused):
        torch.manual_seed(1)
        self.model = make()
        self.adam = torch.optim.Adam(self.model.parameters(), lr=3e-4, fused=fused)

    def step(self, batch):
        source, target = batch
        before = torch.cat([torch.ones_like(target[:, :1]), target[:, :-1]], 1)
        before = before.masked_fill(target == PAD, PAD)
        self.adam.zero_grad(set_to_none=True)
        loss = self.model(source, before, target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.adam.step()
        return loss


# ---- timing --------------------------------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours")
    parser.add_argument("--json")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="rows whose names contain this text")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    some = batches()[1::4]
    words = sum(int((target != PAD).sum()) for _, target in some)
    ways = {
        name: Training(make, fused)
        for name, (make, fused) in {
            "recurrent: packed encoder, cell by hand, Adam fused": (lambda: Translator(True, True), True),
            "recurrent: padded encoder, cell by hand, Adam fused": (lambda: Translator(False, True), True),
            "recurrent: padded encoder, nn.GRUCell, Adam fused": (lambda: Translator(False, False), True),
            "recurrent: padded encoder, cell by hand, Adam": (lambda: Translator(False, True), False),
            "transformer: nn.Transformer, Adam fused": (lambda: TransformerTranslator(True), True),
            "transformer: nn.Transformer, logits of padding too": (lambda: TransformerTranslator(False), True),
        }.items()
        if given.only in name
    }
    times = {name: [] for name in ways}
    losses = {}
    for turn in range(-1, 15 if given.full else 5):
        for name, training in ways.items():
            began = time.perf_counter()
            for batch in some:
                loss = training.step(batch)
            if turn >= 0:
                times[name].append(time.perf_counter() - began)
            losses[name] = loss.item()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}, {words} words in {len(some)} steps")
    rows = []
    for name, all_times in times.items():
        middle, least = sorted(all_times)[len(all_times) // 2], min(all_times)
        rows.append({"name": name, "least_ms": 1e3 * least / len(some), "median_ms": 1e3 * middle / len(some),
                     "words_per_second": words / middle, "best_words_per_second": words / least,
                     "rounds": len(all_times), "loss": losses[name]})
    rows.sort(key=lambda row: -row["best_words_per_second"])
    for row in rows:
        print(f"  {row['name']:<52} {row['least_ms']:8.1f} ms least {row['median_ms']:8.1f} median"
              f" {row['words_per_second']:8.0f} words/s (best {row['best_words_per_second']:.0f})  loss {row['loss']:.4f}")
    if given.ours:
        compare(given.ours, rows)
    if given.json:
        with open(given.json, "w") as file:
            json.dump({"torch": torch.__version__, "threads": torch.get_num_threads(), "load": os.getloadavg()[0],
                       "words": words, "steps": len(some), "rows": rows}, file, indent=1)


def compare(path, rows):
    """rows: the fastest first."""
    with open(path) as file:
        ours = json.load(file)
    for race in ours["races"]:
        model = "transformer" if "transformer" in race["name"] else "recurrent"
        best = next((row for row in rows if row["name"].startswith(model)), None)
        for figure in race["figures"]:
            if best and figure["name"] == "words per second":
                print(f"  {model}: heed {figure['value']:.0f} words/s (median {figure['median']:.0f}), torch"
                      f" {ours['machine']['torch']}: {figure['value'] / best['best_words_per_second']:.2f}x of {best['name']}"
                      f" (medians {figure['median'] / best['words_per_second']:.2f}x)")


if __name__ == "__main__":
    main()
