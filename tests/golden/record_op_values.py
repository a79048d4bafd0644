#!/usr/bin/env python3
"""Records op_values.json on the CPU in float64: for each op its inputs, output, a cotangent, the
gradients, and the gradients of sum(gradient * vector), which are null where they are zero."""
import torch
import torch.nn.functional as F

import recording


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def uniform(*shape):
    return torch.rand(*shape, dtype=torch.float64)


def flat(values):
    return None if values is None else values.detach().flatten().tolist()


def row(op, attrs, inputs, compute):
    inputs = [x.requires_grad_() for x in inputs]
    output = compute(*inputs)
    cotangent = normal(*output.shape) if output.dim() else torch.ones_like(output)
    grads = torch.autograd.grad(output, inputs, cotangent, create_graph=True)
    vectors = [normal(*x.shape) for x in inputs]
    total = sum((grad * vector).sum() for grad, vector in zip(grads, vectors))
    second = [None] * len(inputs)
    if total.requires_grad:
        second = torch.autograd.grad(total, inputs, allow_unused=True)
    return {"op": op, "attrs": attrs,
            "inputs": [{"shape": list(x.shape), "data": flat(x)} for x in inputs],
            "output": {"shape": list(output.shape), "data": flat(output)},
            "cotangent": flat(cotangent), "grads": [flat(grad) for grad in grads],
            "second_order_vectors": [flat(vector) for vector in vectors],
            "second_order": [flat(x) for x in second]}


def conv2d(channels, outputs, kernel, stride, padding, dilation=1, groups=1):
    attrs = {"kernel": kernel, "stride": stride, "padding": padding, "dilation": dilation,
             "groups": groups}
    inputs = [normal(2, channels, 6, 5), normal(outputs, channels // groups, kernel, kernel),
              normal(outputs)]
    return row("conv2d", attrs, inputs,
               lambda x, w, b: F.conv2d(x, w, b, stride, padding, dilation, groups))


def products():
    yield row("matmul", {}, [normal(5, 4), normal(4, 3)], torch.matmul)
    yield row("linear", {}, [normal(5, 4), normal(3, 4), normal(3)], F.linear)
    for kernel, stride, padding in [(1, 1, 0), (3, 1, 1), (3, 2, 1), (2, 2, 0)]:
        yield conv2d(3, 4, kernel, stride, padding)


def norms():
    yield row("batch_norm", {"eps": 1e-5, "training": True},
              [normal(2, 3, 4, 4), normal(3), normal(3)],
              lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, 1e-5))
    yield row("layer_norm", {"eps": 1e-5}, [normal(4, 5), normal(5), normal(5)],
              lambda x, w, b: F.layer_norm(x, (5,), w, b, 1e-5))


def elementwise():
    functions = [("relu", F.relu), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid),
                 ("exp", torch.exp), ("softplus", F.softplus), ("gelu", F.gelu), ("silu", F.silu),
                 ("sin", torch.sin)]
    for name, function in functions:
        yield row(name, {}, [normal(3, 4)], function)
    for name, function in [("log", torch.log), ("sqrt", torch.sqrt)]:
        yield row(name, {}, [normal(3, 4).abs() + 0.1], function)


def rows_of_logits():
    functions = [("softmax", torch.softmax, 1), ("log_softmax", torch.log_softmax, 30),
                 ("logsumexp", torch.logsumexp, 300)]
    for name, function, factor in functions:
        yield row(name, {"dim": -1}, [normal(3, 5) * factor], lambda x: function(x, -1))


def pools():
    yield row("max_pool2d", {"kernel": 2}, [normal(1, 2, 4, 4)], lambda x: F.max_pool2d(x, 2))
    yield row("avg_pool2d", {"kernel": 2}, [normal(1, 2, 4, 4)], lambda x: F.avg_pool2d(x, 2))


def losses():
    labels = torch.randint(0, 5, (4,))
    entropy = lambda x: F.cross_entropy(x, labels)
    yield row("cross_entropy", {"labels": labels.tolist()}, [normal(4, 5)], entropy)
    yield row("cross_entropy", {"labels": labels.tolist(), "note": "huge logits"},
              [normal(4, 5) * 1000], entropy)
    target = normal(4, 3)
    yield row("mse_loss", {"target": target.tolist()}, [normal(4, 3)],
              lambda x: F.mse_loss(x, target))
    chance = uniform(4, 3)
    yield row("binary_cross_entropy_with_logits", {"target": chance.tolist()}, [normal(4, 3) * 20],
              lambda x: F.binary_cross_entropy_with_logits(x, chance))


def broadcasts():
    yield row("add_broadcast", {}, [normal(3, 1), normal(1, 4)], torch.add)
    yield row("mul_broadcast", {}, [normal(2, 3, 4), normal(4)], torch.mul)
    yield row("sub_broadcast", {}, [normal(3, 4), normal(3, 1)], torch.sub)
    yield row("div_broadcast", {}, [normal(3, 4), normal(4).abs() + 0.5], torch.div)


def shapes():
    yield row("sum_dim", {"dim": 1}, [normal(3, 4)], lambda x: x.sum(1))
    yield row("mean", {}, [normal(3, 4)], torch.mean)
    yield row("pow2", {"exponent": 2}, [normal(3, 4)], lambda x: x.pow(2))
    yield row("transpose", {}, [normal(3, 4)], lambda x: x.t())
    yield row("reshape", {"shape": [2, 6]}, [normal(3, 4)], lambda x: x.reshape(2, 6))
    yield row("cat", {"dim": 1}, [normal(2, 3), normal(2, 2)], lambda x, y: torch.cat([x, y], 1))
    yield row("slice", {"dim": 1, "begin": 1, "end": 3}, [normal(3, 4)], lambda x: x[:, 1:3])
    yield row("batch_gather", {"indices": [2, 0, 1]}, [normal(3, 4)],
              lambda x: x[torch.arange(3), [2, 0, 1]])


def convolutions():
    """Those with groups and dilation."""
    yield conv2d(4, 6, 3, 1, 1, groups=2)
    yield conv2d(3, 3, 3, 2, 1, groups=3)
    yield conv2d(3, 4, 3, 1, 2, dilation=2)
    yield conv2d(4, 8, 2, 1, 1, dilation=3, groups=4)
    how = {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}
    yield row("conv1d", how, [normal(2, 4, 9), normal(6, 2, 3), normal(6)],
              lambda x, w, b: F.conv1d(x, w, b, **how))
    more = {**how, "padding": 1, "output_padding": 1}
    yield row("conv_transpose2d", more, [normal(2, 4, 3, 4), normal(4, 3, 3, 3), normal(6)],
              lambda x, w, b: F.conv_transpose2d(x, w, b, **more))


def record():
    torch.manual_seed(11)
    rows = [*products(), *norms(), *elementwise(), *rows_of_logits(), *pools(),
            *losses(), *broadcasts(), *shapes(), *convolutions()]
    return {"cases": rows}


recording.run(__file__, record, bound=lambda row: 1e-12, least=1,
              title=lambda row: row["op"])
