"""PyTorch's side of `halfscope-cli bench --pytorch`: times the training steps that it is told to.

A line of JSON on standard input is a request, a line on standard output its answer. A request is
an experiment as Halfscope writes it for PyTorch, with the shapes of a batch, or a round of those
steps that were asked for last.
"""
import contextlib
import json
import os
import signal
import sys
import time
import types

# no helpers that would outlive a process that is ended while it compiles
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # compilers that PyTorch starts may print

ROUND_SECONDS = 0.05  # or one step
EAGER_LIMIT, COMPILE_LIMIT = 20, 180  # seconds for the first steps; float16 takes a CPU minutes


def answer(**fields):
    ANSWERS.write(json.dumps(fields) + "\n")
    ANSWERS.flush()


def too_slow(*_):
    raise TimeoutError("the first steps take too long")


class Way:
    """One lane run in one way, as many steps in a round as take ROUND_SECONDS."""

    def __init__(self, experiment, request, lane, way):
        self.lane, self.way, self.settings = lane, way, experiment.LANES[lane]
        self.device = experiment.DEVICE
        torch.manual_seed(0)
        cast = self.settings.get("cast")
        model = experiment.make_model().to(self.device, cast)
        x, self.target = batch(request, self.device)
        self.x = x.to(dtype=cast)
        if way == "channels_last":
            model = model.to(memory_format=torch.channels_last)
            self.x = self.x.to(memory_format=torch.channels_last)
        # the code of the program's own optimizer, in the way that takes PyTorch least time
        fused = request["optimizer"].removesuffix(")") + ", fused=True)"
        self.optimizer = eval(fused, {"torch": torch, "model": model})
        scaler = self.settings.get("scaler", {"enabled": False})
        self.scaler = torch.amp.GradScaler(self.device, **scaler)

        def scored(x, target):
            return experiment.loss_of(experiment.forward(model, x), target)

        self.scored = torch.compile(scored) if way == "compiled" else scored
        self.steps, self.warm_steps = 1, 0
        signal.alarm(COMPILE_LIMIT if way == "compiled" else EAGER_LIMIT)
        try:
            for _ in range(3):  # compiles; touches all memory
                one = self.seconds()
        finally:
            signal.alarm(0)
        self.steps = max(1, int(ROUND_SECONDS / one))
        self.warm_steps = self.steps // 4  # threads and caches of what ran before in the round

    def autocast(self):
        dtype = self.settings.get("autocast")
        return torch.autocast(self.device, dtype) if dtype else contextlib.nullcontext()

    def seconds(self):
        """Of a step."""
        tf32 = self.settings.get("tf32", False)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
        self.run(self.warm_steps)
        start = time.perf_counter()
        self.run(self.steps)
        return (time.perf_counter() - start) / self.steps

    def run(self, steps):
        for _ in range(steps):
            self.optimizer.zero_grad(set_to_none=True)
            with self.autocast():
                loss = self.scored(self.x, self.target)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        if self.device == "cuda":
            torch.cuda.synchronize()


def batch(request, device):
    """Drawn at random: the time does not depend on what is learnt."""
    target = (torch.randint(0, request["classes"], request["target"]) if request["classes"]
              else torch.rand(request["target"]))
    return torch.rand(request["x"]).to(device), target.to(device)


def ways_of(request):
    experiment = types.ModuleType("experiment")
    exec(request["script"], experiment.__dict__)
    experiment.DEVICE = request["device"]
    kinds = ["eager", "compiled"]
    if any(weight.dim() == 4 for weight in experiment.make_model().parameters()):
        kinds.append("channels_last")
    ways, refused = [], []
    for lane in experiment.LANES:
        for way in kinds:
            if [lane, way] in request["without"]:
                continue
            answer(trying={"lane": lane, "way": way})  # a compiler may end this process
            try:
                ways.append(Way(experiment, request, lane, way))
            except Exception as error:  # no compiler, no such kernel: the others count
                reason = (str(error).splitlines() or [""])[0]
                refused.append({"lane": lane, "way": way, "reason": reason})
    return ways, refused


def main():
    signal.signal(signal.SIGALRM, too_slow)
    answer(version=torch.__version__)
    ways = []
    for line in sys.stdin:
        request = json.loads(line)
        if "script" in request:
            if request["threads"]:
                torch.set_num_threads(request["threads"])
            ways = []  # gives back their memory first
            ways, refused = ways_of(request)
            answer(ways=[{"lane": way.lane, "way": way.way} for way in ways], refused=refused)
        else:
            answer(seconds=[way.seconds() for way in ways])


try:
    import torch
except Exception as reason:
    answer(error=f"cannot import torch: {reason}")
else:
    try:
        main()
    except Exception as reason:
        answer(error=f"{type(reason).__name__}: {reason}")
