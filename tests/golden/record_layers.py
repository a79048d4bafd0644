#!/usr/bin/env python3
"""Records layers.json: single layers of torch.nn, what print() shows of them, and what they compute.

Each record: "source", "printed", the shapes of "input" and "output", "state" (name to shape), and
"results" (but for some layers) by how they were run:

  "float64", "float16", "bfloat16": layer and input in this dtype
  "autocast float16", "autocast bfloat16": an input in this dtype, under autocast on the CPU
  "autocast float16 of float32", ...: an input in float32

A result has the "dtype" and, but for the last kind, "output", "input" (its gradient) and the
"gradients" of the parameters. Value i of the input is 7 sin(0.9 i), the cotangent cos(0.6 i), each
rounded to sixteenths, which every dtype holds; parameters are the waves of networks.py, rounded to
sixty-fourths.
"""
import warnings

import torch
from torch import nn  # noqa: F401, for the sources

import recording
from networks import put_waves

LAYERS = [
    ("nn.Softmax(dim=1)", (4, 6)),
    ("nn.Softmax(-2)", (2, 3, 4)),
    ("nn.Softmax()", (4, 6)),
    ("nn.Softmax()", (3, 4, 2)),
    ("nn.LogSoftmax(dim=1)", (4, 6)),
    ("nn.LogSoftmax(0)", (4, 6)),
    ("nn.Softmin(dim=-1)", (4, 6)),
    ("nn.Softmax2d()", (2, 3, 2, 2)),
    ("nn.LogSigmoid()", (4, 6)),
    ("nn.ReLU6()", (4, 6)),
    ("nn.Mish()", (4, 6)),
    ("nn.SELU()", (4, 6)),
    ("nn.CELU()", (4, 6)),
    ("nn.Hardsigmoid()", (4, 12)),
    ("nn.CELU(0.75)", (4, 6)),
    ("nn.Hardswish()", (4, 12)),
    ("nn.Hardshrink()", (4, 6)),
    ("nn.Hardshrink(lambd=3)", (4, 12)),
    ("nn.Softshrink()", (4, 6)),
    ("nn.Softshrink(0.3)", (4, 6)),
    ("nn.Tanhshrink()", (4, 6)),
    ("nn.Softsign()", (4, 6)),
    ("nn.Threshold(0.1, 20)", (4, 6)),
    ("nn.Threshold(threshold=-2.5, value=0.3)", (4, 6)),
    ("nn.GLU()", (4, 6)),
    ("nn.GLU(dim=1)", (2, 4, 3)),
    ("nn.RMSNorm(6)", (4, 6)),
    ("nn.RMSNorm([3, 4], 0.01)", (2, 3, 4)),
    ("nn.RMSNorm(4, elementwise_affine=False)", (2, 3, 4)),
    ("nn.LocalResponseNorm(3)", (2, 5, 2, 3)),
    ("nn.LocalResponseNorm(4, alpha=0.5, beta=0.5, k=2)", (2, 5, 3)),
    ("nn.LocalResponseNorm(2, 0.25)", (1, 4, 2, 2)),
    ("nn.AdaptiveMaxPool1d(3)", (2, 3, 7)),
    ("nn.AdaptiveMaxPool2d(2)", (2, 2, 4, 6)),
    ("nn.AdaptiveMaxPool2d((2, 3))", (1, 2, 5, 7)),
    ("nn.MaxPool1d(3, 2, ceil_mode=True)", (2, 3, 8)),
    ("nn.MaxPool1d(4, 3, ceil_mode=True)", (2, 3, 3)),
    ("nn.MaxPool2d(2, ceil_mode=True)", (2, 2, 5, 7)),
    ("nn.MaxPool2d((3, 2), stride=(2, 3), padding=1, ceil_mode=True)", (2, 2, 6, 7)),
    ("nn.MaxPool2d(2, 3, 1, ceil_mode=True)", (1, 2, 4, 5)),
    ("nn.MaxPool1d(3, 1, 1, 2)", (2, 3, 8)),
    ("nn.MaxPool1d(2, dilation=3)", (2, 3, 7)),
    ("nn.MaxPool2d(2, dilation=2)", (2, 2, 5, 7)),
    ("nn.MaxPool2d((3, 2), (2, 1), (1, 0), dilation=(2, 3), ceil_mode=True)", (2, 2, 6, 7)),
    ("nn.AvgPool1d(2, 2, 1, count_include_pad=False)", (2, 3, 6)),
    ("nn.AvgPool1d(3, ceil_mode=True)", (2, 3, 7)),
    ("nn.AvgPool2d(2, ceil_mode=True)", (2, 2, 5, 7)),
    ("nn.AvgPool2d(2, 3, 1, True, False)", (1, 2, 4, 6)),
    ("nn.AvgPool2d((3, 2), (2, 1), 1, True)", (1, 2, 6, 4)),
    ("nn.AvgPool2d(2, ceil_mode=True)", (2, 2, 4, 6)),
    ("nn.AvgPool2d(2, count_include_pad=False)", (2, 2, 4, 6)),
    ("nn.AvgPool2d(2, 1, 1, divisor_override=3)", (1, 2, 3, 4)),
    ("nn.Upsample(scale_factor=2, mode='bilinear')", (2, 2, 3, 4)),
    ("nn.Upsample(scale_factor=(3, 1), mode='bilinear', align_corners=False)", (1, 2, 3, 4)),
    ("nn.Upsample(scale_factor=(3, 2), mode='bilinear', align_corners=True)", (1, 2, 3, 4)),
    ("nn.Upsample((2, 9), mode='bilinear', align_corners=True)", (2, 2, 1, 3)),
    ("nn.Upsample(scale_factor=1.5)", (2, 2, 4, 5)),
    ("nn.Upsample((7, 4))", (1, 2, 3, 5)),
    ("nn.Upsample(scale_factor=(1.25, 2))", (1, 2, 3, 2)),
    ("nn.Upsample(scale_factor=2.3)", (1, 2, 3, 2)),
    ("nn.Upsample(scale_factor=2.3, mode='bilinear')", (1, 2, 3, 2)),
    ("nn.Upsample(scale_factor=(1.25, 0.5), mode='bilinear')", (2, 2, 3, 4)),
    ("nn.Upsample((5, 3), mode='bilinear')", (1, 2, 3, 4)),
    ("nn.Upsample((5, 3), mode='bilinear', align_corners=True)", (1, 2, 3, 4)),
    ("nn.Upsample((1, 6), mode='bilinear', align_corners=True)", (1, 2, 3, 4)),
    ("nn.Upsample(scale_factor=2, mode='bicubic')", (2, 2, 3, 4)),
    ("nn.Upsample(scale_factor=(2.7, 0.6), mode='bicubic')", (1, 2, 3, 4)),
    ("nn.Upsample((4, 7), mode='bicubic', align_corners=True)", (1, 2, 3, 5)),
    ("nn.Upsample(scale_factor=(1.25, 2), mode='bicubic')", (1, 2, 3, 2)),
    ("nn.Upsample(3, mode='bicubic')", (1, 2, 1, 2)),
    ("nn.UpsamplingNearest2d(size=(5, 6))", (1, 2, 2, 3)),
    ("nn.UpsamplingBilinear2d(scale_factor=1.5)", (1, 2, 3, 4)),
    ("nn.UpsamplingNearest2d(scale_factor=2)", (2, 2, 2, 3)),
    ("nn.UpsamplingBilinear2d((6, 4))", (2, 2, 3, 4)),
    ("nn.ZeroPad1d(2)", (2, 3, 4)),
    ("nn.ZeroPad2d(1)", (1, 2, 3, 4)),
    ("nn.ZeroPad2d((1, 0, 2, 3))", (1, 2, 3, 4)),
    ("nn.ConstantPad1d((0, 3), 2)", (2, 3, 4)),
    ("nn.ConstantPad2d(padding=(1, 2, 0, 1), value=-0.3)", (1, 2, 3, 4)),
    ("nn.ReflectionPad1d((3, 1))", (2, 3, 4)),
    ("nn.ReflectionPad2d(2)", (1, 2, 3, 4)),
    ("nn.ReflectionPad2d((3, 0, 1, 2))", (1, 2, 3, 4)),
    ("nn.ReplicationPad1d(2)", (2, 3, 4)),
    ("nn.ReplicationPad2d((4, 1, 0, 5))", (1, 2, 3, 4)),
    ("nn.CircularPad1d((3, 1))", (2, 3, 4)),
    ("nn.CircularPad2d(2)", (1, 2, 3, 4)),
    ("nn.CircularPad2d((4, 0, 1, 3))", (1, 2, 3, 4)),
    ("nn.PixelShuffle(2)", (2, 8, 2, 3)),
    ("nn.PixelUnshuffle(downscale_factor=2)", (2, 2, 4, 6)),
    ("nn.ChannelShuffle(2)", (2, 6, 2, 2)),
    ("nn.Softplus(beta=2, threshold=3)", (4, 6)),
    ("nn.Softplus(0.25)", (4, 6)),
    ("nn.Softplus(beta=-0.5, threshold=1.5)", (4, 6)),
    ("nn.Upsample(scale_factor=2)", (2, 3, 4)),
    ("nn.Upsample(scale_factor=1.5)", (2, 3, 5)),
    ("nn.Upsample(scale_factor=3, mode='linear')", (2, 3, 4)),
    ("nn.Upsample(7, mode='linear', align_corners=True)", (2, 3, 4)),
    ("nn.Upsample(scale_factor=1.5, mode='linear')", (2, 3, 5)),
    ("nn.Upsample((9,))", (2, 3, 4)),
    ("nn.Upsample(scale_factor=(2.5,), mode='linear')", (2, 3, 4)),
    ("nn.BatchNorm1d(6, eps=0.01, track_running_stats=False)", (4, 6)),
    ("nn.SyncBatchNorm(3, track_running_stats=False)", (2, 3, 2, 2)),
    ("nn.SyncBatchNorm(3, 1e-05, 0.1, True, False, None)", (2, 3, 2, 2)),
]

