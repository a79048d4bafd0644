"""Times PyTorch on the steps that `halfscope-cli bench` times: forward, backward, GradScaler and fused Adam.

Usage: torch_step.py FILE. Each way of running a step becomes one line: row, lane, way, milliseconds,
tab-separated and written at once, so that a time limit costs only what is not finished.
"""
import sys

import torch
from torch import nn

FILE = open(sys.argv[1], "w")
WARM = 11  # before a step is captured, as PyTorch's notes on CUDA graphs want


def tell(row, lane, way, ms):
    line = f"{row}\t{lane}\t{way}\t{ms:.5f}"
    print(line, flush=True)
    FILE.write(line + "\n")
    FILE.flush()


def checkerboard(side, frequency=8):
    """Coordinates (1, 2, side, side) in [0, 1) and the picture (1, 1, side, side) of 0 and 1."""
    line = torch.arange(side) / side
    x = torch.stack([line.repeat(side, 1), line[:, None].repeat(1, side)])[None]
    half = (line * frequency / 2).fmod(1).gt(0.5)
    return x, (half[None, :] ^ half[:, None]).float()[None, None]


def painter(width):
    layers, inputs = [], 2
    for _ in range(3):
        layers += [nn.Conv2d(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Conv2d(width, 1, 1))


def mlp(inputs, width, outputs):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))


def milliseconds(run, seconds=0.3):
    """The median of five stretches, by the device's clock."""
    def stretch(n):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(n):
            run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / n

    stretch(5)
    n = max(5, min(5000, int(1000 * seconds / 5 / max(stretch(5), 1e-3))))
    return sorted(stretch(n) for _ in range(5))[2]


class Step:
    """One training step as PyTorch's AMP recipe has it."""

    def __init__(self, model, x, target, loss, lane, compiled):
        half = {"amp-fp16": torch.float16, "amp-bf16": torch.bfloat16}.get(lane)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = lane != "fp32"
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.model = model().cuda()
        self.x, self.target, self.loss, self.half = x.cuda(), target.cuda(), loss, half
        if x.dim() == 4:
            self.model = self.model.to(memory_format=torch.channels_last)
            self.x = self.x.contiguous(memory_format=torch.channels_last)
        self.forward = torch.compile(self.model, mode=compiled) if compiled else self.model
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3, fused=True, capturable=True)
        self.scaler = torch.amp.GradScaler("cuda", enabled=half == torch.float16)

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        enabled = self.half is not None
        with torch.autocast("cuda", self.half or torch.float16, enabled=enabled, cache_enabled=False):
            loss = self.loss(self.forward(self.x), self.target)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def captured(self):
        """The whole step in one CUDA graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM):
                self()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self()
        return graph.replay


def measure(row, lane, way, make, compiled=None, graph=True):
    try:
        step = make(lane, compiled)
        tell(row, lane, way, milliseconds(step.captured() if graph else step))
    except Exception as error:  # one way that fails must not hide the others
        print(f"{row} {lane} {way}: {str(error)[:200]}", file=sys.stderr, flush=True)
    torch.cuda.empty_cache()


def picture(side):
    x, target = checkerboard(side)
    return lambda lane, compiled: Step(lambda: painter(256), x, target, nn.functional.mse_loss, lane, compiled)


def main():
    torch.backends.cudnn.benchmark = True
    print(torch.__version__, torch.cuda.get_device_name(0), flush=True)
    regression = lambda lane, compiled: Step(  # noqa: E731
        lambda: mlp(10, 20, 1), torch.randn(64, 10), torch.randn(64, 1), nn.functional.mse_loss, lane, compiled)
    classifier = lambda lane, compiled: Step(  # noqa: E731
        lambda: mlp(784, 256, 10), torch.randn(64, 784), torch.randint(0, 10, (64,)),
        nn.functional.cross_entropy, lane, compiled)
    big = picture(512)
    for lane in ("amp-fp16", "fp32"):
        measure("checkerboard-512-w256", lane, "eager", big, graph=False)
        measure("mlp-10-20-1", lane, "graph", regression)
        measure("mlp-784-256-10", lane, "graph", classifier)
        measure("mlp-784-256-10", lane, "graph, compiled", classifier, "default")
    tuned = "max-autotune-no-cudagraphs"
    measure("checkerboard-512-w256", "amp-fp16", "graph, max-autotune", big, tuned)
    for lane in ("tf32", "fp32", "amp-bf16"):
        measure("checkerboard-512-w256", lane, "graph, compiled", big, "default")
    for side in (64, 128, 256):
        measure(f"checkerboard-{side}-w256", "amp-fp16", "graph, compiled", picture(side), "default")
    measure("checkerboard-512-w256", "amp-bf16", "graph, max-autotune", big, tuned)


main()
