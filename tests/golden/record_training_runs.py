#!/usr/bin/env python3
"""Records training_runs.json: short trainings in float64, float32 and automatic mixed precision.
Every machine draws the same starting weights and data. Mixed precision needs a CUDA GPU; without
one the other runs are recorded on the CPU."""
import torch
from torch import nn

import recording

SEEDS, LR, FIRST_SCALE, GROWTH_INTERVAL, SIDE = (0, 1), 1e-3, 65536.0, 2000, 24
KINDS = {"checkerboard": 16, "mlp_ce": 32, "mlp_mse": 16}  # width; mlp_mse always has 20
PENALTY_WEIGHT, CLIP_NORM, KEPT = 1.0, 0.1, 600  # KEPT: values of the last output


def plans():
    """Kind, amp, compute and what is unusual, in the file's order."""
    for amp, compute in [(None, "float64"), (None, "float32"), ("float16", "float32"),
                         ("bfloat16", "float32")]:
        for kind in KINDS:
            yield kind, amp, compute, {}
    yield "mlp_mse", "float16", "float32", {"init_scale": 2.0**24, "growth_interval": 5}
    yield "checkerboard", "float16", "float32", {"init_scale": 2.0**30, "growth_interval": 7}
    for extra in ("grad_penalty", "clip", "onecycle"):
        for amp, compute in [(None, "float64"), ("float16", "float32")]:
            for kind in ("mlp_ce", "mlp_mse"):
                yield kind, amp, compute, {"extra": extra, "steps": 40}


def painter(width):
    layers, inputs = [], 2
    for _ in range(3):
        layers += [nn.Conv2d(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Conv2d(width, 1, 1))


def checkerboard(side, frequency=8):
    """Coordinates (1, 2, side, side) in [0, 1) and the picture (1, 1, side, side) of 0 and 1."""
    line = torch.arange(side) / side
    x = torch.stack([line.repeat(side, 1), line[:, None].repeat(1, side)])[None]
    half = (line * frequency / 2).fmod(1).gt(0.5)
    return x, (half[None, :] ^ half[:, None]).float()[None, None]


def problem(kind, width, side):
    """Network, loss, inputs and targets, all drawn from the seed set before."""
    if kind == "checkerboard":
        return painter(width), nn.functional.mse_loss, *checkerboard(side)
    if kind == "mlp_ce":
        net = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, 10))
        return net, nn.functional.cross_entropy, torch.randn(64, 20), torch.randint(0, 10, (64,))
    net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
    x = torch.randn(64, 10)
    return net, nn.functional.mse_loss, x, torch.randn(64, 1) * 5 + 10


def state_of(net):
    return {name: values.float().tolist() for name, values in net.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def penalty_of(scaler, loss, parameters, cast):
    """The L2 norm of the loss gradient, as PyTorch's notes on AMP have it."""
    scaled = torch.autograd.grad(scaler.scale(loss), parameters, create_graph=True)
    unscaled = [grad * (1.0 / scaler.get_scale()) for grad in scaled]
    with cast():
        return sum(grad.pow(2).sum() for grad in unscaled).sqrt()


def train(net, loss_of, x, target, steps, extra, scaler, cast):
    """Trace and last output. "lr" is what stands after the step, for the next one."""
    parameters = list(net.parameters())
    optimizer = torch.optim.Adam(parameters, lr=LR)
    schedule = None
    if extra == "onecycle":
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=10 * LR,
                                                       total_steps=steps + 1,
                                                       cycle_momentum=False)
    trace = []
    for _ in range(steps):
        row = {"loss": None, "scale_before": scaler.get_scale(), "scale_after": None,
               "penalty": None, "grad_norm": None, "lr": None}
        optimizer.zero_grad()
        with cast():
            output = net(x)
            loss = loss_of(output, target)
        row["loss"] = loss.item()
        if extra == "grad_penalty":
            penalty = penalty_of(scaler, loss, parameters, cast)
            row["penalty"] = penalty.item()
            with cast():
                loss = loss + PENALTY_WEIGHT * penalty
        scaler.scale(loss).backward()
        if extra == "clip":
            scaler.unscale_(optimizer)
            row["grad_norm"] = torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM).item()
        scaler.step(optimizer)
        scaler.update()
        if schedule is not None:
            schedule.step()
        row["scale_after"] = scaler.get_scale()
        row["lr"] = optimizer.param_groups[0]["lr"]
        trace.append(row)
    return trace, output.detach().float().flatten()[:KEPT].tolist()


def recorded(seed, kind, amp, compute, unusual):
    where = "cuda" if recording.device() else "cpu"
    if amp and where == "cpu":
        return None
    steps, extra = unusual.get("steps", 60), unusual.get("extra")
    scale = unusual.get("init_scale", FIRST_SCALE)
    interval = unusual.get("growth_interval", GROWTH_INTERVAL)
    torch.manual_seed(seed)
    net, loss_of, x, target = problem(kind, KINDS[kind], SIDE)
    start = state_of(net)
    shown = (None, None) if kind == "checkerboard" else (x.tolist(), target.tolist())
    real = getattr(torch, compute)
    net.to(where, real)
    x = x.to(where, real)
    target = target.to(where) if kind == "mlp_ce" else target.to(where, real)
    scaler = torch.amp.GradScaler(where, init_scale=scale, growth_interval=interval,
                                  enabled=amp == "float16")
    cast = lambda: torch.autocast(where, dtype=getattr(torch, amp or "float16"), enabled=bool(amp))
    trace, output = train(net, loss_of, x, target, steps, extra, scaler, cast)
    return {"kind": kind, "seed": seed, "steps": steps, "amp": amp, "compute": compute,
            "width": KINDS[kind], "side": SIDE, "optimizer": "Adam", "lr": LR, "init_scale": scale,
            "growth_interval": interval, "extra": extra, "input": shown[0], "target": shown[1],
            "start": start, "trace": trace, "output": output,
            "end": state_of(net) if compute == "float64" else None}


def record():
    return {"cases": [recorded(seed, *plan) for seed in SEEDS for plan in plans()]}


def bound(row):
    """A bias before batch norm has a gradient of rounding errors, which Adam scales up to full
    steps."""
    return 1e-9 if row["compute"] == "float64" else 1e-5


def title(row):
    parts = [row["kind"], f"seed {row['seed']}", row["amp"] or row["compute"], row["extra"]]
    return " ".join(part for part in parts if part)


recording.run(__file__, record, bound=bound, title=title)
