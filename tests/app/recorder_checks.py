"""Trains small networks beside resources/pytorch/halfscope_recorder.py and compares what it writes
with values that are computed here. tst_recorder calls these functions by name, each with a folder.
"""
import csv
import json
import math
import os
import subprocess
import sys

import torch
from torch import nn

import halfscope_recorder
from halfscope_recorder import Recorder


def rows_of(folder, name):
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file))


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))


def batch(step, spread=1.0):
    generator = torch.Generator().manual_seed(step)
    x = torch.randn(8, 4, generator=generator)
    return x, spread * x.sum(1, keepdim=True)


def near(found, expected, bound=1e-6):
    """Whether a field has a value; a float32 text has an error of 6e-8."""
    if not math.isfinite(expected):
        return not math.isfinite(float(found))
    return abs(float(found) - expected) <= bound * max(abs(expected), 1e-30)


def counted(gradients):
    """Returns the shares of gradients.csv, value by value."""
    counts = dict.fromkeys(halfscope_recorder.COLUMNS["gradients.csv"][4:], 0)
    values = [value for gradient in gradients for value in gradient.flatten().tolist()]
    for value in values:
        if not math.isfinite(value):
            counts["not_finite"] += 1
        elif value == 0:
            counts["zero"] += 1
        else:
            counts[f"2^{min(max(math.frexp(value)[1] - 1, -40), 23)}"] += 1
    return {name: count / len(values) for name, count in counts.items()}


def check_counts(row, gradients):
    for name, share in counted(gradients).items():
        assert near(row[name], share), (row["counted_step"], name, row[name], share)


def check_steps(folder, expected, lane="amp-fp16"):
    """Compares steps.csv and gradients.csv with lists of what a training loop has seen: loss, rate,
    scale before and after, and the gradients after the last backward pass, in its order."""
    rows = rows_of(folder, "steps.csv")
    assert len(rows) == len(expected), len(rows)
    counts = {int(row["counted_step"]): row for row in rows_of(folder, "gradients.csv")}
    assert list(counts) == list(range(1, len(rows) + 1, 3)), list(counts)
    skipped = tracker = 0
    for step, (row, seen) in enumerate(zip(rows, expected), 1):
        loss, rate, before, after, gradients = seen
        bad = [name for name, each in gradients.items() if not torch.isfinite(each).all()]
        skipped += bool(bad)
        tracker = 0 if bad or after > before else tracker + 1
        norm = math.sqrt(sum(float(each.double().square().sum()) for each in gradients.values()))
        assert (row["step"], row["lane"]) == (str(step), lane), row
        assert near(row["loss"], loss) and near(row["learning_rate"], rate), (row, seen[:4])
        assert near(row["scale"], before) and near(row["gradient_norm"], norm / before), (row, norm)
        found = [int(row[name]) for name in ("skipped", "grew", "backed_off", "skipped_so_far",
                                             "growth_tracker", "loss_not_finite")]
        assert found == [bool(bad), after > before, after < before, skipped, tracker, 0], (row, bad)
        if step in counts:
            check_counts(counts[step], gradients.values())
    times = rows_of(folder, "timing.csv")
    assert [row["step"] for row in times] == [row["step"] for row in rows]
    walls = [float(row["wall_seconds"]) for row in times]
    assert walls == sorted(walls) and min(float(row["device_seconds"]) for row in times) > 0
    return rows


