# SPDX-License-Identifier: 0BSD
"""Records a PyTorch training for Halfscope, which shows what half precision does to it.

    recorder = Recorder("out/run1", model, scaler)
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        recorder.step(loss)
    recorder.close()

`halfscope out/run1` opens the folder, also while the training runs. The command

    python halfscope_recorder.py merge out/fp32 out/amp out/both

lays runs side by side, such as one in float32 and one in float16. This file needs PyTorch 2.1 or
later and nothing of Halfscope: copy it wherever you like.
"""
import argparse
import atexit
import csv
import ctypes
import json
import math
import os
import platform
import sys
import time

import torch

PRECISIONS = "fp32", "tf32", "amp-fp16", "amp-bf16", "fp16", "bf16", "fp8"
FETCH_STEPS, FETCH_SECONDS = 50, 30  # how long values stay on the device, whichever ends first
LOWEST, BUCKETS = -40, 64  # gradients are counted by power of two, from 2^-40 to 2^23
COLUMNS = {
    "steps.csv": ["step", "lane", "loss", "scale", "growth_tracker", "learning_rate",
                  "gradient_norm", "skipped", "grew", "backed_off", "loss_not_finite",
                  "skipped_so_far"],
    "timing.csv": ["step", "lane", "device_seconds", "wall_seconds"],
    "gradients.csv": ["lane", "first_step", "last_step", "counted_step", "zero",
                      *(f"2^{LOWEST + i}" for i in range(BUCKETS)), "not_finite"],
    "events.csv": ["step", "lane", "kind", "scale_before", "scale_after", "tensor", "text"],
}


