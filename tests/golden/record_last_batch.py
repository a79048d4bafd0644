#!/usr/bin/env python3
"""Records tests/golden/last_batch.json from PyTorch on the CPU: three epochs of a network with batch norm,
whose last batch is smaller than the others (DataLoader with drop_last=False), in float64 and under
float16 autocast with a GradScaler. Made with PyTorch 2.11.0.
    record_last_batch.py FILE"""
import json
import sys

import torch

SAMPLES, BATCH, INPUTS, WIDTH, EPOCHS = 21, 8, 3, 8, 3
FIRST_SCALE, GROWTH_INTERVAL, RATE = 2.0**12, 3, 1e-2


def digits(values):
    """Float32 values as the nine digits that tell each apart."""
    return [float(f"{x:.9g}") for x in torch.as_tensor(values).flatten().tolist()]


def network():
    return torch.nn.Sequential(torch.nn.Linear(INPUTS, WIDTH), torch.nn.BatchNorm1d(WIDTH),
                               torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))


def train(start, inputs, targets, amp):
    dtype = torch.float32 if amp else torch.float64
    model = network()
    model.load_state_dict(start)
    model.to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    scaler = torch.amp.GradScaler("cpu", init_scale=FIRST_SCALE, growth_interval=GROWTH_INTERVAL,
                                  enabled=amp)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, targets),
                                         batch_size=BATCH, drop_last=False)
    losses, scales = [], []
    for _ in range(EPOCHS):
        for x, y in loader:
            scales.append(scaler.get_scale())
            with torch.autocast("cpu", dtype=torch.float16, enabled=amp):
                loss = torch.nn.functional.mse_loss(model(x.to(dtype)), y.to(dtype))
            losses.append(loss.item())
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    norm = model[1]
    return {"amp": amp, "losses": losses, "scales": scales,
            "running_mean": norm.running_mean.tolist(), "running_var": norm.running_var.tolist()}


def main(path):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    start = network().state_dict()
    inputs, targets = torch.randn(SAMPLES, INPUTS), torch.randn(SAMPLES, 1) * 5 + 10
    weights = {name: digits(values) for name, values in start.items()
               if not name.endswith("num_batches_tracked")}
    batches = range(0, SAMPLES, BATCH)
    file = {"torch": torch.__version__, "batch": BATCH, "inputs": INPUTS, "width": WIDTH,
            "rate": RATE, "first_scale": FIRST_SCALE, "growth_interval": GROWTH_INTERVAL,
            "x": [digits(inputs[i:i + BATCH]) for i in batches],
            "target": [digits(targets[i:i + BATCH]) for i in batches], "start": weights,
            "runs": [train(start, inputs, targets, amp) for amp in (False, True)]}
    with open(path, "w", encoding="utf-8") as to:
        json.dump(file, to)
        to.write("\n")


main(sys.argv[1])
