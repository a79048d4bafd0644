// Samples with arrays of their own stand behind those to train on, which alone decide the scale.
#include "engine/data/array_python.h"

#include "engine/core/text.h"
#include "engine/data/array_parts.h"
#include "engine/data/array_places.h"
#include "engine/data/held_back.h"
#include "engine/data/own_files.h"
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

constexpr std::string_view kPythonTrainNames =
    R"([name, name.upper(), name + "_train", name.upper() + "_train", *arrays])";
constexpr std::string_view kPythonNames =
    R"([name + part, name.upper() + part]
    if part == "_train":
        names = [name, name.upper(), *names, *arrays])";
constexpr std::string_view kPythonTest = R"(    train = torch.arange(len(x) - len(more))
    held = torch.arange(len(train), len(x))
)";

/// Returns the lines that put samples with arrays of their own behind those to train on.
std::string ownArrays(std::span<const ArrayPart> parts, const std::string& inputs,
                      const std::string& type) {
    if (parts.empty()) return {};
    std::string x, y;
    for (const ArrayPart& part : parts) {
        const auto other = [](const ArrayPlace& place, const ArrayInfo& info) {
            return "other(" + lang::pythonText(place.path) + ", " + lang::pythonText(info.name) +
                   ")";
        };
        x += ", " + other(part.xPlace, part.x) + inputs;
        y += ", " + other(part.yPlace, part.y) + type;
    }
    return "    xs, ys = [x" + x + "], [y" + y +
           R"(]
    known, total = len(x), sum(map(len, xs))
    x = torch.cat([each.reshape(-1, *x.shape[1:]) for each in xs])
    y = torch.cat([each.reshape(-1, *y.shape[1:]) for each in ys])
)";
}

/// Returns the lines that set `train` and `held`, and `tested` where the test has its own arrays.
std::string heldPython(const TaskConfig& task, std::span<const ArrayPart> parts) {
    if (validatesTestArrays(task)) return std::string(kPythonTest);
    if (parts.empty()) return heldBackPython(task, "y");
    const std::string tested =
        testsOwn(task) ? "    tested = torch.arange(total - len(xs[-1]), total)\n" : std::string();
    if (validatesOwn(task))
        return "    train = torch.arange(known)\n"
               "    held = torch.arange(known, known + len(xs[1]))\n" +
               tested;
    return "    every, x, y = (x, y), x[:known], y[:known]\n" + heldBackPython(task, "y") +
           "    x, y = every\n" + tested;
}

constexpr std::string_view kPythonArrays = R"(X = {X}
Y = {Y}


def tensor(array):  # in the byte order of this machine
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))


def array(path, name{PART}):
    if path.lower().endswith(".npy"):
        return tensor(numpy.load(path))
    archive = path.lower().endswith(".npz")
    arrays = numpy.load(path) if archive else load_file(path)
    names = {NAMES}
    found = next(arrays[each] for each in names if each in arrays)
    return tensor(found) if archive else found

{OTHER}
def samples():
    x, y = array(X, "x"){INPUTS}, array(Y, "y"){TYPE}
{TEST}    x = x[:, None] if x.dim() == 1 else x
    y = {SHAPED}
{HELD}{SCALED}    return (x[train], y[train]), (x[held], y[held]){TESTED}
)";

constexpr std::string_view kPythonOther = R"(
def other(path, name):
    if path.lower().endswith(".npy"):
        return tensor(numpy.load(path))
    return tensor(numpy.load(path)[name]) if path.lower().endswith(".npz") else load_file(path)[name]

)";

} // namespace

PythonData arrayPython(const TaskConfig& task, int64_t) {
    const auto isTensors = [](const std::string& path) {
        return lowerCase(path).ends_with(".safetensors");
    };
    std::vector<ArrayPart> parts;
    if (testsOwn(task) || (validatesOwn(task) && !validatesTestArrays(task)))
        parts = ownPartsOf(task, infoAt(placeOfX(task)), infoAt(placeOfY(task)));
    bool tensors = isTensors(task.x) || isTensors(task.y);
    for (const ArrayPart& part : parts)
        tensors |= isTensors(part.xPlace.path) || isTensors(part.yPlace.path);
    const bool indices = task.indices > 0 && holdsIndices(task, infoAt(placeOfX(task)));
    const auto numbers = [](bool standardised) { return standardised ? ".double()" : ".float()"; };
    const std::string inputs = indices ? ".long()" : numbers(task.standardiseX);
    const std::string type = wantsClasses(task) ? ".long()" : numbers(standardisesTarget(task));
    const bool testArrays = validatesTestArrays(task);
    const std::string test = testArrays ? lang::filled(
                                              R"(    more = array(X, "x", "_test"){INPUTS}
    x, y = torch.cat([x, more]), torch.cat([y, array(Y, "y", "_test"){TYPE}])
)",
                                              {{"INPUTS", inputs}, {"TYPE", type}})
                                        : ownArrays(parts, inputs, type);
    std::string scaled; // needs the shapes, which are known by then
    if (task.standardiseX) scaled = standardisePython("x", factsOf(task).tensors[kX].shape);
    if (standardisesTarget(task))
        scaled += scaleTargetPython(task, "y", factsOf(task).tensors[kTarget].shape);
    PythonData python{
        std::string("import numpy\n") +
            (tensors ? "from safetensors.torch import load_file\n" : ""),
        lang::filled(
            kPythonArrays,
            {{"X", lang::pythonText(task.x)},
             {"Y", lang::pythonText(placeOfY(task).path)},
             {"INPUTS", inputs},
             {"TYPE", type},
             {"SHAPED", wantsClasses(task) ? "y.flatten()" : "y[:, None] if y.dim() == 1 else y"},
             {"PART", testArrays ? ", part=\"_train\"" : ""},
             {"NAMES", std::string(testArrays ? kPythonNames : kPythonTrainNames)},
             {"TEST", test},
             {"HELD", heldPython(task, parts)},
             {"OTHER", std::string(parts.empty() ? "" : kPythonOther)},
             {"TESTED", testsOwn(task) ? ", (x[tested], y[tested])" : ""},
             {"SCALED", scaled}})};
    python.tests = testsOwn(task);
    return withTargetScale(std::move(python), task);
}

} // namespace halfscope
