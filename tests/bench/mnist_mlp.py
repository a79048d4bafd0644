#!/usr/bin/env python3
"""What PyTorch makes of the preset mnist-mlp, in FP32 and AMP: test accuracy and seconds of an epoch.

    tests/bench/mnist_mlp.py FOLDER [SEEDS]

FOLDER has the four files of MNIST, plain or .gz. Adam is fused. Where torchvision is installed, what most programs do is
timed, too: its data set, of which each sample becomes a picture and a tensor again in every epoch, and Adam as it comes.
Compare with
halfscope-cli run --preset mnist-mlp --set data.path=FOLDER --seed N --out DIR (accuracy in summary.json).
"""
import gzip
import importlib.util
import os
import statistics
import sys
import tempfile
import time

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


class Raw:
    """The folder that torchvision's MNIST wants, with the files unpacked."""

    def __init__(self, folder):
        self.made = tempfile.TemporaryDirectory()
        raw = os.path.join(self.made.name, "MNIST", "raw")
        os.makedirs(raw)
        for start in ("train", "t10k"):
            for name in (start + "-images-idx3-ubyte", start + "-labels-idx1-ubyte"):
                with open(os.path.join(raw, name), "wb") as file:
                    file.write(values(folder, name, 0).tobytes())


def batches(x, y, loader):
    """Those of an epoch: by PyTorch's DataLoader, sample by sample, of tensors or of torchvision's data set, or by
    indices into the tensor."""
    if loader:
        data = torch.utils.data.TensorDataset(x, y)
        if isinstance(loader, Raw):
            from torchvision import datasets, transforms

            flat = transforms.Compose([transforms.ToTensor(), torch.flatten])
            data = datasets.MNIST(loader.made.name, train=True, transform=flat)
        yield from torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
        return
    order = torch.randperm(len(x))
    for first in range(0, len(x), 64):
        batch = order[first : first + 64]
        yield x[batch], y[batch]


def train(seed, amp, loader, x, y, test_x, test_y):
    """Returns the test accuracy after each epoch, and the seconds that the epochs took."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=not isinstance(loader, Raw))
    scaler = torch.amp.GradScaler("cpu", enabled=amp)
    cast = torch.autocast("cpu", torch.float16, enabled=amp)
    accuracies, seconds = [], 0.0
    for _ in range(2):
        begin = time.perf_counter()
        for some, labels in batches(x, y, loader):
            optimizer.zero_grad()
            with cast:
                loss = torch.nn.functional.cross_entropy(model(some), labels)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        seconds += time.perf_counter() - begin
        with torch.no_grad(), cast:
            accuracies.append((model(test_x).argmax(1) == test_y).float().mean().item())
    return accuracies, seconds


def main():
    folder, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    train_set, test_set = split(folder, "train"), split(folder, "t10k")
    ways = [("fp32", False, None), ("amp-fp16", True, None), ("fp32 with DataLoader", False, True)]
    if importlib.util.find_spec("torchvision"):
        ways.append(("fp32 with torchvision's MNIST", False, Raw(folder)))
    for name, amp, loader in ways:
        last, seconds = [], []
        for seed in range(seeds):
            accuracies, took = train(seed, amp, loader, *train_set, *test_set)
            last.append(accuracies[-1])
            seconds.append(took / len(accuracies))
            print(f"{name}, seed {seed}: " + ", ".join(f"{100 * each:.2f} %" for each in accuracies))
        print(
            f"{name}, PyTorch {torch.__version__}: {100 * sum(last) / len(last):.2f} % on average, "
            f"{statistics.median(seconds):.2f} s an epoch"
        )


if __name__ == "__main__":
    main()
