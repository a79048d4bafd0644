// Other tables stand behind the one to train on, which alone decides what columns and classes are.
#include "engine/data/csv_python.h"

#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/held_back.h"
#include "engine/data/losses.h"
#include "engine/data/own_files.h"
#include "engine/data/table_python.h"
#include "engine/data/target_scale.h"
#include "engine/data/targets.h"
#include "engine/lang/python.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

/// Returns the words as a Python set.
std::string pythonSet(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words)
        text += (text.empty() ? "" : ", ") + lang::pythonText(std::string(word));
    return "{" + text + "}";
}

constexpr std::string_view kPythonColumns = R"(
TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def columns(fields, number):
    """Whether they are words, and the columns: numbers as one, words as one of 0 and 1 for each."""
    words = sorted(set(fields) - MISSING)
    try:
        tables = [{word: number(word) for word in words}]
    except ValueError:
        if not all(word.lower() in TRUTH for word in words):
            tables = [{word: float(word == each) for word in words} for each in words]
            return True, [[table.get(field, math.nan) for field in fields] for table in tables]
        tables = [{word: TRUTH[word.lower()] for word in words}]
    return False, [[tables[0].get(field, math.nan) for field in fields]]
)";

/// columns() where other tables follow the one to train on.
constexpr std::string_view kPythonOwnColumns = R"(
TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def columns(fields, number, known):
    """Whether they are words, and the columns: numbers as one, words as one of 0 and 1 for each.

    What they are is decided by the first `known` fields, those to train on.
    """
    words, every = sorted(set(fields[:known]) - MISSING), set(fields) - MISSING
    value = number
    if all(word.lower() in TRUTH for word in words):
        value = lambda word: TRUTH[word.lower()] if word.lower() in TRUTH else number(word)
    try:
        [value(word) for word in words]
    except ValueError:
        tables = [{word: float(word == each) for word in every} for each in words]
        return True, [[table.get(field, math.nan) for field in fields] for table in tables]
    table = {word: value(word) for word in every}
    return False, [[table.get(field, math.nan) for field in fields]]


def others(path, separator, names, wanted):
    """The columns `wanted` of a table that is not trained on, in this order."""
    with {OPEN} as file:
        lines = (" ".join(line.split()) for line in file) if separator == " " else file
        reader = csv.reader(lines, delimiter=separator)
        rows = [[field.strip(" \t") for field in row] for row in reader]
    rows = [row for row in rows if any(row)]
    if rows[0][0].startswith("sep="):
        del rows[0]
    if HEADER:
        first, *rows = rows
        names = names or first
    else:
        names = [f"c{i + 1}" for i in range(len(rows[0]))]
{GAPS}    order = [names.index(name) for name in wanted]
    return [[row[i] for i in order] for row in rows]
)";

/// For columns of numbers with words for missing values, see CsvLayout::lacks().
constexpr std::string_view kPythonWithoutGaps = R"(

def without_gaps(names, rows):
    """Empties fields of GAPPY, columns of numbers, where they have words for a missing value."""
    gappy = [name in GAPPY for name in names]
    return [
        ["" if gap and field.lower() in GAPS else field for gap, field in zip(gappy, row)]
        for row in rows
    ]

)";
constexpr std::string_view kPythonUseWithoutGaps = "    rows = without_gaps(names, rows)\n";

constexpr std::string_view kPythonDrop =
    R"(    rows = [row for row in rows if not any(row[i] in MISSING for i in [at, *kept])]
)";
constexpr std::string_view kPythonFill =
    R"(    rows = [row for row in rows if row[at] not in MISSING]
)";
constexpr std::string_view kPythonOwnDrop =
    R"(    tables = [[row for row in table if not MISSING.intersection(row)] for table in tables]
)";
constexpr std::string_view kPythonOwnFill =
    R"(    tables = [[row for row in table if row[0] not in MISSING] for table in tables]
)";
constexpr std::string_view kPythonTables = R"(    order = [at, *kept]
    tables = [[[row[i] for i in order] for row in rows]]
    tables += [others(*table, [names[i] for i in order]) for table in OTHERS]
    at, kept = 0, range(1, len(order))
{MISSING}    known, rows = len(tables[0]), [row for table in tables for row in table]
)";
constexpr std::string_view kPythonMean = R"(    x = x.where(~x.isnan(), x[train].nanmean(0))
)";

