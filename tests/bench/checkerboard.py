#!/usr/bin/env python3
"""How PyTorch learns the checkerboard of the preset checkerboard-seed, in FP32 and AMP: the loss after the last step.

    tests/bench/checkerboard.py [SEEDS] [SIDE] [STEPS]

Trains 1 x 1 convolutions with batch norm on SIDE x SIDE pixels (512), STEPS steps (500), SEEDS times (3), on a GPU where
there is one. Needs a Python with PyTorch. Compare with
halfscope-cli run --preset checkerboard-seed --seed N --out DIR (the last losses in steps.csv).
"""
import sys

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WIDTH, SQUARES = 256, 8
torch.backends.cudnn.allow_tf32 = False


def picture(side):
    """The coordinates of the pixels from 0 to 1 as two channels, and the board."""
    steps = torch.arange(side)
    across, down = (steps / side).repeat(side, 1), (steps / side).repeat(side, 1).t()
    board = [(each * SQUARES / 2).fmod(1) > 0.5 for each in (across, down)]
    x, target = torch.stack([across, down]), (board[0] ^ board[1]).float()
    return x[None].to(DEVICE), target[None, None].to(DEVICE)


def network():
    layers, channels = [], 2
    for _ in range(3):
        layers += [nn.Conv2d(channels, WIDTH, 1), nn.BatchNorm2d(WIDTH), nn.ReLU()]
        channels = WIDTH
    return nn.Sequential(*layers, nn.Conv2d(WIDTH, 1, 1)).to(DEVICE)


def last_loss(seed, amp, side, steps):
    torch.manual_seed(seed)
    x, target = picture(side)
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler(DEVICE, enabled=amp)
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast(DEVICE, torch.float16, enabled=amp):
            loss = nn.functional.mse_loss(model(x), target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return loss.item()


def main():
    given = [int(each) for each in sys.argv[1:]]
    seeds, side, steps = given + [3, 512, 500][len(given) :]
    for amp in (False, True):
        losses = [last_loss(seed, amp, side, steps) for seed in range(seeds)]
        print("amp-fp16" if amp else "fp32", *(f"{each:.4f}" for each in losses), flush=True)


if __name__ == "__main__":
    main()