# Of these only the text: in place, gradients of 16 bits come from results that were rounded, what is
# dropped is drawn, and models.json has what products compute.
TEXTS = [
    ("nn.ReLU6(inplace=True)", (4, 6)),
    ("nn.Mish(True)", (4, 6)),
    ("nn.SELU(inplace=True)", (4, 6)),
    ("nn.CELU(0.75, inplace=True)", (4, 6)),
    ("nn.Hardsigmoid(inplace=True)", (4, 6)),
    ("nn.Hardswish(True)", (4, 6)),
    ("nn.Threshold(0.1, 20, inplace=True)", (4, 6)),
    ("nn.Dropout1d(0.25)", (2, 3, 4)),
    ("nn.Dropout2d(inplace=True)", (2, 3, 4, 5)),
    ("nn.AlphaDropout(p=0.1)", (4, 6)),
    ("nn.FeatureAlphaDropout(0.25)", (2, 3, 4)),
    ("nn.RReLU()", (4, 6)),
    ("nn.RReLU(0.1, 0.3, inplace=True)", (4, 6)),
    ("nn.ConvTranspose1d(2, 4, 4, 3, padding=1, output_padding=2, groups=2)", (2, 2, 5)),
]


def rounded(values, parts):
    return (values * parts).round() / parts


