"""classify_mechanisms.py --data <folder of the trees> [--program <heed>] [--json <file>] [--only <words>]: every score with every
alignment as the attention pooling of a classifier, one epoch on the sentences of the Stanford Sentiment Treebank.

Each combination is a run of `heed train` with one thread: accuracy and loss on the development set, seconds of training, and
the largest memory of the process. A combination that is refused is listed with its reason. Prints a Markdown table.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import tempfile

RECIPE = """task: classify
data:
  train: train.trees.txt.gz
  dev: dev.trees.txt.gz
  format: trees
  classes: ["negative: 0 1", "positive: 3 4"]
  ignore_labels: [2]
  lowercase: true
  tokenizer: words(min_count=2)
model:
  embedding: {dim: 64, dropout: 0.2}
  features: {kind: recurrent, dim: 64}
train: {max_epochs: 1, batch_tokens: 1000, lr: 0.003, schedule: cosine(warmup_steps=10), log_every: 20}
"""


def names(program, kind):
    cards = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout)
    return [card["name"] for card in cards if card["kind"] == kind]


def train(program, recipe, folder, changes):
    """Accuracy, loss, seconds, memory and path of a run of the recipe with changed values; or the reason why it is refused."""
    run_folder = os.path.join(folder, "run")
    command = [program, "--threads", "1", "train", recipe, *changes, f"run.dir={run_folder}", "--force", "--quiet"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    error = child.stderr.read()
    child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        reason = re.sub(r"^heed: ", "", error.strip().splitlines()[-1]) if error.strip() else f"status {status}"
        return {"refused": reason}
    with open(os.path.join(run_folder, "results.json"), encoding="utf-8") as file:
        results = json.load(file)
    with open(os.path.join(run_folder, "log.txt"), encoding="utf-8") as file:
        path = re.search(r"fused, kernel \w+|composed|stored|reference", file.read())
    return {"accuracy": results["dev"]["accuracy"], "loss": results["dev"]["loss"], "seconds": results["train_seconds"],
            "megabytes": usage.ru_maxrss / 1024, "path": path.group(0) if path else ""}


def report(rows, name, json_file):
    """Writes the rows as JSON, and prints them as a table of Markdown."""
    if json_file:
        with open(json_file, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    print(f"\n| {name} | accuracy | loss | seconds | MB | path |\n|---|---|---|---|---|---|")
    for row in rows:
        if "refused" in row:
            print(f"| {row[name]} | refused: {row['refused'].replace('|', chr(92) + '|')} | | | | |")
        else:
            print(f"| {row[name]} | {100 * row['accuracy']:.1f} | {row['loss']:.3f} | {row['seconds']:.1f} | {row['megabytes']:.0f} "
                  f"| {row['path']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--program", default="build/release/bin/heed")
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        recipe = os.path.join(folder, "recipe.yaml")
        with open(recipe, "w", encoding="utf-8") as file:
            file.write(RECIPE)
        for mechanism in ["mean", "fixed"] + [f"{score} + {align}" for score in names(given.program, "score")
                                              for align in names(given.program, "alignment")]:
            if given.only in mechanism:
                changes = [f"data.root={os.path.abspath(given.data)}", f"model.attention={mechanism}"]
                rows.append({"mechanism": mechanism, **train(given.program, recipe, folder, changes)})
                print(rows[-1], flush=True)
    report(rows, "mechanism", given.json)


if __name__ == "__main__":
    main()
