#!/usr/bin/env python3
"""Records recipe_runs.json on the CPU: the recipes of PyTorch's notes on AMP, each in float64 and
under float16 autocast with a GradScaler."""
import math

import torch

import recording

STEPS, ROWS, INPUTS, WIDTH, BATCHES = 24, 8, 3, 8, 4
FIRST_SCALE, GROWTH_INTERVAL = 2.0**14, 5
SCHEDULERS = torch.optim.lr_scheduler


def warmup_and_cosine(optimizer):
    rise = SCHEDULERS.LinearLR(optimizer, start_factor=1 / 5, total_iters=5)
    fall = SCHEDULERS.CosineAnnealingLR(optimizer, 7, 1e-4)
    return SCHEDULERS.SequentialLR(optimizer, [rise, fall], milestones=[5])


# name, settings of ours, and what PyTorch takes for them
RECIPES = [
    ("plain", [], {}),
    ("accumulate", ["gradients.accumulate=3"], {"accumulate": 3}),
    ("clip norm", ["gradients.clip=norm", "gradients.clip_limit=2"], {"clip": (2.0, 2.0)}),
    ("clip norm-inf", ["gradients.clip=norm-inf", "gradients.clip_limit=2"],
     {"clip": (2.0, math.inf)}),
    ("clip value", ["gradients.clip=value", "gradients.clip_limit=0.5"], {"clip": (0.5, None)}),
    ("penalty", ["gradients.penalty=0.5"], {"penalty": 0.5}),
    ("two optimizers", ["model.networks=2", "optimizer.second_kind=sgd", "optimizer.second_lr=1e-4",
                        "optimizer.momentum=0"], {"networks": 2}),
    ("one cycle", ["schedule.kind=one-cycle", "schedule.max_lr=0.02", "schedule.total_steps=24",
                   "schedule.cycle_momentum=true"],
     {"schedule": lambda o: SCHEDULERS.OneCycleLR(o, max_lr=0.02, total_steps=24)}),
    ("one cycle, linear, three phases, SGD",
     ["schedule.kind=one-cycle", "schedule.max_lr=0.002", "schedule.total_steps=24",
      "schedule.anneal=linear", "schedule.three_phase=true", "schedule.cycle_momentum=true",
      "optimizer.kind=sgd"],
     {"optimizer": ("SGD", {"lr": 1e-3, "momentum": 0.9}),
      "schedule": lambda o: SCHEDULERS.OneCycleLR(o, max_lr=0.002, total_steps=24,
                                                  anneal_strategy="linear", three_phase=True)}),
    ("step", ["schedule.kind=step", "schedule.step_size=7", "schedule.gamma=0.5"],
     {"schedule": lambda o: SCHEDULERS.StepLR(o, 7, 0.5)}),
    ("exponential", ["schedule.kind=exponential", "schedule.gamma=0.9"],
     {"schedule": lambda o: SCHEDULERS.ExponentialLR(o, 0.9)}),
    ("cosine beyond its end", ["schedule.kind=cosine", "schedule.total_steps=8",
                               "schedule.min_lr=1e-4"],
     {"schedule": lambda o: SCHEDULERS.CosineAnnealingLR(o, 8, 1e-4)}),
    ("warm-up, then cosine beyond its end",
     ["schedule.kind=cosine", "schedule.total_steps=12", "schedule.warmup_steps=5",
      "schedule.min_lr=1e-4"], {"schedule": warmup_and_cosine}),
    ("linear beyond its end", ["schedule.kind=linear", "schedule.total_steps=10"],
     {"schedule": lambda o: SCHEDULERS.LinearLR(o, 0.1, 1.0, 10)}),
    ("Adam, AMSGrad, decay", ["optimizer.amsgrad=true", "optimizer.weight_decay=0.1"],
     {"optimizer": ("Adam", {"lr": 1e-2, "amsgrad": True, "weight_decay": 0.1})}),
    ("AdamW", ["optimizer.kind=adamw", "optimizer.weight_decay=0.3"],
     {"optimizer": ("AdamW", {"lr": 1e-2, "weight_decay": 0.3})}),
    ("SGD, Nesterov", ["optimizer.kind=sgd", "optimizer.lr=1e-3", "optimizer.nesterov=true",
                       "optimizer.weight_decay=0.1"],
     {"optimizer": ("SGD", {"lr": 1e-3, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1})}),
    ("SGD, dampening", ["optimizer.kind=sgd", "optimizer.lr=1e-3", "optimizer.dampening=0.2"],
     {"optimizer": ("SGD", {"lr": 1e-3, "momentum": 0.9, "dampening": 0.2})}),
    ("RMSprop, momentum", ["optimizer.kind=rmsprop", "optimizer.lr=1e-3"],
     {"optimizer": ("RMSprop", {"lr": 1e-3, "momentum": 0.9})}),
    ("NAdam", ["optimizer.kind=nadam"], {"optimizer": ("NAdam", {"lr": 1e-2})}),
    ("Adamax", ["optimizer.kind=adamax"], {"optimizer": ("Adamax", {"lr": 1e-2})}),
    ("Adagrad", ["optimizer.kind=adagrad", "optimizer.eps=1e-10"],
     {"optimizer": ("Adagrad", {"lr": 1e-2})}),
    ("Adadelta", ["optimizer.kind=adadelta", "optimizer.lr=1", "optimizer.alpha=0.9",
                  "optimizer.eps=1e-6"], {"optimizer": ("Adadelta", {"lr": 1.0})}),
    ("one cycle, NAdam", ["schedule.kind=one-cycle", "schedule.max_lr=0.02",
                          "schedule.total_steps=24", "schedule.cycle_momentum=true",
                          "optimizer.kind=nadam"],
     {"optimizer": ("NAdam", {"lr": 1e-2}),
      "schedule": lambda o: SCHEDULERS.OneCycleLR(o, max_lr=0.02, total_steps=24)}),
    ("one cycle, Adamax", ["schedule.kind=one-cycle", "schedule.max_lr=0.02",
                           "schedule.total_steps=24", "schedule.cycle_momentum=true",
                           "optimizer.kind=adamax"],
     {"optimizer": ("Adamax", {"lr": 1e-2}),
      "schedule": lambda o: SCHEDULERS.OneCycleLR(o, max_lr=0.02, total_steps=24)}),
]


