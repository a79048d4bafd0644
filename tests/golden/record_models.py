#!/usr/bin/env python3
"""Records models.json: models as PyTorch prints them, with their state dicts, shapes and starts.

Each record: "source" (the text that programmers write), "printed" (print(model)), "state" (name to
shape, without num_batches_tracked), "input" and "output" shapes, and for every drawn parameter the
largest magnitude over many draws, which approaches the bound of the uniform rule. Models of indices
have "indices", how many there are. "printed" is null where print() leaves arguments out. "cleared": the
rows that begin with zeros, by parameter, where there are any.

"values": outputs and gradients in float64. Parameters are the waves of networks.py; value i of the
input is (5 i) % indices, or sin(0.9 i); the gradients are those of the sum of output i times
cos(0.6 i).
"""
from collections import OrderedDict  # noqa: F401, for the sources

import torch
from torch import nn

import recording
from networks import (CausalTransformerEncoderLayer, MaskedMean,  # noqa: F401, for the sources
                      PaddedSequential, put_waves)

SOURCES = [
    ("nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))", (4, 10)),
    ("nn.Sequential(nn.Conv2d(2, 256, 1), nn.BatchNorm2d(256), nn.ReLU(), nn.Conv2d(256, 1, 1))",
     (1, 2, 8, 8)),
    ("nn.Sequential(OrderedDict([('conv1', nn.Conv2d(1, 4, 5, padding=2)), ('act', nn.GELU()), "
     "('pool', nn.AvgPool2d(2)), ('flat', nn.Flatten()), ('head', nn.Linear(4 * 49, 10))]))",
     (3, 1, 14, 14)),
    ("nn.Sequential(nn.Sequential(nn.Linear(6, 8, bias=False), nn.LayerNorm(8), nn.SiLU()), "
     "nn.Sequential(nn.Dropout(0.25), nn.Linear(8, 2)))", (5, 6)),
    ("nn.Sequential(nn.Unflatten(1, (1, 4, 4)), nn.Conv2d(1, 6, (3, 1), stride=(2, 1), bias=False), "
     "nn.GroupNorm(3, 6), nn.LeakyReLU(0.2, inplace=True), nn.MaxPool2d(2, stride=1, padding=1), "
     "nn.Upsample(scale_factor=2), nn.AdaptiveAvgPool2d((2, 1)), nn.Flatten(1, -1), "
     "nn.BatchNorm1d(12, eps=1e-3, momentum=0.01, affine=False), nn.Identity())", (3, 16)),
    ("nn.Sequential(nn.LeakyReLU(), nn.ELU(), nn.ELU(0.5, inplace=True), nn.GELU(), "
     "nn.GELU(approximate='tanh'), nn.SiLU(inplace=True), nn.Tanh(), nn.Sigmoid(), nn.Softplus(), nn.Hardtanh(), "
     "nn.Hardtanh(0., 6., inplace=True), nn.Hardswish(), nn.ReLU(inplace=True))", (2, 3)),
    ("nn.Sequential(nn.LayerNorm((3, 4), eps=1e-6), nn.LayerNorm(4, elementwise_affine=False), "
     "nn.Upsample(size=(9, 8), mode='nearest'))", (2, 3, 3, 4)),
    ("nn.Sequential()", (2, 3)),
    ("nn.Sequential(nn.ConvTranspose2d(3, 5, (3, 2), stride=2, padding=1, output_padding=(1, 0)), "
     "nn.ConvTranspose2d(5, 2, 4, bias=False))", (2, 3, 4, 5)),
    ("nn.Sequential(nn.InstanceNorm2d(3), nn.InstanceNorm2d(3, eps=1e-3, affine=True), "
     "nn.GroupNorm(1, 3, bias=False), nn.BatchNorm2d(3, bias=False))",
     (2, 3, 4, 5)),
    ("nn.Sequential(nn.Conv1d(2, 4, 3, stride=2, padding=1), nn.InstanceNorm1d(4, affine=True), "
     "nn.Conv1d(4, 5, (2,), bias=False))", (3, 2, 9)),
    ("nn.Sequential(nn.Embedding(11, 6), nn.Flatten(), nn.Linear(30, 2))", (4, 5), 11),
    ("nn.Sequential(nn.Embedding(7, 8), nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True))",
     (3, 5), 7),
    ("nn.Sequential(nn.TransformerEncoderLayer(8, 4, dim_feedforward=10, dropout=0.0, "
     "activation='gelu', layer_norm_eps=1e-3, batch_first=True, norm_first=True), "
     "nn.TransformerEncoderLayer(8, 1, 6, 0.0, batch_first=True, bias=False))", (2, 3, 8), 0),
    ("nn.Sequential(nn.Embedding(11, 6, padding_idx=-3), nn.Flatten(), nn.Linear(30, 2))", (4, 5), 11),
    ("nn.Sequential(nn.Embedding(7, 8, padding_idx=0), "
     "CausalTransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True))", (3, 5), 7),
    ("nn.Sequential(CausalTransformerEncoderLayer(8, 4, dim_feedforward=10, dropout=0.0, "
     "activation='gelu', batch_first=True, norm_first=True, bias=False))", (2, 4, 8), 0),
    ("nn.Sequential(nn.Conv2d(2, 3, (3, 5), padding='same'), nn.PReLU(3), nn.Conv2d(3, 2, 1, "
     "padding='same', bias=False), nn.PReLU(init=0.1), nn.Conv2d(2, 1, 2, padding='valid'), "
     "nn.Flatten(2), nn.Conv1d(1, 2, 3, padding='same'))", (2, 2, 4, 5), 0),
    ("PaddedSequential(nn.Embedding(7, 6, padding_idx=0), nn.Tanh(), MaskedMean(), nn.Linear(6, 2))",
     (4, 5), 7),
    ("nn.Sequential(PaddedSequential(nn.Embedding(7, 8, padding_idx=3), "
     "nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True), "
     "nn.TransformerEncoderLayer(8, 4, 10, 0.0, 'gelu', batch_first=True, norm_first=True), "
     "MaskedMean()), nn.Linear(8, 2))", (4, 5), 7),
    # samples of nothing but padding
    ("PaddedSequential(nn.Embedding(7, 8, padding_idx=0), "
     "nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True), nn.Linear(8, 2))", (2, 3), 1),
    ("nn.Sequential(nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2, bias=False), nn.ReLU(), "
     "nn.Conv2d(8, 8, 3, 1, 1, 1, 8), nn.Conv2d(8, 6, 1), nn.Conv2d(6, 12, (3, 2), groups=6), "
     "nn.Conv2d(12, 6, 1), nn.ReLU(), nn.Conv2d(6, 3, 1, groups=3))", (2, 4, 9, 8), 0),
    ("nn.Sequential(nn.Conv2d(2, 4, (3, 2), padding='same', dilation=(1, 2)), "
     "nn.Conv2d(4, 2, 3, padding=(2, 3), dilation=(2, 3), groups=2, bias=False), nn.Flatten(2), "
     "nn.Conv1d(2, 4, 3, 2, 4, 3, 2), nn.Conv1d(4, 2, 3, padding='same', dilation=5))",
     (2, 2, 4, 5), 0),
    ("nn.Sequential(nn.ConvTranspose2d(4, 6, (3, 2), 2, 1, (1, 0), 2, False, (2, 3)), "
     "nn.ConvTranspose2d(6, 6, 2, dilation=2, groups=6))", (2, 4, 3, 4), 0),
    # output_padding below the dilation only, by up to two strides, inside and beyond what is cut off
    ("nn.Sequential(nn.ConvTranspose2d(4, 6, 3, dilation=2, output_padding=1), nn.ConvTranspose2d(6, 2, "
     "(2, 3), (1, 2), padding=(1, 0), output_padding=(2, 4), dilation=(3, 5)))", (2, 4, 3, 4), 0),
    ("nn.Sequential(nn.Conv2d(2, 3, (2, 4), padding='same'), nn.Flatten(2), "
     "nn.Conv1d(3, 2, 4, padding='same', dilation=3))", (2, 2, 4, 5), 0),
    ("nn.Sequential(nn.InstanceNorm2d(3, affine=True, track_running_stats=True), nn.Flatten(2), "
     "nn.InstanceNorm1d(3, momentum=0.3, track_running_stats=True))", (2, 3, 4, 5)),
    ("nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, padding_mode='reflect'), "
     "nn.Conv2d(3, 2, (3, 4), (1, 2), (1, 2), bias=False, padding_mode='circular'), "
     "nn.Conv2d(2, 2, (2, 4), padding='same', padding_mode='replicate'))", (2, 2, 5, 6), 0),
    ("nn.Sequential(nn.Conv1d(2, 3, 3, 1, 2, padding_mode='reflect'), nn.Conv1d(3, 2, 4, padding='same', "
     "padding_mode='circular'), nn.ConvTranspose1d(2, 4, 4, 2, 1, 1), nn.ConvTranspose1d(4, 2, 3, "
     "padding=1, output_padding=1, groups=2, bias=False, dilation=2), "
     "nn.BatchNorm1d(2, track_running_stats=False))", (2, 2, 7), 0),
    ("nn.Sequential(nn.EmbeddingBag(7, 4), nn.Linear(4, 2))", (4, 5), 7),
    ("nn.Sequential(nn.EmbeddingBag(7, 4, mode='sum'), nn.Linear(4, 2))", (4, 5), 7),
    ("nn.Sequential(nn.BatchNorm1d(3, momentum=None), nn.SyncBatchNorm(3), "
     "nn.BatchNorm1d(3, track_running_stats=False))", (4, 3)),
]


