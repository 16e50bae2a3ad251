"""peers_classify.py --data <folder of the trees> [--ours <run folder>...] [--steps <n>] [--threads <n>]: the training step of
recipes/sst2-recurrent.yaml in PyTorch 2.x eager.

The same model (embedding, bidirectional GRU, additive attention with a learned query, linear layer), the same phrases, batches
of the same size and order of lengths, clipping, Adam, and the moving average of the weights. Examples per second of the
steps alone; with --ours the ratio to results.json of a run of `heed train recipes/sst2-recurrent.yaml`.
"""

import argparse
import gzip
import json
import os
import random
import re
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DIM, STATE, TOKENS, DROPOUT = 128, 128, 1000, 0.5


def phrases_of(path):
    """Distinct phrases with a binary label, lowercased."""
    found, seen = [], set()
    for line in gzip.open(path, "rt", encoding="utf-8"):
        stack = []
        for token in re.findall(r"\(|\)|[^\s()]+", line):
            if token == "(":
                stack.append([])
            elif token == ")":
                label, *parts = stack.pop()
                words = [word for part in parts for word in part]
                if label != "2":
                    phrase = (tuple(words), int(label in "34"))
                    if phrase not in seen:
                        seen.add(phrase)
                        found.append(phrase)
                if stack:
                    stack[-1].append(words)
            elif stack[-1]:
                stack[-1].append([token.lower()])
            else:
                stack[-1].append(token)
    return found


def batches_of(phrases):
    """Pools of 100 batches sorted by length, split by tokens with padding, in random order."""
    random.seed(1)
    phrases = list(phrases)
    random.shuffle(phrases)
    mean = sum(len(words) + 1 for words, _ in phrases) / len(phrases)
    pool, all_batches = int(100 * TOKENS / mean), []
    for first in range(0, len(phrases), pool):
        some, batch = sorted(phrases[first:first + pool], key=lambda one: len(one[0])), []
        for phrase in some:
            if batch and (len(batch) + 1) * (len(phrase[0]) + 1) > TOKENS:
                all_batches.append(batch)
                batch = []
            batch.append(phrase)
        all_batches.append(batch)
    random.shuffle(all_batches)
    return all_batches


def tensors_of(batch, ids):
    length = max(len(words) for words, _ in batch)
    tokens = torch.zeros(len(batch), length, dtype=torch.long)
    for row, (words, _) in enumerate(batch):
        tokens[row, :len(words)] = torch.tensor([ids[word] for word in words])
    return tokens, torch.tensor([label for _, label in batch])


class Classifier(nn.Module):
    def __init__(self, vocabulary, packed):
        super().__init__()
        self.packed = packed
        self.embedding = nn.Embedding(vocabulary, DIM, padding_idx=0)
        self.encoder = nn.GRU(DIM, STATE, bidirectional=True, batch_first=True)
        self.hidden = nn.Linear(2 * STATE, 2 * STATE)
        self.query = nn.Linear(2 * STATE, 1, bias=False)
        self.output = nn.Linear(2 * STATE, 2)

    def forward(self, tokens):
        x = F.dropout(self.embedding(tokens), DROPOUT, self.training)
        keep = tokens != 0
        if self.packed:
            lengths = keep.sum(1)
            states, _ = self.encoder(nn.utils.rnn.pack_padded_sequence(x, lengths, True, enforce_sorted=False))
            states, _ = nn.utils.rnn.pad_packed_sequence(states, True, total_length=tokens.shape[1])
        else:
            states, _ = self.encoder(x)
        scores = self.query(torch.tanh(self.hidden(states))).squeeze(2)
        weights = scores.masked_fill(~keep, -torch.inf).softmax(1)
        context = torch.bmm(weights.unsqueeze(1), states).squeeze(1)
        return self.output(F.dropout(context, DROPOUT, self.training))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--ours", nargs="*", default=[])
    parser.add_argument("--steps", type=int, default=0, help="0: a whole epoch")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    phrases = phrases_of(os.path.join(given.data, "train.trees.txt.gz"))
    ids = {}
    for words, _ in phrases:
        for word in words:
            ids.setdefault(word, len(ids) + 4)
    batches = batches_of(phrases)
    print(f"torch {torch.__version__}, {given.threads} threads, load {os.getloadavg()[0]:.1f}: {len(phrases)} phrases, {len(ids)} words, "
          f"{len(batches)} batches")
    best = 0
    for name, packed in {"packed": True, "padded": False}.items():
        torch.manual_seed(1)
        model = Classifier(len(ids) + 4, packed)
        adam = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        average = [p.detach().clone() for p in model.parameters()]
        rates = []
        for batch in batches[:given.steps or None]:
            tokens, labels = tensors_of(batch, ids)
            start = time.perf_counter()
            adam.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(tokens), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
            adam.step()
            torch._foreach_lerp_(average, [p.detach() for p in model.parameters()], 0.001)
            rates.append((time.perf_counter() - start, len(batch)))
        seconds, examples = sum(s for s, _ in rates), sum(n for _, n in rates)
        best = max(best, examples / seconds)
        print(f"  eager, {name} encoder: {examples / seconds:7.0f} examples/s, median step "
              f"{1e3 * statistics.median(s for s, _ in rates):.1f} ms, epoch {seconds * len(phrases) / examples:.1f} s, loss {loss.item():.3f}")
    for folder in given.ours:
        with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
            ours = json.load(file)
        print(f"  {folder}: {ours['examples_per_second']:.0f} examples/s, {ours['threads']} threads: "
              f"{ours['examples_per_second'] / best:.2f}x of the faster one")


if __name__ == "__main__":
    main()