class Recorder:
    """Writes what happens in each step of a training into a folder.

    model      the module that is trained
    scaler     its GradScaler; None where the loss is not scaled
    precision  one of PRECISIONS; with an enabled scaler amp-fp16, unless another one is given
    title      what the window calls the run; by default the name of the folder
    every      gradients are counted by size at the steps 1, 1 + every, ...; 0: never
    optimizer  where the learning rate is read, in its first group

    At the end of each backward pass, the gradients are looked at before they are unscaled and
    clipped. Of several processes, only one should record: it sees the gradients that
    DistributedDataParallel has averaged.
    """

    def __init__(self, folder, model, scaler=None, *, precision=None, title=None, every=10,
                 optimizer=None):
        if not (scaler is None or hasattr(scaler, "is_enabled")):
            raise TypeError(f"scaler: {type(scaler).__name__} is not allowed: a GradScaler")
        self._scaler = scaler if scaler is not None and scaler.is_enabled() else None
        self._lane = precision or ("amp-fp16" if self._scaler else None)
        if self._lane not in PRECISIONS:
            raise ValueError(f"precision: {precision!r} is not allowed: one of "
                             f"{', '.join(PRECISIONS)}, or none with an enabled scaler")
        if isinstance(optimizer, torch.optim.LBFGS):
            raise TypeError("optimizer: LBFGS is not allowed: it runs several backward passes in "
                            "a step")
        if not isinstance(every, int) or every < 0:
            raise ValueError(f"every: {every!r} is not allowed: a whole number from 0")
        self._optimizer, self._every = optimizer, every
        self._names = {parameter: name for name, parameter in model.named_parameters()}
        trained = [parameter for parameter in self._names if parameter.requires_grad]
        if not trained:
            raise ValueError("model: it has no parameter that is trained")
        self._device = trained[0].device
        if self._device.type == "mps":
            raise ValueError("model: it is on the device mps, which has no float64; the recorder "
                             "works on CPUs and on GPUs with CUDA or ROCm")
        self._seen = {}  # parameters in the order in which backward passes of this step met them
        self._pass = None  # the number of the backward pass
        self._measured, self._pending = None, []
        self._steps = self._skipped = 0
        self._loss_was_finite = True
        self._first_scale = self._scaler.get_scale() if self._scaler else 1.0
        self._folder, self._title = os.fspath(folder), title_of(title, folder)
        make_folder(self._folder)
        self._write_settings()
        self._files = {name: open_table(self._folder, name, columns)
                       for name, columns in COLUMNS.items() if every or name != "gradients.csv"}
        self._hooks = [hook_on(parameter, self._accumulated) for parameter in self._names
                       if parameter.is_floating_point() or parameter.is_complex()]
        self._start = self._fetched = time.perf_counter()
        self._clock = self._now()
        atexit.register(self.close, "interrupted")

    def step(self, loss, learning_rate=None):
        """Records a step. Call it once for each update of the weights, after scaler.update() or,
        without a scaler, after optimizer.step()."""
        if self._files is None:
            raise RuntimeError("recorder.step(): the recorder is closed")
        if self._measured is None:
            raise RuntimeError(f"recorder.step(): since step {self._steps}, no backward pass has "
                               "given a parameter of the model its gradient")
        if getattr(self._scaler, "_per_optimizer_states", None):
            raise RuntimeError("recorder.step() must come after scaler.update()")
        if learning_rate is not None:
            self._measured["rate"] = kept(learning_rate, "learning_rate")
        now = time.perf_counter()
        after, tracker = self._scaler_state()
        self._pending.append(dict(self._measured, loss=kept(loss, "loss"), after=after, tracker=tracker,
                                  clock=self._now(), wall=now - self._start))
        self._measured = None
        self._seen.clear()
        self._steps += 1
        if len(self._pending) >= FETCH_STEPS or now - self._fetched > FETCH_SECONDS:
            self._fetch()

    def close(self, outcome="finished"):
        """Writes what is left. At the end of the program, this happens by itself."""
        if self._files is None:
            return
        atexit.unregister(self.close)
        for hook in self._hooks:
            hook.remove()
        self._fetch()
        for file in self._files.values():
            file.close()
        self._files = None
        device = {"name": f"CPU ({platform.machine()})", "kind": "cpu",
                  "libraries": f"PyTorch {torch.__version__}", "memory_bytes": 0}
        peak = 0
        if self._device.type == "cuda":
            properties = torch.cuda.get_device_properties(self._device)
            device.update(name=properties.name, kind="cuda", memory_bytes=properties.total_memory)
            peak = torch.cuda.max_memory_allocated(self._device)
        write_summary(self._folder, outcome, self._steps, device,
                      [{"name": self._lane, "precision": self._lane, "peak_bytes": peak}])

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        self.close("interrupted" if error else "finished")

    def _accumulated(self, parameter):
        """Called in a backward pass, whenever a parameter has its gradient."""
        self._seen.pop(parameter, None)  # the last pass decides about the order
        self._seen[parameter] = None
        number = torch._C._current_graph_task_id()
        if number != self._pass:
            self._pass = number
            queue = torch.autograd.Variable._execution_engine.queue_callback
            # from a callback, and so after the one in which DistributedDataParallel averages
            queue(lambda: queue(self._measure))

    @torch.no_grad()
    def _measure(self):
        """Called at the end of a backward pass. Of several in a step, the last one counts, which
        has the sums. Like the optimizer, it takes all gradients that are there."""
        seen = [parameter for parameter in dict.fromkeys([*self._seen, *self._names])
                if parameter.grad is not None]
        if not seen:
            return
        gradients = [stored(parameter.grad) for parameter in seen]
        size = sum(each.grad.numel() * (2 if each.is_complex() else 1) for each in seen)
        counted = self._every > 0 and self._steps % self._every == 0 and size > 0
        self._measured = {
            "names": [self._names[parameter] for parameter in seen], "norms": norms_of(gradients),
            "counts": exponents(gradients) if counted else [], "size": size,
            "scale": self._scaler_state()[0],
            "rate": kept(self._optimizer.param_groups[0]["lr"], "optimizer") if self._optimizer else math.nan}

    def _scaler_state(self):
        """Returns the scale and the growth tracker, still on the device if they are there."""
        if self._scaler is None:
            return 1.0, 0
        scale = getattr(self._scaler, "_scale", None)
        if scale is None:  # not used yet, or not PyTorch's own
            return self._scaler.get_scale(), self._scaler.state_dict()["_growth_tracker"]
        return kept(scale, "scaler"), kept(self._scaler._growth_tracker, "scaler")

    def _now(self):
        if self._device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event

    def _seconds_to(self, clock):
        before, self._clock = self._clock, clock
        if isinstance(clock, float):
            return clock - before
        clock.synchronize()
        return before.elapsed_time(clock) / 1000

    def _fetch(self):
        """Copies what is pending from the device, all at once, and writes it."""
        pending, self._pending = self._pending, []
        keys = "norms", "counts", "loss", "scale", "after", "tracker", "rate"
        values = iter(fetched([step[key] for step in pending for key in keys]))
        tables = {name: [] for name in self._files}
        for number, step in enumerate(pending, self._steps - len(pending) + 1):
            norms, counts, *singles = (next(values) for _ in keys)
            self._add(tables, number, step, norms, *(single[0] for single in singles))
            if counts:
                tables["gradients.csv"].append([self._lane, *[number] * 3,
                                                *shares(counts, step["size"])])
        for name, rows in tables.items():  # steps.csv first, which the others refer to
            write_rows(self._files[name], rows)
        self._write_settings()
        self._fetched = time.perf_counter()

    def _add(self, tables, number, step, norms, loss, scale, after, tracker, rate):
        """Appends the row, the time and the events of a step."""
        bad = [each for each in zip(step["names"], norms) if not math.isfinite(each[1])]
        # a gradient that no optimizer of the scaler uses does not make it skip
        skipped = self._scaler is not None and (
            after < scale or (len(bad) > 0 and tracker == 0 and after == scale))
        self._skipped += skipped
        self._first_scale = scale if number == 1 else self._first_scale
        lost = not math.isfinite(loss)
        norm = math.hypot(*norms) / scale if scale else math.nan
        tables["steps.csv"].append([
            number, self._lane, text(loss), text(scale), int(tracker), text(rate), text(norm),
            int(skipped), int(after > scale), int(after < scale), int(lost), self._skipped])
        tables["timing.csv"].append([number, self._lane, text(self._seconds_to(step["clock"])),
                                     text(step["wall"])])
        scales = (scale, after) if self._scaler else None
        for kind, tensor, sentence in events_of(number, scales, skipped, loss, bad):
            if kind != "loss-not-finite" or self._loss_was_finite:
                tables["events.csv"].append([number, self._lane, kind, text(scale), text(after),
                                             tensor, sentence])
        self._loss_was_finite = not lost

    def _write_settings(self):
        lane = {"precision": self._lane, "scaler": {"mode": "off"}}
        if self._scaler:  # within the limits of Halfscope's settings
            lane["scaler"] = {
                "mode": "dynamic", "init_scale": min(max(self._first_scale, 1e-37), 3.4e38),
                "growth_factor": min(self._scaler.get_growth_factor(), 1e6),
                "backoff_factor": max(self._scaler.get_backoff_factor(), 1e-6),
                "growth_interval": min(max(self._scaler.get_growth_interval(), 1), 10**9)}
        write_settings(self._folder, self._title, self._steps, [lane])