def values(source, shape, indices):
    """Of one model, see above."""
    model = eval(source).double()
    put_waves(model)
    count = torch.arange(torch.Size(shape).numel())
    x = (5 * count) % indices if indices else (0.9 * count.double()).sin()
    output = model(x.reshape(shape))
    flat = output.flatten()
    (flat * (0.6 * torch.arange(len(flat), dtype=torch.float64)).cos()).sum().backward()
    gradients = {name: value.grad.flatten().tolist() for name, value in model.named_parameters()}
    return {"output": flat.tolist(), "gradients": gradients}


def record(source, shape, indices=None):
    torch.manual_seed(1)
    model = eval(source)
    output = model(torch.randint(0, indices, shape) if indices else torch.randn(*shape))
    state = {name: list(value.shape) for name, value in model.state_dict().items()
             if not name.endswith("num_batches_tracked")}
    largest = {}
    for _ in range(200):
        again = eval(source)
        for name, value in again.named_parameters():
            if value.min() < value.max() or value.numel() == 1:
                top = max(largest.get(name, 0.0), value.abs().max().item())
                largest[name] = top
    whole = "TransformerEncoderLayer" not in source
    row = {"source": source, "printed": str(model) if whole else None, "state": state,
           "input": list(shape), "output": list(output.shape), "largest": largest}
    cleared = {name: [i for i, part in enumerate(value) if not part.any()]
               for name, value in model.named_parameters() if name in largest and value.dim() == 2}
    cleared = {name: rows for name, rows in cleared.items() if rows}
    if cleared:
        row["cleared"] = cleared
    if indices is not None:
        row |= {"indices": indices, "values": values(source, shape, indices)}
    return row


def models():
    return {"models": [record(*each) for each in SOURCES]}


recording.run(__file__, models, bound=lambda row: 1e-12 if "values" in row else 0,
              title=lambda row: row["source"] if isinstance(row, dict) else "")
