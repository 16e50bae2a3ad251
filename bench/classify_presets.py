"""classify_presets.py [--program <heed>] [--json <file>] [--only <words>]: every preset as the attention of a classifier, one epoch.

A preset of one text and one of documents read the built-in reviews. One of several texts reads sentences about two things, generated
here: a text around a target, "the soup was", "good", ..., whose label is the opinion on the target alone, under the names that the
preset asks for. Half of the opinions on the other thing are the opposite, so counting words decides little. A preset that does not
fit texts is listed with its reason. Prints a Markdown table.
"""

import argparse
import json
import os
import random
import re
import resource
import tempfile

from classify_mechanisms import names, report, train

RECIPE = """task: classify
data: {train: reviews, reviews: {train: 8000, dev: 500}, lowercase: true}
model:
  embedding: {dim: 64}
  features: {kind: recurrent, dim: 64}
train: {max_epochs: 1, batch_tokens: 500, lr: 0.002, schedule: cosine(warmup_steps=10)}
"""
PAIRS = """task: classify
data: {train: train.tsv, dev: dev.tsv, label: label, header: true}
model:
  embedding: {dim: 64}
  features: {kind: recurrent, dim: 64, shared: true}
train: {max_epochs: 1, batch_tokens: 500, lr: 0.002, schedule: cosine(warmup_steps=10)}
"""
GOOD, BAD = ["good", "fresh", "lovely", "great"], ["bad", "stale", "awful", "poor"]
THINGS = ["soup", "wine", "garden", "waiter", "bed", "pool"]


def example(rng):
    """Label, what is left of the target, the target, what is right of it, the whole text, a question about the target."""
    target, other = rng.sample(THINGS, 2)
    positive, other_positive = rng.random() < 0.5, rng.random() < 0.5
    opinion, other_opinion = rng.choice(GOOD if positive else BAD), rng.choice(GOOD if other_positive else BAD)
    if rng.random() < 0.5:
        left, right = "the", f"was {opinion} but the {other} was {other_opinion}"
    else:
        left, right = f"the {other} was {other_opinion} but the", f"was {opinion}"
    return ["positive" if positive else "negative", left, target, right, f"{left} {target} {right}", f"how was the {target}"]


def write(folder, name, count, seed):
    rng = random.Random(seed)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("label\tleft\ttarget\tright\ttext\tquestion\n")
        for _ in range(count):
            file.write("\t".join(example(rng)) + "\n")


def columns(reason):
    """data.text for the texts that a refusal asks for; empty if it asks for none."""
    found = re.search(r"which needs the texts ([a-z_0-9, ]+);", reason)
    if not found:
        return ""
    asked = found.group(1).split(", ")
    own = ["left", "target", "right"] if len(asked) == 3 else ["text", "question"] if len(asked) == 2 else []
    return "[" + ", ".join(f"{name}={column}" for name, column in zip(asked, own)) + "]" if own else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/heed")
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        recipe, pairs = os.path.join(folder, "recipe.yaml"), os.path.join(folder, "pairs.yaml")
        for path, text in [(recipe, RECIPE), (pairs, PAIRS)]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        write(folder, "train.tsv", 8000, 1)
        write(folder, "dev.tsv", 500, 2)
        for preset in names(given.program, "preset"):
            if given.only not in preset:
                continue
            attention = ["model.attention={preset: " + preset + "}"]
            row = train(given.program, recipe, folder, attention)
            if "data.sentences" in row.get("refused", ""):
                row = train(given.program, recipe, folder, attention + ["data.sentences=rule", "model.features=embedding"])
            elif "classes" in row.get("refused", ""):
                row = train(given.program, recipe, folder, ["model.attention={structure: capsule(classes=2)}", "model.output=capsule"])
            elif columns(row.get("refused", "")):
                row = train(given.program, pairs, folder, attention + [f"data.root={folder}", "data.text=" + columns(row["refused"])])
            rows.append({"preset": preset, **row})
            print(json.dumps(rows[-1]), flush=True)
    report(rows, "preset", given.json)


if __name__ == "__main__":
    main()