def hook_on(parameter, function):
    """Makes a backward pass call a function once the parameter has its gradient, also if it is
    frozen now and trained later."""
    trained = parameter.requires_grad
    hook = parameter.requires_grad_(True).register_post_accumulate_grad_hook(function)
    parameter.requires_grad_(trained)
    return hook


def stored(gradient):
    """Returns the values that a gradient stores; a sparse one stores fewer than it has."""
    if gradient.is_sparse:
        gradient = gradient.coalesce().values()
    return torch.view_as_real(gradient.resolve_conj()) if gradient.is_complex() else gradient


def norms_of(gradients):
    """Returns their L2 norms. They are finite if and only if the gradients are, because float64
    can hold the squares of all that float32 can."""
    def wide(gradient):
        if gradient.device.type == "cpu":  # float32 is faster there, and a look costs no time
            narrow = torch.promote_types(gradient.dtype, torch.float32)
            norm = torch.linalg.vector_norm(gradient, dtype=narrow)
            if torch.isfinite(norm):
                return norm.double()
        return torch.linalg.vector_norm(gradient, dtype=torch.float64)

    try:
        cuda = all(gradient.is_cuda for gradient in gradients)
        norms = (torch._foreach_norm(gradients, 2, torch.float64) if cuda
                 else [wide(gradient) for gradient in gradients])
    except TypeError:  # of earlier versions of PyTorch
        norms = [wide(gradient) for gradient in gradients]
    return torch.stack([norm.to(norms[0].device) for norm in norms])


def exponents(gradients):
    """Returns how many values have each exponent field of float32 (0: zero or almost, 255: inf or
    nan) and, as the last number, how many are not zero."""
    device = gradients[0].device
    fields = [((gradient.float().view(torch.int32) >> 23) & 255).to(device, torch.uint8).flatten()
              for gradient in gradients]
    nonzero = sum(torch.count_nonzero(gradient).to(device) for gradient in gradients)
    return torch.cat([torch.bincount(torch.cat(fields), minlength=256), nonzero.reshape(1)])