def train(folder, steps=120, passes=1, large=(31,), **options):
    """A loop as PyTorch's notes have it, with clipping, a schedule and a batch that overflows; not
    recorded without a folder."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=20)
    recorder = None
    if folder:
        recorder = Recorder(folder, model, scaler, every=3, optimizer=optimizer, **options)
    met, expected = [], []
    for name, parameter in model.named_parameters():
        parameter.register_hook(lambda _, name=name: met.append(name))
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        for part in range(passes):
            met.clear()
            x, y = batch(passes * step + part, 1e5 if step in large else 1.0)
            with torch.autocast("cpu", torch.float16):
                loss = nn.functional.l1_loss(model(x).float(), y)
                loss = (loss if step not in large else loss**2) / passes
            scaler.scale(loss).backward()
        seen = {name: model.get_parameter(name).grad.clone() for name in met}
        before, rate = scaler.get_scale(), optimizer.param_groups[0]["lr"]
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
        schedule.step()
        if recorder:
            recorder.step(loss)
        expected.append((loss.item(), rate, before, scaler.get_scale(), seen))
    if recorder:
        recorder.close()
    return expected


def values(folder):
    expected = train(folder)
    rows = check_steps(folder, expected)
    skipped = [int(row["step"]) for row in rows if row["skipped"] == "1"]
    assert skipped[0] == 31 and len(skipped) > 1, "the large batch, and a growth too many"
    told = {(int(row["step"]), row["kind"]): row for row in rows_of(folder, "events.csv")}
    assert [step for step, kind in told if kind == "overflow"] == skipped
    for step in skipped:
        norms = {name: each.double().norm() for name, each in expected[step - 1][4].items()}
        first, *others = [name for name, norm in norms.items() if not torch.isfinite(norm)]
        word = "became nan" if torch.isnan(norms[first]) else "reached inf"
        event = told[step, "overflow"]
        assert event["tensor"] == f"gradient of {first}", event
        assert event["text"].startswith(f"Step {step} skipped: gradient of {first} {word} at ")
        assert step != 31 or (len(others) == 3 and event["text"].endswith(
            "at loss scale 32768 (2^15), and 3 other gradients are not finite; the scale falls to "
            "16384 (2^14).")), event
    assert told[31, "backoff"]["text"] == (
        "Step 31: the loss scale falls from 32768 (2^15) to 16384 (2^14).")
    assert told[20, "growth"]["text"] == (
        "Step 20: the loss scale grows from 16384 (2^14) to 32768 (2^15).")
    assert [step for step, _ in told] == sorted(step for step, _ in told)


def accumulation(folder):
    check_steps(folder, train(folder, steps=12, passes=3))


def same_training(folder):
    """What is recorded is what would have happened without the recorder."""
    assert ([each[:4] for each in train(os.path.join(folder, "run"), steps=40)] ==
            [each[:4] for each in train(None, steps=40)])


def large_values(folder):
    """Finite gradients whose squares float32 cannot hold are no overflow."""
    weight = nn.ParameterDict({"a": nn.Parameter(torch.ones(3)), "b": nn.Parameter(torch.ones(2))})
    optimizer = torch.optim.SGD(weight.parameters(), lr=1e-30)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    recorder = Recorder(folder, weight, scaler)
    for factor in (1e30, 1e36):
        optimizer.zero_grad()
        loss = factor * weight["a"].sum() + weight["b"].sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        recorder.step(loss, learning_rate=0.5)
    recorder.close()
    first, second = rows_of(folder, "steps.csv")
    assert first["skipped"] == "0" and near(first["gradient_norm"], 1e30 * math.sqrt(3)), first
    assert second["skipped"] == "1" and not math.isfinite(float(second["gradient_norm"])), second
    assert first["learning_rate"] == second["learning_rate"] == "0.5"
    event = rows_of(folder, "events.csv")[0]
    assert event["text"] == ("Step 2 skipped: gradient of a reached inf at loss scale 1024 (2^10); "
                             "the scale falls to 512 (2^9)."), event
    row = rows_of(folder, "gradients.csv")[0]
    assert near(row["2^23"], 0.6) and near(row["2^10"], 0.4), row


class Odd(nn.Module):
    """Parameters of every kind that a loop may have."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 2, sparse=True)
        self.wide = nn.Parameter(torch.tensor([3.0, 1e-300], dtype=torch.float64))
        self.complex = nn.Parameter(torch.tensor([1 + 2j, 0.5j]))
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.unused = nn.Parameter(torch.ones(2))
        self.empty = nn.Parameter(torch.ones(0))
        self.first = nn.Linear(2, 2, bias=False)
        self.second = nn.Linear(2, 2, bias=False)
        self.second.weight = self.first.weight

    def forward(self, rows):
        x = self.second(self.first(self.table(rows))).square().sum()
        x = x + self.complex.abs().square().sum() + self.empty.sum() + self.frozen.sum() ** 2
        return x.double() + (self.wide**3).sum()


