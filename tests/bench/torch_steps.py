#!/usr/bin/env python3
"""What PyTorch makes of the bench's small networks: milliseconds of a training step.

    tests/bench/torch_steps.py [--only NAME] [--threads N] [--rounds N] [--no-compile]

Rows: checkerboard-64-w256 and checkerboard-128-w256 (the whole picture in each step), and
mlp-784-256-10, mnist-cnn and fashion-cnn on batches of 64 in memory; with fused Adam; eager, in
channels_last and compiled; FP32 and autocast to bfloat16 (autocast to float16 takes minutes on
most CPUs: --float16). All ways take turns by round, so that a slow minute of the machine hits all
of them alike; the median round counts. Compare with halfscope-cli bench --device cpu --only NAME.
"""
import argparse
import contextlib
import statistics
import time

import fashion_cnn
import torch
from torch import nn

ROUND_SECONDS = 0.05


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))


def mnist_cnn():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(),
        nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10))


def checkerboard():
    layers, channels = [], 2
    for _ in range(3):
        layers += [nn.Conv2d(channels, 256, 1), nn.BatchNorm2d(256), nn.ReLU()]
        channels = 256
    return nn.Sequential(*layers, nn.Conv2d(channels, 1, 1))


def digits(*sample):
    return torch.rand(64, *sample), torch.randint(0, 10, (64,)), nn.CrossEntropyLoss()


def picture(side):
    # drawn at random: the time does not depend on what is learnt
    target = torch.randint(0, 2, (1, 1, side, side)).float()
    return torch.rand(1, 2, side, side), target, nn.MSELoss()


NETWORKS = {
    "checkerboard-64-w256": (checkerboard, lambda: picture(64)),
    "checkerboard-128-w256": (checkerboard, lambda: picture(128)),
    "mlp-784-256-10": (mlp, lambda: digits(784)),
    "mnist-cnn": (mnist_cnn, lambda: digits(1, 28, 28)),
    "fashion-cnn": (fashion_cnn.network, lambda: digits(1, 28, 28)),
}


class Way:
    """One network in one way, as many steps in a round as take ROUND_SECONDS."""

    def __init__(self, row, way, dtype):
        network, data = NETWORKS[row]
        self.names, self.dtype, self.times = (row, way, dtype), dtype, []
        torch.manual_seed(0)
        model, (self.x, self.target, self.loss) = network(), data()
        if way == "channels_last":
            model = model.to(memory_format=torch.channels_last)
            self.x = self.x.to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        self.scaler = torch.amp.GradScaler("cpu", enabled=dtype == "float16")
        self.forward = torch.compile(self.scored) if way == "compiled" else self.scored
        self.model, self.steps = model, 1
        for _ in range(3):  # compiles; touches all memory
            one = self.seconds()
        self.steps = max(1, int(ROUND_SECONDS / one))

    def scored(self, x, target):
        return self.loss(self.model(x), target)

    def autocast(self):
        if self.dtype == "float32":
            return contextlib.nullcontext()
        return torch.autocast("cpu", getattr(torch, self.dtype))

    def seconds(self):
        start = time.perf_counter()
        for _ in range(self.steps):
            self.optimizer.zero_grad(set_to_none=True)
            with self.autocast():
                loss = self.forward(self.x, self.target)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        return (time.perf_counter() - start) / self.steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="rows whose name holds this text")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--no-compile", action="store_true", help="where there is no C++ compiler")
    parser.add_argument("--float16", action="store_true", help="autocast to float16 too")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    kinds = ["eager", "channels_last"] + ([] if options.no_compile else ["compiled"])
    dtypes = ["float32", "bfloat16"] + (["float16"] if options.float16 else [])
    print(f"PyTorch {torch.__version__}, {options.threads} threads, {options.rounds} rounds")
    for row in NETWORKS:
        if options.only not in row:
            continue
        ways = [Way(row, kind, dtype) for dtype in dtypes for kind in kinds
                if kind != "channels_last" or not row.startswith("mlp")]
        for _ in range(options.rounds):
            for way in ways:
                way.times.append(way.seconds())
        for way in ways:
            row, kind, dtype = way.names
            print(f"{row:21} {dtype:9} {kind:14} {1e3 * statistics.median(way.times):8.3f} ms/step"
                  f" {1e3 * min(way.times):8.3f} fastest")


if __name__ == "__main__":
    main()
