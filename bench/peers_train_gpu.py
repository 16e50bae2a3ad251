#!/usr/bin/env python3
"""Training on a GPU next to eager PyTorch, one after the other on one machine: the recipes multi30k-transformer and
multi30k-recurrent, and models of the same sizes in PyTorch on batches of the same corpus.

    bench/peers_train_gpu.py <data.root> <heed> [--steps 1500] [--seconds 15] [--json out.json] [key=value ...]

<data.root> is the folder of the recipe, <heed> the program; key=value goes to `heed train`. Steps of heed are counted
without validations, as results.json does; the first ones, in which steps are recorded, are included. Prints one line for
each and a table last. The peer's batches lie on the GPU before it is timed; ours are made and copied in every step.
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY = 9700  # of the recipes' joint tokenizer
PIECES_PER_WORD = 1.15
DEVICE = 'cuda'


def lengths(path):
    with gzip.open(path, 'rt') as lines:
        return [max(2, int(len(line.split()) * PIECES_PER_WORD) + 1) for line in lines]


def batches(source, target, tokens):
    """Sorted by length, cut by tokens of the larger side, shuffled."""
    order = sorted(range(len(source)), key=lambda i: (target[i], source[i]))
    made, batch, widest = [], [], 0
    for i in order:
        wider = max(widest, source[i], target[i])
        if batch and wider * (len(batch) + 1) > tokens:
            made.append(batch)
            batch, wider = [], max(source[i], target[i])
        batch.append(i)
        widest = wider
    made.append(batch)
    random.Random(1).shuffle(made)
    return made


def tensors(batch, source, target):
    """Random ids of the real lengths; 0 is padding."""
    s_len = torch.tensor([source[i] for i in batch])
    t_len = torch.tensor([target[i] for i in batch])
    s = torch.randint(4, VOCABULARY, (len(batch), int(s_len.max())))
    t = torch.randint(4, VOCABULARY, (len(batch), int(t_len.max()) + 1))
    s[torch.arange(s.size(1))[None] >= s_len[:, None]] = 0
    t[torch.arange(t.size(1))[None] >= t_len[:, None] + 1] = 0
    return s.to(DEVICE), t.to(DEVICE), int(t_len.sum())


class Transformer(nn.Module):
    def __init__(self, dim=256, inner=512, heads=4, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, dim)
        self.transformer = nn.Transformer(dim, heads, layers, layers, inner, 0.3, batch_first=True)
        self.positions = nn.Parameter(torch.zeros(200, dim), requires_grad=False)

    def forward(self, source, target):
        def embedded(ids):
            return self.embedding(ids) * 16 + self.positions[:ids.size(1)]
        causal = nn.Transformer.generate_square_subsequent_mask(target.size(1), device=DEVICE)
        padding = source == 0
        out = self.transformer(embedded(source), embedded(target), tgt_mask=causal, src_key_padding_mask=padding,
                               memory_key_padding_mask=padding, tgt_is_causal=True)
        return out @ self.embedding.weight.t()


class Recurrent(nn.Module):
    def __init__(self, dim=256, state=512):
        super().__init__()
        self.source = nn.Embedding(VOCABULARY, dim)
        self.target = nn.Embedding(VOCABULARY, dim)
        self.encoder = nn.GRU(dim, state // 2, batch_first=True, bidirectional=True)
        self.cell = nn.GRUCell(dim + state, state)
        self.keys = nn.Linear(state, 256)
        self.query = nn.Linear(state, 256)
        self.to_score = nn.Linear(256, 1, bias=False)
        self.readout = nn.Linear(state + state + dim, dim)

    def forward(self, source, target):
        features, _ = self.encoder(self.source(source))
        keys, padding, hidden = self.keys(features), source == 0, features.mean(1)
        embedded, read = self.target(target), []
        for t in range(target.size(1)):
            scores = self.to_score(torch.tanh(keys + self.query(hidden)[:, None])).squeeze(-1)
            weights = scores.masked_fill(padding, float('-inf')).softmax(-1)
            context = torch.bmm(weights[:, None], features).squeeze(1)
            hidden = self.cell(torch.cat([embedded[:, t], context], -1), hidden)
            read.append(torch.cat([hidden, context, embedded[:, t]], -1))
        return self.readout(torch.stack(read, 1)) @ self.target.weight.t()


def peer(make, tokens, seconds, root):
    """Target tokens per second, milliseconds per step."""
    source, target = lengths(f'{root}/train.lc.norm.tok.en.gz'), lengths(f'{root}/train.lc.norm.tok.de.gz')
    model = make().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    data = [tensors(b, source, target) for b in batches(source, target, tokens)[:60]]
    done = steps = 0
    start = 0.0
    for i in range(100000):
        if i == 8:  # warm
            torch.cuda.synchronize()
            start, done, steps = time.perf_counter(), 0, 0
        s, t, count = data[i % len(data)]
        logits = model(s, t[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), t[:, 1:].flatten(), ignore_index=0, label_smoothing=0.1,
                               reduction='sum') / count
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        done += count
        steps += 1
        if i > 8 and i % 10 == 0:
            torch.cuda.synchronize()
            if time.perf_counter() - start > seconds:
                break
    torch.cuda.synchronize()
    took = time.perf_counter() - start
    return done / took, took / steps * 1e3


def ours(program, recipe, steps, root, more):
    """The same of `heed train`, from results.json. A development set of one pair keeps the rest short."""
    with tempfile.TemporaryDirectory() as folder:
        for language in ('en', 'de'):
            with gzip.open(f'{root}/val.lc.norm.tok.{language}.gz', 'rt') as lines, \
                    open(f'{folder}/one.{language}', 'w') as one:
                one.write(lines.readline())
        run = f'{folder}/run'
        command = [program, 'train', recipe, f'data.root={os.path.abspath(root)}', 'train.max_epochs=0',
                   f'train.max_steps={steps}', f'train.validate_every={10 * steps}', f'train.checkpoint_every={10 * steps}',
                   'train.schedule=inverse_sqrt(warmup_steps=900)', f'data.dev=[{folder}/one.en, {folder}/one.de]', 'data.test=[]',
                   'train.device=cuda', f'run.dir={run}', *more]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f'peers_train_gpu: {" ".join(command)} failed:\n{done.stdout[-3000:]}')
        with open(f'{run}/results.json') as file:
            results = json.load(file)
        speed = results['tokens_per_second']
        return speed, results['train_tokens'] / results['step'] / speed * 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('root')
    parser.add_argument('program')
    parser.add_argument('--steps', type=int, default=1500)
    parser.add_argument('--seconds', type=float, default=15)
    parser.add_argument('--json')
    parser.add_argument('settings', nargs='*')
    given = parser.parse_intermixed_args()
    recipes = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'recipes')
    rows = []
    for name, make, tokens in (('transformer', Transformer, 6000), ('recurrent', Recurrent, 2000)):
        recipe = f'{recipes}/multi30k-{name}.yaml'
        theirs = peer(make, tokens, given.seconds, given.root)
        row = {'model': name, 'peer_tokens_per_second': theirs[0], 'peer_ms': theirs[1]}
        print(f'{name}: eager {theirs[0] / 1e3:.1f}k target tokens/s, {theirs[1]:.2f} ms per step', flush=True)
        for mode in ('auto', 'false'):
            speed, ms = ours(given.program, recipe, given.steps, given.root, [f'train.capture={mode}', *given.settings])
            row |= {f'capture_{mode}_tokens_per_second': speed, f'capture_{mode}_ms': ms}
            print(f'{name}: heed, capture {mode}: {speed / 1e3:.1f}k target tokens/s, {ms:.2f} ms per step', flush=True)
        rows.append(row)
    print(f'\n{"model":12} {"eager":>8} {"heed":>8} {"ratio":>6} {"live":>8} {"ratio":>6}   thousand target tokens/s')
    for row in rows:
        eager, auto, live = (row[f'{key}_tokens_per_second'] for key in ('peer', 'capture_auto', 'capture_false'))
        print(f'{row["model"]:12} {eager / 1e3:8.1f} {auto / 1e3:8.1f} {auto / eager:6.2f} {live / 1e3:8.1f} {live / eager:6.2f}')
    if given.json:
        with open(given.json, 'w') as file:
            json.dump({'device': torch.cuda.get_device_name(), 'torch': torch.__version__, 'rows': rows}, file, indent=1)


if __name__ == '__main__':
    main()