constexpr std::string_view kPythonClasses = R"(
    words = [row[at] for row in rows]
    try:
        numbers = [number(word) for word in words]
        if not any(map(math.isnan, numbers)):  # "1.0" is "1", but long ids may be one float
            words = [(n, word if abs(n) >= 2**53 else "") for n, word in zip(numbers, words)]
    except ValueError:
        pass
    classes = sorted(set(words{KNOWN}))
    places = {word: place for place, word in enumerate(classes)}
{SAME}    target = torch.tensor([places[word] for word in words])
)";
/// Other tables may write a class that is a number in another way.
constexpr std::string_view kPythonSameClasses = R"(    values = {}
    for word in classes:
        try:
            values.setdefault(number(str(word)), places[word])
        except ValueError:
            pass
    places |= {word: values[number(word)] for word in set(words) - set(places)}  # "1.0" is "1"
)";
constexpr std::string_view kPythonNumbers = R"(
    target = torch.tensor([[number(row[at])] for row in rows]{DOUBLE})
)";
constexpr std::string_view kPythonTruths = R"(
    target = torch.tensor(columns([row[at] for row in rows], number{COUNT})[1]).T
)";

constexpr std::string_view kPythonStandardise =
    R"(    mean, deviation = x[train].mean(0), x[train].std(0, correction=0)
    same = (x[train] == x[train][0]).all(0)
    x = (x - mean) / deviation.where(~same, torch.inf)
)";

constexpr std::string_view kPythonSamples = R"(

def samples():
{READ}
{GAPS}    kept = [i for i, name in enumerate(names) if name not in DROP]
    named = [i for i in kept if not re.fullmatch(r"(Unnamed: \d+)?", names[i])]
    at = {COLUMN}
    kept = [i for i in named if i != at] or [i for i in kept if i != at]
{ROWS}    parts = [columns([row[i] for row in rows], number{COUNT}) for i in kept]
    parts.sort(key=lambda part: part[0])  # words stand behind numbers
    inputs = [column for _, part in parts for column in part]
    x = torch.tensor(inputs, dtype=torch.float64).T{TARGET}{HELD}{MEAN}{STANDARDISE}{SCALED}    x = x.float()
    return (x[train], target[train]), (x[held], target[held]){TESTED}
)";

/// Returns what others() takes of the tables that follow the one to train on.
std::string otherTables(const TaskConfig& task) {
    std::string all;
    for (const std::string* path : {&task.validationPath, &task.testPath}) {
        if (path->empty()) continue;
        CsvFile file(*path, task.header);
        std::string names;
        for (const std::string& name : file.readHeader())
            names += (names.empty() ? "[" : ", ") + lang::pythonText(name);
        all += "    (" + lang::pythonText(*path) + ", " +
               lang::pythonText(std::string(1, file.separator())) + ", " +
               (file.hasNamesAsRead() || !task.header ? "None" : names + "]") + "),\n";
    }
    return "OTHERS = [  # path, separator, and the names of the columns where it has others\n" +
           all + "]\n";
}

/// Returns the lines that set `train` and `held`, and `tested` where a table has the test.
std::string ownHeld(const TaskConfig& task) {
    const bool validates = validatesOwn(task), tests = testsOwn(task);
    std::string text;
    if (validates) {
        text = "    train = torch.arange(known)\n"
               "    held = torch.arange(known, known + len(tables[1]))\n";
    } else {
        text = "    every, x, target = (x, target), x[:known], target[:known]\n" +
               heldBackPython(task) + "    x, target = every\n";
    }
    if (tests) text += "    tested = torch.arange(len(rows) - len(tables[-1]), len(rows))\n";
    return text;
}