def leaves(shape, count_of):
    count = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return rounded(count_of(count), 16).reshape(shape)


def made(source, shape, layer_dtype, input_dtype, autocast=None):
    """One run: the layer, its input and its output."""
    layer = eval(source).double()
    put_waves(layer)
    with torch.no_grad():
        for value in layer.parameters():
            value.copy_(rounded(value, 64))
    layer = layer.to(layer_dtype)
    x = leaves(shape, lambda i: 7 * (0.9 * i).sin()).to(input_dtype).requires_grad_()
    with torch.autocast("cpu", dtype=autocast or torch.bfloat16, enabled=autocast is not None):
        return layer, x, layer(x.clone())  # which may be in place


def result(layer, x, y):
    y.backward(leaves(y.shape, lambda i: (0.6 * i).cos()).to(y.dtype))
    return {"dtype": str(y.dtype).removeprefix("torch."),
            "output": y.double().flatten().tolist(), "input": x.grad.double().flatten().tolist(),
            "gradients": {name: value.grad.double().flatten().tolist()
                          for name, value in layer.named_parameters()}}


def record(source, shape, computed):
    layer = eval(source)
    results = results_of(source, shape) if computed else {}
    output = made(source, shape, torch.float32, torch.float32)[2]
    return {"source": source, "printed": str(layer), "input": list(shape),
            "output": list(output.shape),
            "state": {name: list(value.shape) for name, value in layer.state_dict().items()},
            "results": results}


def results_of(source, shape):
    results = {}
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        try:
            results[str(dtype).removeprefix("torch.")] = result(*made(source, shape, dtype, dtype))
        except NotImplementedError:  # an avg_pool3d of float16
            pass
    for low in (torch.float16, torch.bfloat16):
        name = "autocast " + str(low).removeprefix("torch.")
        results[name] = result(*made(source, shape, torch.float32, low, low))
        wide = made(source, shape, torch.float32, torch.float32, low)[2].dtype
        results[name + " of float32"] = {"dtype": str(wide).removeprefix("torch.")}
    return results


def layers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Softmax without dim, weights that are wider than the input
        return {"layers": [record(*each, True) for each in LAYERS] +
                [record(*each, False) for each in TEXTS]}


# Kernels of another processor may round a value of bfloat16 the other way.
recording.run(__file__, layers, bound=lambda row: 2 ** -7, title=lambda row: row["source"])
