#!/usr/bin/env python3
"""Records language_model.json: one step of a small causal transformer that predicts every character
of its samples, in float64 on the CPU. Loss and gradients of
F.cross_entropy(model(x).flatten(0, 1), target.flatten()), without label smoothing and with it.

Parameters are the waves of networks.py; value i of x is (5 i) % 7, of the target (3 i + 1) % 7.
"""
import torch
from torch import nn
from torch.nn import functional as F

import recording
from networks import CausalTransformerEncoderLayer, put_waves  # noqa: F401, for the source

SAMPLES, LENGTH, CLASSES = 3, 5, 7


class PositionalEmbedding(nn.Module):
    """Adds a vector to each position."""

    def __init__(self, num_positions, embedding_dim):
        super().__init__()
        self.embedding = nn.Embedding(num_positions, embedding_dim)

    def forward(self, x):
        return x + self.embedding.weight[: x.shape[1]]


LAYER = "CausalTransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True, norm_first=True)"
SOURCE = (f"nn.Sequential(nn.Embedding({CLASSES}, 8), PositionalEmbedding({LENGTH}, 8), {LAYER}, "
          f"{LAYER}, nn.LayerNorm(8), nn.Linear(8, {CLASSES}))")


def recorded(smoothing):
    model = eval(SOURCE).double()
    put_waves(model)
    count = torch.arange(SAMPLES * LENGTH).reshape(SAMPLES, LENGTH)
    x, target = (5 * count) % CLASSES, (3 * count + 1) % CLASSES
    loss = F.cross_entropy(model(x).flatten(0, 1), target.flatten(), label_smoothing=smoothing)
    loss.backward()
    gradients = {name: value.grad.flatten().tolist() for name, value in model.named_parameters()}
    return {"source": SOURCE, "samples": SAMPLES, "length": LENGTH, "classes": CLASSES,
            "smoothing": smoothing, "loss": loss.item(), "gradients": gradients}


def record():
    return {"cases": [recorded(smoothing) for smoothing in (0.0, 0.1)]}


recording.run(__file__, record, bound=lambda row: 1e-12,
              title=lambda row: f"smoothing {row['smoothing']}")
