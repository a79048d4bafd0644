"""Shared by the recording scripts of this folder: the command line, the head of what they write,
and the comparison of a new recording with a file."""
import argparse
import json
import math
import os
import sys

import torch


def device():
    """The GPU that records what the processor cannot, or None."""
    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else None


def deviation(new, old, least=0):
    """How far the numbers are apart at most, as a fraction of the largest magnitude of their list
    (or of `least`, if that is larger). 0: all are the same. inf: lengths, texts or kinds differ, or
    a number is finite where the other is not."""
    if isinstance(new, dict) and isinstance(old, dict):
        if new.keys() != old.keys():
            return math.inf
        return max((deviation(new[key], old[key], least) for key in new), default=0)
    if isinstance(new, list) and isinstance(old, list):
        if len(new) != len(old):
            return math.inf
        if not all(isinstance(x, (int, float)) for x in new + old):
            return max((deviation(x, y, least) for x, y in zip(new, old)), default=0)
        largest = max((abs(y) for y in old if math.isfinite(y)), default=0)
        largest = max(largest, least)
        return max((between(x, y, largest) for x, y in zip(new, old)), default=0)
    if isinstance(new, (int, float)) and isinstance(old, (int, float)):
        return between(new, old, max(abs(old), least))
    return 0 if new == old else math.inf


def between(x, y, largest):
    if x == y or (math.isnan(x) and math.isnan(y)):
        return 0
    if not (math.isfinite(x) and math.isfinite(y)) or largest == 0:
        return math.inf
    return abs(x - y) / largest


def rows(document):
    """(list, index or name) -> row, for all lists and tables of a document; any other value is a
    row."""
    found = {}
    for key, value in document.items():
        if key in ("torch", "device"):
            continue
        if isinstance(value, (list, dict)):
            pairs = enumerate(value) if isinstance(value, list) else value.items()
            found.update({(key, name): row for name, row in pairs})
        else:
            found[key, ""] = value
    return found


def compare(path, recorded, bound, least, title):
    """Prints how far a new recording is from a file. True: every row is within its bound."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    # through JSON, so that tuples are lists
    new, old = rows(json.loads(json.dumps(recorded))), rows(document)
    print(f"{os.path.basename(path)}: from PyTorch {document.get('torch', '?')}, "
          f"compared with {torch.__version__} on {device() or 'the CPU'}")
    exact, close, left, wrong = 0, [], 0, []
    for place in list(old) + [place for place in new if place not in old]:
        name = " ".join(str(part) for part in place) + " " + title(new.get(place) or old.get(place))
        if place not in new or place not in old:
            wrong.append(f"{name}: only in {'the file' if place in old else 'the new recording'}")
        elif new[place] is None and old[place] is not None:
            left += 1
        else:
            apart, most = deviation(new[place], old[place], least), bound(new[place])
            exact += apart == 0
            if apart > most:
                wrong.append(f"{name}: {apart:.2g} apart, {most:.2g} allowed")
            elif apart > 0:
                close.append((apart, most, name))
    print(f"  {exact} of {len(old)} agree exactly")
    if close:
        apart, most, name = max(close, key=lambda entry: entry[0] / entry[1])
        print(f"  {len(close)} agree within their bounds; the worst is {apart:.2g} apart, "
              f"{most:.2g} allowed ({name.strip()})")
    if left:
        print(f"  {left} need a CUDA GPU and were left as they are")
    for line in wrong:
        print("  " + line)
    return not wrong


def run(script, record, bound=lambda row: 0, least=0, title=lambda row: ""):
    """The command line of a script: record_X.py records X.json. `record` makes the document, in
    which a row that needs a GPU is None. `bound` tells how far a row may be from one of another
    machine."""
    name = os.path.basename(script).replace("record_", "").replace(".py", ".json")
    about = f"Records {name} from PyTorch, or compares a new recording with it."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("file", nargs="?", default=os.path.join(os.path.dirname(script), name))
    parser.add_argument("--check", action="store_true", help="compare with FILE and change nothing")
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.set_num_threads(1)
    recorded = record()
    if arguments.check:
        sys.exit(0 if compare(arguments.file, recorded, bound, least, title) else 1)
    if any(row is None for row in rows(recorded).values()):
        sys.exit(f"{name} has rows that only a CUDA GPU can record; --check compares the others")
    with open(arguments.file, "w", encoding="utf-8") as to:
        json.dump({"torch": torch.__version__, "device": device() or "CPU", **recorded}, to,
                  separators=(",", ":"))
        to.write("\n")
