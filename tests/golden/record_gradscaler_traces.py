#!/usr/bin/env python3
"""Records gradscaler_traces.json: random histories of torch.amp.GradScaler. Some reach a scale of 0
or 2.5e38. Python's generator draws the same histories on every machine. Without a GPU the CPU's
scaler is recorded, which gives the same float32 values."""
import random

import torch

import recording

HISTORIES, STEPS = 60, 120
INIT_SCALES = [1.0, 16.0, 256.0, 65536.0, 2.0**24, 3.7, 1e30, 2.0**120, 1e-30, 65536.0]
GROWTH_FACTORS = [2.0, 1.5, 4.0, 1.0001, 10.0]
BACKOFF_FACTORS = [0.5, 0.25, 0.9, 0.1]
GROWTH_INTERVALS = [1, 2, 3, 5, 10, 2000]
OPTIMIZERS = [1, 1, 2]
OVERFLOW_CHANCES = [0, 0.02, 0.1, 0.3, 0.6, 1]
KINDS = ["inf", "-inf", "nan"]


class Counted(torch.optim.SGD):
    """Knows whether the scaler let it step."""

    def step(self, *arguments, **named):
        self.stepped = True
        return super().step(*arguments, **named)


def take_step(scaler, optimizers, found, unscale_first, new_scale):
    """One iteration of the training loop with a gradient that was made by hand."""
    scaler.scale(torch.ones((), device=optimizers[0].where))
    for optimizer, kind in zip(optimizers, found):
        optimizer.stepped = False
        gradient = torch.tensor([2.0, float(kind or 1), 3.0], device=optimizer.where)
        optimizer.param_groups[0]["params"][0].grad = gradient
        if unscale_first:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
    scaler.update(new_scale)
    return {"found_inf": found, "unscale_first": unscale_first,
            "stepped": [optimizer.stepped for optimizer in optimizers], "new_scale": new_scale,
            "scale": scaler.get_scale(), "growth_tracker": scaler._get_growth_tracker()}


def history(seed):
    where = "cuda" if recording.device() else "cpu"
    chosen = random.Random(seed)
    config = {"init_scale": chosen.choice(INIT_SCALES),
              "growth_factor": chosen.choice(GROWTH_FACTORS),
              "backoff_factor": chosen.choice(BACKOFF_FACTORS),
              "growth_interval": chosen.choice(GROWTH_INTERVALS)}
    count = chosen.choice(OPTIMIZERS)
    chance = chosen.choice(OVERFLOW_CHANCES)
    scaler = torch.amp.GradScaler(where, **config)
    optimizers = []
    for _ in range(count):
        optimizers.append(Counted([torch.nn.Parameter(torch.ones(3, device=where))], lr=0.1))
        optimizers[-1].where = where
    steps = []
    for _ in range(STEPS):
        spoiled = [chosen.random() < chance for _ in range(count)]
        kinds = [chosen.choice(KINDS) for _ in range(count)]
        found = [kind if bad else None for bad, kind in zip(spoiled, kinds)]
        unscale_first = chosen.random() < 0.3
        new_scale = 2.0**chosen.randint(-3, 20) if chosen.random() < 0.02 else None
        steps.append(take_step(scaler, optimizers, found, unscale_first, new_scale))
    return {"seed": seed, "config": config, "optimizers": count, "steps": steps}


def record():
    return {"cases": [history(seed) for seed in range(HISTORIES)]}


recording.run(__file__, record)
