#!/usr/bin/env python3
"""Records class_weights.json: F.cross_entropy(x, target, weight=..., label_smoothing=...) and its
gradient with respect to x, in float64 on the CPU. The last class has no sample.

Value i of x is 3 sin(0.7 i + 1), of the target (3 i + 1) % 4.
"""
import math

import torch
from torch.nn import functional as F

import recording

SAMPLES, WEIGHTS = 7, [0.25, 3.0, 1.5, 10.0, 0.125]


def recorded(smoothing):
    classes = len(WEIGHTS)
    values = [3 * math.sin(0.7 * i + 1) for i in range(SAMPLES * classes)]
    x = torch.tensor(values, dtype=torch.float64).reshape(SAMPLES, classes).requires_grad_()
    target = (3 * torch.arange(SAMPLES) + 1) % 4
    weight = torch.tensor(WEIGHTS, dtype=torch.float64)
    loss = F.cross_entropy(x, target, weight=weight, label_smoothing=smoothing)
    loss.backward()
    return {"samples": SAMPLES, "weights": WEIGHTS, "smoothing": smoothing, "loss": loss.item(),
            "gradient": x.grad.flatten().tolist()}


def record():
    return {"cases": [recorded(smoothing) for smoothing in (0.0, 0.1, 1.0)]}


recording.run(__file__, record, bound=lambda row: 1e-12,
              title=lambda row: f"smoothing {row['smoothing']}")
