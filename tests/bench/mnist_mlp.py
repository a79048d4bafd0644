#!/usr/bin/env python3
"""What PyTorch makes of the preset mnist-mlp: test accuracy after each epoch, seed by seed.

    tests/bench/mnist_mlp.py FOLDER [SEEDS]

FOLDER has the four files of MNIST, plain or .gz. Compare with
halfscope-cli run --preset mnist-mlp --set data.path=FOLDER --seed N --out DIR (accuracy in summary.json).
"""
import gzip
import os
import sys

import numpy as np
import torch


def values(folder, name, header):
    path = os.path.join(folder, name)
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz")
    with opened as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def split(folder, start):
    x = values(folder, start + "-images-idx3-ubyte", 16).reshape(-1, 784)
    y = values(folder, start + "-labels-idx1-ubyte", 8)
    return torch.tensor(x.astype(np.float32) / 255), torch.tensor(y.astype(np.int64))


def train(seed, x, y, test_x, test_y):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    accuracies = []
    for _ in range(2):
        order = torch.randperm(len(x))
        for first in range(0, len(x), 64):
            batch = order[first : first + 64]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
        with torch.no_grad():
            accuracies.append((model(test_x).argmax(1) == test_y).float().mean().item())
    return accuracies


def main():
    folder, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    train_set, test_set = split(folder, "train"), split(folder, "t10k")
    last = []
    for seed in range(seeds):
        accuracies = train(seed, *train_set, *test_set)
        last.append(accuracies[-1])
        print(f"seed {seed}: " + ", ".join(f"{100 * each:.2f} %" for each in accuracies))
    print(f"PyTorch {torch.__version__}: {100 * sum(last) / len(last):.2f} % on average")


if __name__ == "__main__":
    main()