bool hasOthers(const TaskConfig& task) { return validatesOwn(task) || testsOwn(task); }

/// Returns the lines that leave out rows, and put those of other tables behind those to train on.
std::string rowsPython(const TaskConfig& task) {
    const bool drops = task.missing == Missing::Drop, fills = task.missing == Missing::Mean;
    if (hasOthers(task))
        return lang::filled(kPythonTables, {{"MISSING", std::string(drops   ? kPythonOwnDrop
                                                                    : fills ? kPythonOwnFill
                                                                            : "")}});
    return std::string(drops ? kPythonDrop : fills ? kPythonFill : "");
}

std::string targetPython(const TaskConfig& task) {
    const bool classes = infoOf(task.loss.kind).ofLabels, others = hasOthers(task);
    return lang::filled(classes                                     ? kPythonClasses
                        : task.loss.kind == LossKind::BceWithLogits ? kPythonTruths
                                                                    : kPythonNumbers,
                        {{"KNOWN", others ? "[:known]" : ""},
                         {"SAME", std::string(others ? kPythonSameClasses : "")},
                         {"COUNT", others ? ", known" : ""},
                         {"DOUBLE", standardisesTarget(task) ? ", dtype=torch.float64" : ""}});
}

/// Returns the sets and the function that `gappy` columns need.
std::string gapsPython(const std::vector<std::string>& gappy) {
    if (gappy.empty()) return {};
    const std::vector<std::string_view> names(gappy.begin(), gappy.end());
    return "\nGAPPY = " + pythonSet(names) + "\nGAPS = " + pythonSet(kGapWords) + "\n" +
           std::string(kPythonWithoutGaps);
}

} // namespace

PythonData csvPython(const TaskConfig& task, int64_t) {
    const bool refuses = task.missing == Missing::Refuse;
    const std::vector<std::string> gappy =
        refuses ? std::vector<std::string>() : columnsWithGaps(task);
    const std::string gaps(gappy.empty() ? "" : kPythonUseWithoutGaps);
    const bool fills = task.missing == Missing::Mean, others = hasOthers(task);
    const std::vector<std::string> dropped = droppedColumns(task.drop);
    const std::vector<std::string_view> names(dropped.begin(), dropped.end());
    const std::string samples = lang::filled(
        kPythonSamples,
        {{"COLUMN", task.target.empty() ? "(named or kept)[-1]"
                                        : "names.index(" + lang::pythonText(task.target) + ")"},
         {"READ", readTablePython(task)},
         {"GAPS", gaps},
         {"TARGET", targetPython(task)},
         {"ROWS", rowsPython(task)},
         {"COUNT", others ? ", known" : ""},
         {"MEAN", std::string(fills ? kPythonMean : "")},
         {"HELD", others ? ownHeld(task) : heldBackPython(task)},
         {"STANDARDISE", std::string(task.standardise ? kPythonStandardise : "")},
         {"SCALED", scaleTargetPython(task, "target", {1})},
         {"TESTED", testsOwn(task) ? ", (x[tested], target[tested])" : ""}});
    PythonData python{
        "import csv\n" + openerImports(task) + "import math\nimport re\n",
        "TABLE = " + lang::pythonText(task.path) + "\n" +
            (others ? otherTables(task) + "HEADER = " + lang::pythonTruth(task.header) + "\n"
                    : std::string()) +
            "DROP = " + (names.empty() ? "set()" : pythonSet(names)) +
            "\nMISSING = " + (refuses ? "set()" : pythonSet(kMissingWords)) + gapsPython(gappy) +
            (others ? lang::filled(kPythonOwnColumns,
                                   {{"OPEN", openPython(task, "path")}, {"GAPS", gaps}})
                    : std::string(kPythonColumns)) +
            openerPython(task) + samples};
    python.tests = testsOwn(task);
    return withTargetScale(std::move(python), task);
}

} // namespace halfscope
