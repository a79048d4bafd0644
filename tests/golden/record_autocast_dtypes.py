#!/usr/bin/env python3
"""Records autocast_dtypes.json: the dtype of each function's result under autocast. The inputs are
all float32, all of the lower dtype, or only the first or the last is of the lower dtype. Two tables
are for CUDA and need a GPU, two are for the CPU."""
import torch
import torch.nn.functional as F

import recording


def normal(*shape):
    return lambda: torch.randn(shape)


def positive(*shape):  # within (0.1, 0.9), where every function here has a value
    return lambda: torch.rand(shape) * 0.8 + 0.1


A, B, IMAGE = normal(4, 4), normal(4, 4), normal(2, 4, 8, 8)
BATCH = normal(2, 4, 4)
X, Y = positive(4, 4), positive(4, 4)


def labels(where):
    return torch.tensor([0, 1, 2, 3], device=where)


def signs(where):
    return torch.tensor([1.0, -1.0, 1.0, -1.0], device=where)


def table(where):
    """function -> inputs, whose dtypes vary, and a call with them."""
    ops = {
        "matmul": ([A, B], torch.matmul),
        "mm": ([A, B], torch.mm),
        "bmm": ([BATCH, BATCH], torch.bmm),
        "addmm": ([A, A, B], torch.addmm),
        "mv": ([A, normal(4)], torch.mv),
        "addmv": ([normal(4), A, normal(4)], torch.addmv),
        "addbmm": ([A, BATCH, BATCH], torch.addbmm),
        "baddbmm": ([BATCH, BATCH, BATCH], torch.baddbmm),
        "linear": ([A, B], F.linear),
        "conv1d": ([normal(2, 4, 8), normal(4, 4, 3)], F.conv1d),
        "conv2d": ([IMAGE, normal(4, 4, 3, 3)], F.conv2d),
        "conv3d": ([normal(2, 4, 8, 8, 8), normal(4, 4, 3, 3, 3)], F.conv3d),
        "conv_transpose2d": ([IMAGE, normal(4, 4, 3, 3)], F.conv_transpose2d),
        "prelu": ([A, normal(1)], F.prelu),
        "chain_matmul": ([A, A, B], lambda *m: torch.linalg.multi_dot(m)),
        "scaled_dot_product_attention": ([BATCH, BATCH, BATCH], F.scaled_dot_product_attention),
        "einsum": ([A, B], lambda a, b: torch.einsum("ij,jk->ik", a, b)),
    }
    for name in ("exp expm1 log log10 log1p log2 reciprocal rsqrt sinh cosh tan acos asin erfinv "
                 "sqrt sin cos tanh sigmoid abs neg floor ceil round relu erf sign square frac "
                 "trunc").split():
        ops[name] = ([X], getattr(torch, name))
    ops |= {
        "pow": ([X], lambda x: torch.pow(x, 2)),
        "pow_tensor": ([X, Y], torch.pow),
        "rpow": ([X], lambda x: 2.0**x),
        "sum": ([A], torch.sum),
        "prod": ([A], torch.prod),
        "mean": ([A], torch.mean),
        "cumsum": ([A], lambda x: torch.cumsum(x, 0)),
        "cumprod": ([A], lambda x: torch.cumprod(x, 0)),
        "norm": ([A], torch.norm),
        "std": ([A], torch.std),
        "var": ([A], torch.var),
        "amax": ([A], torch.amax),
        "amin": ([A], torch.amin),
        "max": ([A], torch.max),
        "softmax": ([A], lambda x: F.softmax(x, -1)),
        "log_softmax": ([A], lambda x: F.log_softmax(x, -1)),
        "softmin": ([A], lambda x: F.softmin(x, -1)),
        "logsumexp": ([A], lambda x: torch.logsumexp(x, -1)),
    }
    for name in "softplus gelu leaky_relu silu elu hardtanh".split():
        ops[name] = ([A], getattr(F, name))
    ops |= {
        "layer_norm": ([A], lambda x: F.layer_norm(x, (4,))),
        "group_norm": ([IMAGE], lambda x: F.group_norm(x, 2)),
        "batch_norm": ([IMAGE], lambda x: F.batch_norm(x, None, None, training=True)),
        "instance_norm": ([IMAGE], F.instance_norm),
        "normalize": ([A], F.normalize),
        "cosine_similarity": ([A, B], F.cosine_similarity),
        "cdist": ([A, B], torch.cdist),
        "dist": ([A, B], torch.dist),
        "pdist": ([A], F.pdist),
        "renorm": ([A], lambda x: torch.renorm(x, 2, 0, 1.0)),
        "max_pool2d": ([IMAGE], lambda x: F.max_pool2d(x, 2)),
        "avg_pool2d": ([IMAGE], lambda x: F.avg_pool2d(x, 2)),
        "adaptive_avg_pool2d": ([IMAGE], lambda x: F.adaptive_avg_pool2d(x, 2)),
        "dropout": ([A], F.dropout),
    }
    for name in "mse_loss l1_loss smooth_l1_loss huber_loss".split():
        ops[name] = ([A, B], getattr(F, name))
    ops |= {
        "kl_div": ([A, Y], lambda x, y: F.kl_div(x, y, reduction="batchmean")),
        "soft_margin_loss": ([A, B], F.soft_margin_loss),
        "poisson_nll_loss": ([A, Y], F.poisson_nll_loss),
        "cosine_embedding_loss": ([A, B], lambda x, y: F.cosine_embedding_loss(x, y, signs(where))),
        "cross_entropy": ([A], lambda x: F.cross_entropy(x, labels(where))),
        "nll_loss": ([A], lambda x: F.nll_loss(x, labels(where))),
        "binary_cross_entropy": ([X, Y], F.binary_cross_entropy),
        "binary_cross_entropy_with_logits": ([A, Y], F.binary_cross_entropy_with_logits),
        "hinge_embedding_loss": ([A, B], F.hinge_embedding_loss),
        "margin_ranking_loss": ([normal(4), normal(4)],
                                lambda x, y: F.margin_ranking_loss(x, y, signs(where))),
        "triplet_margin_loss": ([A, B, A], F.triplet_margin_loss),
        "multilabel_soft_margin_loss": ([A, Y], F.multilabel_soft_margin_loss),
    }
    for name in "add sub mul div addcmul addcdiv atan2".split():
        ops[name] = ([X, Y, Y] if name.startswith("addc") else [X, Y], getattr(torch, name))
    zeros = torch.zeros(4, 4, dtype=torch.int64, device=where)
    ops |= {
        "cat": ([A, B], lambda *x: torch.cat(x)),
        "stack": ([A, B], lambda *x: torch.stack(x)),
        "bilinear": ([A, B, normal(3, 4, 4)], F.bilinear),
        "cross": ([normal(4, 3), normal(4, 3)], lambda x, y: torch.cross(x, y, dim=1)),
        "dot": ([normal(4), normal(4)], torch.dot),
        "tensordot": ([A, B], lambda x, y: torch.tensordot(x, y, 1)),
        "scatter_add": ([A, B], lambda x, y: torch.scatter_add(x, 0, zeros, y)),
        "index_put": ([A, normal(4)], lambda x, y: torch.index_put(x, (labels(where),), y)),
        "grid_sample": ([IMAGE, normal(2, 3, 3, 2)],
                        lambda x, grid: F.grid_sample(x, grid, align_corners=False)),
        "where": ([A, B], lambda x, y: torch.where(x > 0, x, y)),
        "maximum": ([A, B], torch.maximum),
        "clamp": ([A], lambda x: torch.clamp(x, 0, 1)),
        "lerp": ([A, B], lambda x, y: torch.lerp(x, y, 0.5)),
        "gru_cell": ([A, B, normal(12, 4), normal(12, 4)], torch.gru_cell),
        "lstm_cell": ([A, B, normal(4, 4), normal(16, 4), normal(16, 4)],
                      lambda x, h, c, w, u: torch.lstm_cell(x, (h, c), w, u)[0]),
    }
    return ops


