#!/usr/bin/env python3
"""Records fp8.json on the CPU: float32 numbers rounded to PyTorch's two FP8 dtypes, and a linear
layer and a convolution whose operands and gradient are rounded to them as Transformer Engine does
with current scaling and powers of two, computed under bfloat16."""
import math

import torch
import torch.nn.functional as F

import recording

FORMATS = {"e4m3": (torch.float8_e4m3fn, 448.0), "e5m2": (torch.float8_e5m2, 57344.0)}


def bits(values):
    """Float32 values as integers, so that no digit is lost."""
    return values.detach().float().flatten().view(torch.int32).tolist()


def rounded(x, name):
    dtype, greatest = FORMATS[name]
    return x.clamp(-greatest, greatest).to(dtype).to(x.dtype)


def quantized(x, name, scaled):
    """x after scaling by a power of two for its greatest magnitude, rounding and scaling back."""
    amax, scale = x.abs().max().item(), 1.0
    if scaled and amax > 0:
        scale = 2.0 ** math.floor(math.log2(FORMATS[name][1] / amax))
    return rounded(x.float() * scale, name).div(scale).to(x.dtype)


class Operand(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scaled):
        return quantized(x, "e4m3", scaled)

    @staticmethod
    def backward(ctx, dy):
        return dy, None


class Gradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scaled):
        ctx.scaled = scaled
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return quantized(dy, "e5m2", ctx.scaled), None


def numbers(name):
    """All numbers of a format, those halfway between two of them, and their neighbours in float32."""
    dtype, greatest = FORMATS[name]
    own = torch.arange(256, dtype=torch.uint8).view(dtype).float()
    own = own[own.isfinite() & (own >= 0)].sort().values
    middle = (own[1:] + own[:-1]) / 2
    x = torch.cat([own, middle, torch.tensor([greatest * 1.01, greatest * 2, 1e30, 1e-30, 1e-42])])
    infinity = torch.tensor(math.inf)
    x = torch.cat([x, torch.nextafter(x, infinity), torch.nextafter(x, -infinity)])
    return torch.cat([x, -x])


def layer(name, scaled, size):
    generator = torch.Generator().manual_seed(5)

    def leaf(*shape):  # of many magnitudes, so that without a scale small ones are lost
        values = torch.randn(shape, generator=generator)
        return (values * size * 2.0 ** torch.randint(-8, 3, shape, generator=generator)).requires_grad_()

    shapes = {"linear": ((6, 9), (4, 9)), "conv2d": ((2, 3, 5, 4), (4, 3, 3, 2))}[name]
    x, weight, bias = leaf(*shapes[0]), leaf(*shapes[1]), leaf(4)
    low = Operand.apply(x.bfloat16(), scaled), Operand.apply(weight, scaled).bfloat16()
    # in float32, which holds each product exactly, and rounded once
    product = (F.linear if name == "linear" else F.conv2d)(low[0].float(), low[1].float()).bfloat16()
    product = Gradient.apply(product, scaled)
    y = product + (bias.bfloat16() if name == "linear" else bias.bfloat16()[:, None, None])
    dy = torch.randn(y.shape, generator=generator) * size
    y.backward(dy.bfloat16())
    return {"layer": name, "scaled": scaled, "shapes": [list(shapes[0]), list(shapes[1])],
            "x": bits(x), "weight": bits(weight), "bias": bits(bias), "dy": bits(dy.bfloat16()),
            "y": bits(y), "dx": bits(x.grad), "dweight": bits(weight.grad), "dbias": bits(bias.grad)}


def record():
    tables = []
    for name in FORMATS:
        x = numbers(name)
        tables.append({"format": name, "x": bits(x), "rounded": bits(rounded(x, name))})
    layers = [layer(name, scaled, size) for name in ("linear", "conv2d")
              for scaled, size in ((True, 1.0), (True, 1e-4), (False, 1.0), (False, 1e-2))]
    return {"formats": tables, "layers": layers}


recording.run(__file__, record)