def digits(values):
    """Float32 values as the nine digits that tell each apart."""
    return [float(f"{x:.9g}") for x in torch.as_tensor(values).flatten().tolist()]


def network():
    return torch.nn.Sequential(torch.nn.Linear(INPUTS, WIDTH), torch.nn.ReLU(),
                               torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(),
                               torch.nn.Linear(WIDTH, 1))


def train(start, inputs, targets, recipe, amp):
    dtype = torch.float32 if amp else torch.float64
    networks = []
    for state in start[:recipe.get("networks", 1)]:
        networks.append(network())
        networks[-1].load_state_dict(state)
        networks[-1].to(dtype)
    kind, settings = recipe.get("optimizer", ("Adam", {"lr": 1e-2}))
    optimizers = [getattr(torch.optim, kind)(networks[0].parameters(), **settings)]
    optimizers += [torch.optim.SGD(n.parameters(), lr=1e-4) for n in networks[1:]]
    schedules = [recipe["schedule"](o) for o in optimizers] if "schedule" in recipe else []
    scaler = torch.amp.GradScaler("cpu", init_scale=FIRST_SCALE, growth_interval=GROWTH_INTERVAL,
                                  enabled=amp)
    cast = lambda: torch.autocast("cpu", dtype=torch.float16, enabled=amp)
    parameters = [p for n in networks for p in n.parameters()]
    count = recipe.get("accumulate", 1)
    losses, scales = [], []
    for step in range(STEPS):
        x, y = inputs[step % BATCHES].to(dtype), targets[step % BATCHES].to(dtype)
        scales.append(scaler.get_scale())
        with cast():
            out = [n(x) for n in networks]
            seen = [out[0]] if len(out) == 1 else [2 * out[0] + 3 * out[1], 3 * out[0] - 5 * out[1]]
            each = [torch.nn.functional.mse_loss(o, y) for o in seen]
        losses.append(sum(loss.item() for loss in each))
        for i, loss in enumerate(each):
            if "penalty" in recipe:
                scaled = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
                unscaled = [g * (1.0 / scaler.get_scale()) for g in scaled]
                with cast():
                    norm = sum(g.pow(2).sum() for g in unscaled).sqrt()
                    loss = loss + recipe["penalty"] * norm
            scaler.scale(loss / count).backward(retain_graph=i + 1 < len(each))
        if (step + 1) % count:
            continue
        if "clip" in recipe:
            limit, order = recipe["clip"]
            scaler.unscale_(optimizers[0])
            if order is None:
                torch.nn.utils.clip_grad_value_(parameters, limit)
            else:
                torch.nn.utils.clip_grad_norm_(parameters, limit, order)
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        for schedule in schedules:
            if step + 1 < STEPS:
                schedule.step()
        for optimizer in optimizers:
            optimizer.zero_grad()
    return losses, scales


def record():
    torch.manual_seed(0)
    start = [network().state_dict() for _ in range(2)]
    inputs = [torch.randn(ROWS, INPUTS) for _ in range(BATCHES)]
    targets = [torch.randn(ROWS, 1) * 2 + 10 for _ in range(BATCHES)]
    names = {}
    for prefix, state in zip(("", "second."), start):
        for name, values in state.items():
            index, part = name.split(".")
            names[f"{prefix}{index}.{part}"] = digits(values)
    runs = []
    for name, settings, recipe in RECIPES:
        for amp in (False, True):
            losses, scales = train(start, inputs, targets, recipe, amp)
            runs.append({"name": name, "settings": settings, "amp": amp, "losses": losses,
                         "scales": scales})
    return {"rows": ROWS, "inputs": INPUTS, "width": WIDTH, "first_scale": FIRST_SCALE,
            "growth_interval": GROWTH_INTERVAL, "x": [digits(x) for x in inputs],
            "target": [digits(y) for y in targets], "start": names, "runs": runs}


def bound(row):
    """float16 sums of another processor are taken in another order."""
    return 2e-3 if isinstance(row, dict) and row["amp"] else 1e-12


def title(row):
    return row["name"] + (" float16" if row["amp"] else "") if isinstance(row, dict) else ""


recording.run(__file__, record, bound=bound, title=title)
