#!/usr/bin/env python3
"""Records half_optimizers.json on the CPU: parameters that are stored in 16 bits themselves, under
optimizers. PyTorch rounds to 16 bits after every operation of an update, so that Adam's epsilon is
zero in float16: the first parameter, whose gradient is always zero, becomes nan."""
import torch

import recording

PARAMETERS, STEPS = 8, 12
OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}),
    ("Adam", {"lr": 1e-3}),
    ("Adam", {"lr": 1e-2, "betas": [0.8, 0.99], "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 1e-2, "amsgrad": True}),
    ("AdamW", {"lr": 1e-2, "weight_decay": 0.05}),
    ("RMSprop", {"lr": 1e-2, "alpha": 0.9, "momentum": 0.5}),
    ("RMSprop", {"lr": 1e-2, "eps": 1e-3, "centered": True}),
    ("NAdam", {"lr": 1e-2}),
    ("NAdam", {"lr": 1e-2, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adamax", {"lr": 1e-2}),
    ("Adamax", {"lr": 1e-2, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "eps": 1e-2, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 1.0}),
    ("Adadelta", {"lr": 2.0, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}),
]


def optimized(kind, settings, dtype):
    start, grads = torch.randn(PARAMETERS).to(dtype), torch.randn(STEPS, PARAMETERS)
    grads[:, 0] = 0
    grads[:, 1] *= 1e-4  # whose squares are zero in float16
    parameter = torch.nn.Parameter(start.clone())
    # what CUDA does by default; fused=True rounds once, at the end
    optimizer = getattr(torch.optim, kind)([parameter], foreach=True, **settings)
    seen = []
    for grad in grads.to(dtype):
        parameter.grad = grad
        optimizer.step()
        seen.append(parameter.tolist())
    return {"optimizer": kind, "args": settings, "dtype": str(dtype).removeprefix("torch."),
            "start": start.tolist(), "grads": grads.to(dtype).tolist(), "params": seen}


def record():
    torch.manual_seed(3)
    return {"optimizers": [optimized(*row, dtype) for row in OPTIMIZERS
                           for dtype in (torch.float16, torch.bfloat16)]}


recording.run(__file__, record, bound=lambda row: 2.0**-7,
              title=lambda row: f"{row['optimizer']} {row['dtype']}")
