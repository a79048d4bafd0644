#!/usr/bin/env python3
"""Records fp8.json on the CPU: float32 numbers rounded to PyTorch's two FP8 dtypes, and layers
whose operands and gradient are rounded to them as Transformer Engine does with current scaling and
powers of two, computed under bfloat16."""
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


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, name, scaled):
        return quantized(x, name, scaled)

    @staticmethod
    def backward(ctx, dy):
        return dy, None, None


class Gradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scaled):
        ctx.scaled = scaled
        return x.clone()

    @staticmethod
    def backward(ctx, dy):
        return Rounded.apply(dy, "e5m2", ctx.scaled), None


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


LAYERS = {  # shapes of input and weight, whether there is a bias, and the function
    "linear": ((6, 9), (4, 9), True, F.linear),
    "linear, rank 3": ((2, 3, 9), (4, 9), False, F.linear),
    "conv1d": ((2, 3, 7), (4, 3, 3), True, F.conv1d),
    "conv2d": ((2, 3, 5, 4), (4, 3, 3, 2), True, F.conv2d),
    "conv2d, groups": ((2, 4, 5, 4), (4, 2, 3, 2), False,
                       lambda x, weight: F.conv2d(x, weight, stride=2, groups=2)),
    "conv2d, 1 x 1": ((2, 3, 2, 4), (4, 3, 1, 1), True, F.conv2d),
    "conv_transpose2d": ((2, 3, 3, 4), (3, 4, 2, 2), True, F.conv_transpose2d),
    "conv_transpose1d": ((2, 3, 5), (3, 4, 2), True, F.conv_transpose1d),
}


def layer(name, scaled, size):
    """A layer's result y, its gradients for the cotangent dy, and the gradients with respect to
    dy and weight of the sum of dx * v: the second order, as a gradient penalty has it."""
    generator = torch.Generator().manual_seed(5)

    def leaf(*shape):  # of many magnitudes, so that without a scale small ones are lost
        values = torch.randn(shape, generator=generator)
        return (values * size * 2.0 ** torch.randint(-8, 3, shape, generator=generator)).requires_grad_()

    shape, kernel, has_bias, call = LAYERS[name]
    x, weight, bias = leaf(*shape), leaf(*kernel), leaf(4)
    low = Rounded.apply(x.bfloat16(), "e4m3", scaled), Rounded.apply(weight, "e4m3", scaled).bfloat16()
    # in float32, which holds each product exactly, and rounded once
    product = call(low[0].float(), low[1].float()).bfloat16()
    y = Gradient.apply(product, scaled)
    if has_bias:
        y = y + bias.bfloat16().view(-1, *(1,) * (len(kernel) - 2))
    dy = (torch.randn(y.shape, generator=generator) * size).bfloat16().requires_grad_()
    leaves = [x, weight] + [bias] * has_bias
    made = torch.autograd.grad(y, leaves, dy, create_graph=True)
    v = torch.randn(shape, generator=generator)
    second = torch.autograd.grad((made[0] * v).sum(), [dy, weight])
    return {"layer": name, "scaled": scaled, "shapes": [list(shape), list(kernel)],
            "x": bits(x), "weight": bits(weight), "bias": bits(bias) if has_bias else None,
            "dy": bits(dy), "v": bits(v), "y": bits(y), "dx": bits(made[0]),
            "dweight": bits(made[1]), "dbias": bits(made[2]) if has_bias else None,
            "ddy": bits(second[0]), "d2weight": bits(second[1])}


def record():
    tables = []
    for name in FORMATS:
        x = numbers(name)
        tables.append({"format": name, "x": bits(x), "rounded": bits(rounded(x, name))})
    layers = [layer(name, scaled, size) for name in LAYERS
              for scaled, size in ((True, 1.0), (True, 1e-4), (False, 1.0), (False, 1e-2))]
    return {"formats": tables, "layers": layers}


recording.run(__file__, record)