def shares(counts, size):
    """Returns the shares of gradients.csv: zero, by power of two, not finite."""
    *fields, nonzero = counts
    buckets = [0.0] * BUCKETS
    for field, count in enumerate(fields[:255]):
        buckets[min(max(field - 127 - LOWEST, 0), BUCKETS - 1)] += count
    buckets[0] -= sum(fields) - nonzero  # the zeros among them
    return [text(count / size) for count in (size - nonzero, *buckets, fields[255])]


def kept(value, name):
    """Returns a number, or a copy of a tensor of one that nothing changes later."""
    if not torch.is_tensor(value):
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name}: {value!r} is not allowed: one number") from None
    if value.numel() != 1:
        raise ValueError(f"{name}: a tensor of shape {list(value.shape)} is not allowed: one "
                         "number")
    return value.detach().clone()


def fetched(values):
    """Returns numbers, lists and tensors as lists. They leave the device in one copy."""
    if not values:
        return []
    device = next((value.device for value in values if torch.is_tensor(value)), "cpu")
    flat = [torch.as_tensor(value, dtype=torch.float64).to(device).flatten() for value in values]
    numbers = iter(torch.cat(flat).tolist())
    return [[next(numbers) for _ in range(len(each))] for each in flat]


def events_of(number, scales, skipped, loss, bad):
    """Returns the events of a step, each with its kind, tensor and sentence. `scales` are those
    before and after it, if any; `bad` are names and norms of gradients that are not finite."""
    before, after = scales or (1, 1)
    lost, events = not math.isfinite(loss), []
    if skipped or (bad and not lost):
        tensor, value = (f"gradient of {bad[0][0]}", bad[0][1]) if bad else ("", 0)
        more = len(bad) - 1
        if lost and bad:
            tensor, value, more = "the loss", loss, 0
        why = (f"{tensor} {'became nan' if math.isnan(value) else 'reached inf'}" if tensor
               else "a gradient was not finite")  # one of another process
        if scales:
            why += " before it was scaled by " if tensor == "the loss" else " at loss scale "
            why += scale_text(before)
        if more > 0:
            why += f", and {more} other gradient{' is' if more == 1 else 's are'} not finite"
        falls = (f"falls to {scale_text(after)}" if after < before else
                 "is 0 and cannot grow again" if after == 0 else
                 "is inf and cannot fall again" if math.isinf(after) else "stays")
        what = "skipped" if skipped else "overflowed, but the step was taken"
        end = f"; the {'loss ' if falls[:2] == 'is' else ''}scale {falls}" if scales else ""
        events.append(("overflow", tensor, f"Step {number} {what}: {why}{end}."))
    if after != before:
        kind, moves = ("backoff", "falls") if after < before else ("growth", "grows")
        events.append((kind, "", f"Step {number}: the loss scale {moves} from "
                                 f"{scale_text(before)} to {scale_text(after)}."))
    if lost:
        is_what = "nan" if math.isnan(loss) else "infinite"
        end = ", at any loss scale." if scales else "."
        events.append(("loss-not-finite", "the loss",
                       f"Step {number}: the loss itself is {is_what}{end}"))
    return events


def scale_text(scale):
    mantissa, exponent = math.frexp(scale)
    if mantissa != 0.5:
        return text(scale)
    power = f"2^{exponent - 1}"
    return power if exponent < -9 else f"{text(scale)} ({power})"


def text(number):
    """Returns the shortest text of a number as float32, beyond whose range nothing is read."""
    value = ctypes.c_float(number).value
    texts = (format(value, f".{digits}g") for digits in (4, 6, 7, 8))
    return next((each for each in texts if ctypes.c_float(float(each)).value == value),
                format(value, ".9g"))


def make_folder(folder):
    os.makedirs(folder, exist_ok=True)
    for name in ("experiment.json", *COLUMNS):
        if os.path.lexists(os.path.join(folder, name)):
            raise FileExistsError(f"{folder} already holds a run ({name}): choose another folder")


def title_of(title, folder):
    """Returns a title in one line, and of at most 200 bytes."""
    title = os.path.basename(os.path.abspath(folder)) if title is None else str(title)
    line = "".join(each if each.isprintable() else " " for each in title)
    return line.encode("utf-8", "replace")[:200].decode("utf-8", "ignore")


