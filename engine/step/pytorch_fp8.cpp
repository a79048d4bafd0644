// The same rounding as core/fp8.h, put around PyTorch's own layers.
#include "engine/step/pytorch_fp8.h"

namespace halfscope {

const char* pythonFp8() {
    return R"(
class Rounded(torch.autograd.Function):
    """A tensor as an FP8 dtype holds it, scaled by a power of two for its greatest magnitude."""

    @staticmethod
    def forward(ctx, x, dtype, scaled):
        greatest, amax = torch.finfo(dtype).max, x.abs().max().double()
        scales = scaled and 0 < amax < float("inf")
        scale = torch.exp2(torch.floor(torch.log2(greatest / amax))).float() if scales else 1.0
        return (x.float() * scale).clamp(-greatest, greatest).to(dtype).float().div(scale).to(x.dtype)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None, None


class RoundedGradient(torch.autograd.Function):
    """The tensor itself, with a gradient that is rounded to E5M2."""

    @staticmethod
    def forward(ctx, x, scaled):
        ctx.scaled = scaled
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return Rounded.apply(gradient, torch.float8_e5m2, ctx.scaled), None


def in_fp8(call, scaled):
    """A function of F that multiplies numbers of FP8, by means of the ordinary function."""

    def multiply(x, weight, bias=None, *how, **named):
        x = Rounded.apply(x.bfloat16(), torch.float8_e4m3fn, scaled)
        weight = Rounded.apply(weight, torch.float8_e4m3fn, scaled)
        y = RoundedGradient.apply(call(x, weight, None, *how, **named), scaled)
        if bias is None:
            return y
        behind = (1,) * max(0, weight.dim() - 2)  # the axes behind the channels
        return y + bias.to(y.dtype).view(-1, *behind)

    return multiply


LAYERS = "linear", "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d"
PLAIN = {name: getattr(F, name) for name in LAYERS}


@contextlib.contextmanager
def functions(calls):
    """Has other functions in F, which the layers of nn call."""
    before = {name: getattr(F, name) for name in calls}
    for name, call in calls.items():
        setattr(F, name, call)
    try:
        yield
    finally:
        for name, call in before.items():
            setattr(F, name, call)


def fp8_of(lane):
    """Lets linear layers and convolutions multiply numbers of FP8, if the lane has it."""
    scaled = lane.get("fp8") == "dynamic"
    calls = {name: in_fp8(call, scaled) for name, call in PLAIN.items()}
    return functions(calls if "fp8" in lane else {})
)";
}

} // namespace halfscope
