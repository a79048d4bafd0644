#!/usr/bin/env python3
"""Records optim_sched_clip.json on the CPU: parameters under optimizers in float64, learning rates
under schedules, and gradients before and after clipping in float32."""
import math

import torch

import recording

PARAMETERS, STEPS = 7, 25
OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}),
    ("Adam", {"lr": 1e-3}),
    ("Adam", {"lr": 1e-2, "betas": [0.8, 0.99], "eps": 1e-6, "weight_decay": 0.1}),
    ("Adam", {"lr": 1e-2, "amsgrad": True}),
    ("AdamW", {"lr": 1e-2, "weight_decay": 0.05}),
    ("RMSprop", {"lr": 1e-2, "alpha": 0.9, "momentum": 0.5}),
    ("NAdam", {"lr": 1e-2}),
    ("NAdam", {"lr": 1e-2, "betas": [0.8, 0.99], "eps": 1e-6, "weight_decay": 0.1}),
    ("Adamax", {"lr": 1e-2}),
    ("Adamax", {"lr": 1e-2, "betas": [0.8, 0.9], "eps": 1e-3, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "eps": 1e-2, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 1.0}),
    ("Adadelta", {"lr": 2.0, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}),
]
BASE_LR = 0.1
SCHEDULES = [  # what PyTorch takes, and how many steps
    ("OneCycleLR", {"max_lr": 0.1, "total_steps": 100, "cycle_momentum": False}, 99),
    ("OneCycleLR", {"max_lr": 0.5, "epochs": 4, "steps_per_epoch": 25, "cycle_momentum": False},
     99),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "pct_start": 0.1, "anneal_strategy": "linear",
                    "div_factor": 10.0, "final_div_factor": 100.0, "cycle_momentum": False}, 59),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "three_phase": True, "cycle_momentum": True},
     59),
    ("StepLR", {"step_size": 7, "gamma": 0.5}, 40),
    ("ExponentialLR", {"gamma": 0.9}, 40),
    ("CosineAnnealingLR", {"T_max": 40, "eta_min": 1e-3}, 40),
    ("LinearLR", {"start_factor": 0.1, "total_iters": 10}, 20),
    # "warmup" is ours: so many steps of LinearLR come before, as in SequentialLR
    ("CosineAnnealingLR", {"T_max": 30, "eta_min": 1e-3, "warmup": 10}, 80),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 30, "warmup": 7}, 50),
    ("StepLR", {"step_size": 7, "gamma": 0.5, "warmup": 3}, 40),
    ("ExponentialLR", {"gamma": 0.9, "warmup": 1}, 40),
    ("MultiStepLR", {"milestones": [5, 8, 30], "gamma": 0.5}, 40),
    ("MultiStepLR", {"milestones": [5, 30], "gamma": 0.1, "warmup": 4}, 40),
    ("PolynomialLR", {"total_iters": 30, "power": 2.0}, 40),
    ("PolynomialLR", {"total_iters": 30, "power": 0.9, "warmup": 7}, 50),
    ("CosineAnnealingWarmRestarts", {"T_0": 6, "T_mult": 2, "eta_min": 1e-3}, 60),
    ("CosineAnnealingWarmRestarts", {"T_0": 9, "warmup": 5}, 40),
]

CLIPPINGS = [("norm2", 0.5), ("norminf", 1.0), ("value", 5.0)]
FACTORS = [0.1, 1.0, 10.0, 100.0]  # of the gradients


def optimized(kind, settings):
    start, grads = torch.randn(PARAMETERS), torch.randn(STEPS, PARAMETERS)
    parameter = torch.nn.Parameter(start.double())
    optimizer = getattr(torch.optim, kind)([parameter], **settings)
    seen = []
    for grad in grads:
        parameter.grad = grad.double()
        optimizer.step()
        seen.append(parameter.tolist())
    return {"optimizer": kind, "args": settings, "start": start.tolist(), "grads": grads.tolist(),
            "params": seen}


def scheduled(kind, settings, steps):
    """Rates as they stand before each step of Adam, which has a beta1 that a schedule may move."""
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=BASE_LR)
    warmup = settings.get("warmup")
    own = {name: value for name, value in settings.items() if name != "warmup"}
    schedulers = torch.optim.lr_scheduler
    schedule = getattr(schedulers, kind)(optimizer, **own)
    if warmup is not None:
        rise = schedulers.LinearLR(optimizer, start_factor=1 / warmup, total_iters=warmup)
        schedule = schedulers.SequentialLR(optimizer, [rise, schedule], milestones=[warmup])
    lr, beta1 = [], []
    for _ in range(steps):
        lr.append(optimizer.param_groups[0]["lr"])
        beta1.append(optimizer.param_groups[0]["betas"][0])
        optimizer.step()
        schedule.step()
    return {"schedule": kind, "base_lr": BASE_LR, "args": settings, "lr": lr, "beta1": beta1}


def clipped(kind, limit, factor):
    grads = [torch.randn(n) * factor for n in (3, 5, 2)]
    parameters = [torch.nn.Parameter(torch.zeros_like(grad)) for grad in grads]
    for parameter, grad in zip(parameters, grads):
        parameter.grad = grad.clone()
    total = None
    if kind == "value":
        torch.nn.utils.clip_grad_value_(parameters, limit)
    else:
        order = math.inf if kind == "norminf" else 2.0
        total = torch.nn.utils.clip_grad_norm_(parameters, limit, order).item()
    return {"kind": kind, "limit": limit, "grads": [grad.tolist() for grad in grads],
            "total_norm": total, "clipped": [parameter.grad.tolist() for parameter in parameters]}


def record():
    torch.manual_seed(3)
    optimizers = [optimized(*row) for row in OPTIMIZERS]
    schedules = [scheduled(*row) for row in SCHEDULES]
    torch.manual_seed(5)
    clipping = [clipped(*CLIPPINGS[i % 3], FACTORS[i % 4]) for i in range(12)]
    return {"optimizers": optimizers, "schedules": schedules, "clipping": clipping}


recording.run(__file__, record, bound=lambda row: 1e-12,
              title=lambda row: row.get("optimizer") or row.get("schedule") or row.get("kind"))