def combinations(count):
    """Name -> which inputs are low."""
    yield "all_float32", [False] * count
    yield "all_low", [True] * count
    if count > 1:
        yield "first_low", [True] + [False] * (count - 1)
        yield "last_low", [False] * (count - 1) + [True]


def dtype_of(where, low, inputs, call):
    """"float32", or "error: " and the first line of what PyTorch says."""
    try:
        with torch.autocast(where, dtype=low):
            return str(call(*inputs).dtype).replace("torch.", "")
    except RuntimeError as error:
        return "error: " + str(error).splitlines()[0]


def dtypes(where, low):
    rows = {}
    for name, (inputs, call) in table(where).items():
        rows[name] = {}
        for combination, lows in combinations(len(inputs)):
            values = [make().to(where, low if is_low else torch.float32)
                      for make, is_low in zip(inputs, lows)]
            rows[name][combination] = dtype_of(where, low, values, call)
    return rows


def record():
    gpu = recording.device() is not None
    missing = {name: None for name in table("cpu")}
    return {"cuda_float16": dtypes("cuda", torch.float16) if gpu else missing,
            "cuda_bfloat16": dtypes("cuda", torch.bfloat16) if gpu else missing,
            "cpu_bfloat16": dtypes("cpu", torch.bfloat16),
            "cpu_float16": dtypes("cpu", torch.float16)}


recording.run(__file__, record)
