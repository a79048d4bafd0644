#!/usr/bin/env python3
"""What PyTorch makes of the preset fashion-cnn, in FP32 and AMP: test accuracy after each epoch, seed by seed.

    tests/bench/fashion_cnn.py [FOLDER] [SEEDS] [EPOCHS]

FOLDER has the four files of Fashion-MNIST, plain or .gz; by default the one of Debian's package
dataset-fashion-mnist. Compare with
halfscope-cli run --preset fashion-cnn --epochs EPOCHS --seed N --out DIR (accuracy in summary.json).
"""
import sys

import torch
from mnist_mlp import split
from torch import nn

DEBIAN = "/usr/share/datasets/fashion-mnist"


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25),
        nn.Linear(1568, 128), nn.ReLU(),
        nn.Linear(128, 10))  # fmt: skip


def accuracy(model, cast, x, y):
    model.eval()
    with torch.no_grad(), cast:
        right = sum((model(a).argmax(1) == b).sum() for a, b in zip(x.split(500), y.split(500)))
    model.train()
    return right.item() / len(y)


def train(seed, amp, epochs, x, y, test_x, test_y):
    torch.manual_seed(seed)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", enabled=amp)
    cast = torch.autocast("cpu", torch.float16, enabled=amp)
    accuracies = []
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            with cast:
                loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        accuracies.append(accuracy(model, cast, test_x, test_y))
    return accuracies


def pictures(folder, start):
    x, y = split(folder, start)
    return x.reshape(-1, 1, 28, 28), y


def main():
    given = dict(enumerate(sys.argv[1:]))
    folder, seeds, epochs = given.get(0, DEBIAN), int(given.get(1, 5)), int(given.get(2, 2))
    train_set, test_set = pictures(folder, "train"), pictures(folder, "t10k")
    for name, amp in (("fp32", False), ("amp-fp16", True)):
        last = []
        for seed in range(seeds):
            accuracies = train(seed, amp, epochs, *train_set, *test_set)
            last.append(accuracies[-1])
            each = ", ".join(f"{100 * part:.2f} %" for part in accuracies)
            print(f"{name}, seed {seed}: {each}", flush=True)
        print(f"{name}, PyTorch {torch.__version__}: {100 * sum(last) / len(last):.2f} % on average")


if __name__ == "__main__":
    main()