def open_table(folder, name, columns):
    file = open(os.path.join(folder, name), "w", encoding="utf-8", newline="")
    write_rows(file, [columns])
    return file


def write_rows(file, rows):
    """Leaves whole rows on the disk, whenever the training is killed."""
    csv.writer(file, lineterminator="\n").writerows(rows)
    file.flush()


def write_json(folder, name, content):
    path = os.path.join(folder, name)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(content, file, indent=2, ensure_ascii=False)
    os.replace(path + ".new", path)


def write_settings(folder, title, steps, lanes):
    write_json(folder, "experiment.json",
               {"version": 1, "title": title, "data": {"kind": "recorded"},
                "run": {"steps": max(1, steps)}, "lanes": lanes})


def write_summary(folder, outcome, steps, device, lanes):
    write_json(folder, "summary.json", {"version": 1, "outcome": outcome, "steps": steps,
                                        "device": device, "lanes": lanes})


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def lanes_of(folder):
    """Returns the lanes of a run that a recorder has written."""
    try:
        lanes = json.loads(read(folder, "experiment.json"))["lanes"]
        if all("precision" in lane for lane in lanes):
            return lanes
    except (KeyError, TypeError, ValueError):
        pass
    raise ValueError(f"{os.path.join(folder, 'experiment.json')} is not of a run that a recorder "
                     "has written")


def read_table(folder, name):
    """Returns the rows of a table, without a last line that is not whole."""
    if not os.path.exists(os.path.join(folder, name)):
        return []
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        lines = file.read().splitlines(keepends=True)
    return list(csv.DictReader(line for line in lines if line.endswith("\n")))


def merge(runs, folder):
    """Lays runs of one lane each side by side, as far as the shortest one goes."""
    lanes = [lane for run in runs for lane in lanes_of(run)]
    if len(lanes) != len(runs) or not 2 <= len(runs) <= 6:
        raise ValueError("2 to 6 runs can be merged, of one lane each")
    kinds = [lane["precision"] for lane in lanes]
    numbers = [kinds[:i + 1].count(kind) for i, kind in enumerate(kinds)]
    names = [kind + (f"-{n}" if n > 1 else "") for kind, n in zip(kinds, numbers)]
    tables = {name: [read_table(run, name) for run in runs] for name in COLUMNS}
    steps = min(map(len, tables["steps.csv"] + tables["timing.csv"]))
    if steps == 0:
        raise ValueError("one of the runs has no steps")
    make_folder(folder)
    for name, sources in tables.items():
        key = "last_step" if name == "gradients.csv" else "step"
        rows = [dict(row, lane=names[lane]) for lane, source in enumerate(sources)
                for row in source if int(row[key]) <= steps]
        rows.sort(key=lambda row: int(row[key]))  # keeps the order of lanes and of events
        columns = list(dict.fromkeys([*COLUMNS[name], *(each for row in rows for each in row)]))
        if rows or name != "gradients.csv":
            with open_table(folder, name, columns) as file:
                write_rows(file, ([row.get(each, "") for each in columns] for row in rows))
    write_settings(folder, title_of(None, folder), steps, lanes)
    if all(os.path.exists(os.path.join(run, "summary.json")) for run in runs):
        found = [json.loads(read(run, "summary.json")) for run in runs]
        write_summary(folder, "finished", steps, found[0]["device"], [
            {"name": name, "precision": kind, "peak_bytes": each["lanes"][0]["peak_bytes"]}
            for name, kind, each in zip(names, kinds, found)])


def main():
    parser = argparse.ArgumentParser(description="Merges runs that a Recorder has written.")
    command = parser.add_subparsers(required=True).add_parser(
        "merge", help="lay runs of one lane each side by side, as the lanes of one run")
    command.add_argument("runs", nargs="+", metavar="RUN", help="the folder of a run")
    command.add_argument("folder", metavar="OUT", help="the folder to write")
    options = parser.parse_args()
    try:
        merge(options.runs, options.folder)
    except OSError as error:
        sys.exit("halfscope_recorder: " + (f"{error.filename}: {error.strerror}" if error.filename
                                           else str(error)))
    except (ValueError, KeyError) as error:
        sys.exit(f"halfscope_recorder: {error}")


if __name__ == "__main__":
    main()