def odd_parameters(folder):
    torch.manual_seed(2)
    model = Odd()
    recorder = Recorder(folder, model, precision="fp32", every=1)
    for step in (1, 2, 3):
        model.zero_grad()
        if step > 1:
            for name, parameter in model.named_parameters():
                parameter.requires_grad = name == "frozen" or step == 2
        loss = model(torch.tensor([1, 4, 1]))
        loss.backward()
        recorder.step(loss)
        gradients = [each.grad.to_dense() for each in model.parameters() if each.grad is not None]
        gradients = [torch.view_as_real(each) if each.is_complex() else each for each in gradients]
        assert len(gradients) == (0, 5, 6, 1)[step]
        recorder._fetch()
        row = rows_of(folder, "steps.csv")[-1]
        norm = math.sqrt(sum(float(each.double().square().sum()) for each in gradients))
        assert near(row["gradient_norm"], norm) and row["skipped"] == "0", (row, norm)
        assert row["learning_rate"] == "nan" and near(row["loss"], loss.item()), row
        check_counts(rows_of(folder, "gradients.csv")[-1], gradients)
    recorder.close()
    assert not rows_of(folder, "events.csv")


def without_scaler(folder):
    """Nothing is skipped; an overflow is told until the loss is lost, and that is told once."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    with Recorder(folder, model, scaler, precision="amp-bf16", every=0) as recorder:
        for step in range(1, 6):
            optimizer.zero_grad()
            x, y = batch(step)
            with torch.autocast("cpu", torch.bfloat16):
                loss = nn.functional.l1_loss(model(x).float(), y)
            loss.backward()
            if step == 2:  # as a division by zero in a network would
                model[0].weight.grad = None
                (model[0].weight.sum() * math.inf).backward()
            optimizer.step()
            recorder.step(loss)
    rows = rows_of(folder, "steps.csv")
    assert [row["loss_not_finite"] for row in rows] == list("00111"), rows
    assert {row["skipped"] for row in rows} == {"0"} and {row["scale"] for row in rows} == {"1"}
    assert [(row["step"], row["kind"], row["tensor"], row["text"])
            for row in rows_of(folder, "events.csv")] == [
        ("2", "overflow", "gradient of 0.weight",
         "Step 2 overflowed, but the step was taken: gradient of 0.weight reached inf."),
        ("3", "loss-not-finite", "the loss", "Step 3: the loss itself is nan.")]
    assert not os.path.exists(os.path.join(folder, "gradients.csv"))


def lost_loss(folder):
    """A loss that is not finite is the first tensor, and so no scale would have helped; a gradient
    that the optimizer does not use makes it skip nothing."""
    model = network()
    optimizer = torch.optim.SGD(model[2].parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    recorder = Recorder(folder, model, scaler)
    for step in (1, 2):
        model.zero_grad()
        x, y = batch(step)
        loss = nn.functional.l1_loss(model(x), y / 0 if step == 1 else y)
        if step == 1:
            loss = loss * model[2].bias.sum()
        scaler.scale(loss).backward()
        if step == 2:
            (model[0].bias.sum() * math.inf).backward()
        scaler.step(optimizer)
        scaler.update()
        recorder.step(loss)
    recorder.close()
    assert [row["skipped"] for row in rows_of(folder, "steps.csv")] == ["1", "0"]
    events = [(row["kind"], row["tensor"], row["text"]) for row in rows_of(folder, "events.csv")]
    word = {"nan": "became nan", "inf": "reached inf", "-inf": "reached inf"}[
        rows_of(folder, "steps.csv")[0]["loss"]]
    assert events[0] == ("overflow", "the loss", f"Step 1 skipped: the loss {word} before it "
                         "was scaled by 4 (2^2); the scale falls to 2 (2^1)."), events[0]
    assert events[2][:2] == ("loss-not-finite", "the loss")
    assert events[2][2].endswith(", at any loss scale."), events[2]
    assert events[3] == ("overflow", "gradient of 0.bias", "Step 2 overflowed, but the step was "
                         "taken: gradient of 0.bias reached inf at loss scale 2 (2^1); the scale "
                         "stays."), events[3]


def refused(folder):
    def says(words, call, *arguments, **options):
        try:
            call(*arguments, **options)
        except (RuntimeError, ValueError, TypeError, FileExistsError) as error:
            assert words in str(error), error
        else:
            raise AssertionError(f"not refused: {words}")

    model = network()
    inner = os.path.join(folder, "run")
    lbfgs = torch.optim.LBFGS(model.parameters())
    says("precision: None is not allowed: one of fp32, ", Recorder, inner, model)
    says("precision: 'half' is not allowed", Recorder, inner, model, precision="half")
    says("optimizer: LBFGS is not allowed", Recorder, inner, model, precision="fp32",
         optimizer=lbfgs)
    says("every: -1 is not allowed", Recorder, inner, model, precision="fp32", every=-1)
    says("no parameter that is trained", Recorder, inner, nn.Tanh(), precision="fp32")
    says("scaler: LBFGS is not allowed: a GradScaler", Recorder, inner, model, lbfgs)
    assert not os.path.exists(inner), "a refusal leaves no folder"

    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu")
    recorder = Recorder(inner, model, scaler)
    says("already holds a run (experiment.json)", Recorder, inner, model, scaler)
    says("since step 0, no backward pass", recorder.step, 1.0)
    x, y = batch(1)
    loss = nn.functional.l1_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    says("must come after scaler.update()", recorder.step, loss)
    scaler.update()
    says("loss: a tensor of shape [2] is not allowed: one number", recorder.step, torch.ones(2))
    says("loss: None is not allowed: one number", recorder.step, None)
    says("learning_rate: [0.1, 0.2] is not allowed", recorder.step, loss, [0.1, 0.2])
    recorder.step(loss)
    says("since step 1, no backward pass", recorder.step, loss)
    recorder.close()
    says("the recorder is closed", recorder.step, loss)
    recorder.close()
    assert len(rows_of(inner, "steps.csv")) == 1


def killed(folder):
    """Ended between two fetches, a training leaves whole rows; ended by an error, all of them."""
    script = ("import os, sys, recorder_checks as checks\n"
              "from halfscope_recorder import Recorder\n"
              "recorder = Recorder(sys.argv[1], model := checks.network(), precision='fp32')\n"
              "for step in range(60):\n"
              "    model(checks.batch(step)[0]).sum().backward()\n"
              "    recorder.step(1.0)\n")
    for name, end, rows, outcome in (("kill", "os._exit(0)", 50, None),
                                     ("error", "raise SystemExit", 60, "interrupted")):
        run = os.path.join(folder, name)
        subprocess.run([sys.executable, "-c", script + end, run], check=True,
                       env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        assert len(rows_of(run, "steps.csv")) == rows
        summary = os.path.join(run, "summary.json")
        assert os.path.exists(summary) == (outcome is not None)
        if outcome:
            with open(summary) as file:
                assert json.load(file)["outcome"] == outcome


def merged(folder):
    paths = [os.path.join(folder, name) for name in ("a", "b", "c")]
    train(paths[0], steps=40)
    train(paths[1], steps=34)
    train(paths[2], steps=40, precision="fp32")
    with open(os.path.join(paths[1], "events.csv"), "a") as file:
        file.write("34,amp-fp16,over")  # as a kill may leave it
    both = os.path.join(folder, "both")

    def call(*arguments):
        return subprocess.run([sys.executable, halfscope_recorder.__file__, "merge", *arguments],
                              capture_output=True, text=True)

    assert call(*paths, both).returncode == 0
    names = ["amp-fp16", "amp-fp16-2", "fp32"]
    with open(os.path.join(both, "experiment.json")) as file:
        experiment = json.load(file)
    assert experiment["run"] == {"steps": 34} and experiment["title"] == "both"
    assert experiment["data"] == {"kind": "recorded"}
    for run, lane in zip(paths, experiment["lanes"]):
        with open(os.path.join(run, "experiment.json")) as file:
            assert json.load(file)["lanes"] == [lane]
    for table in halfscope_recorder.COLUMNS:
        rows = rows_of(both, table)
        key = "last_step" if table == "gradients.csv" else "step"
        order = [(int(row[key]), names.index(row["lane"])) for row in rows]
        assert order == sorted(order) and max(order)[0] <= 34, table
        for run, name in zip(paths, names):
            own = [row for row in rows_of(run, table)
                   if int(row[key]) <= 34 and None not in row.values()]
            found = [dict(row, lane=own[0]["lane"]) for row in rows if row["lane"] == name]
            assert found == own and own, (table, name)
    assert "already holds a run" in call(*paths, both).stderr
    assert call(both, paths[0], both + "2").stderr.startswith(
        "halfscope_recorder: 2 to 6 runs can be merged, of one lane each")
    assert call(paths[0], folder + "/none", both + "2").stderr == (
        f"halfscope_recorder: {folder}/none/experiment.json: No such file or directory\n")
    os.mkdir(folder + "/other")
    for text in ("{}", "[]", '{"lanes": [1]}', "mine"):
        with open(os.path.join(folder, "other", "experiment.json"), "w") as file:
            file.write(text)
        assert call(paths[0], folder + "/other", both + "2").stderr == (
            f"halfscope_recorder: {folder}/other/experiment.json is not of a run that a recorder "
            "has written\n")
    assert not os.path.exists(both + "2")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
