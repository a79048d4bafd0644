// Reads two arrays from .npy, .npz or .safetensors files: the inputs x and the targets y. Each row
// is one sample.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/losses.h"
#include "engine/data/stored_data.h"
#include "engine/io/npy.h"
#include "engine/io/npz.h"
#include "engine/io/open_folder.h"
#include "engine/io/safetensors.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace halfscope {

namespace {

constexpr int64_t kMostClasses = 100'000;

/// Where one of the two is: its setting, its file, and its name, for files with several arrays.
struct Place {
    const char* key; ///< "data.x"
    std::string path;
    const char* name; ///< "x"
};

bool isArray(const std::string& path) { return lowerCase(path).ends_with(".npy"); }
bool isArchive(const std::string& path) { return lowerCase(path).ends_with(".npz"); }
bool isTensors(const std::string& path) { return lowerCase(path).ends_with(".safetensors"); }

Place placeOfX(const TaskConfig& task) { return {"data.x", task.x, "x"}; }
/// Returns where y is: without a setting of its own, in the file of x if that can hold several
/// arrays.
Place placeOfY(const TaskConfig& task) {
    const bool both = task.y.empty() && (isTensors(task.x) || isArchive(task.x));
    return {"data.y", both ? task.x : task.y, "y"};
}

std::string shown(const Place& place) { return place.key + (": " + pathText(place.path)); }

/// Returns the names that an array may have in an archive, most wanted first: Keras' MNIST has
/// x_train.
std::array<std::string, 4> namesFor(std::string_view name) {
    const std::string lower(name), upper(1, static_cast<char>(name.front() - 'a' + 'A'));
    return {lower, upper, lower + "_train", upper + "_train"};
}

/// Returns the array's name in the archive; empty when there are several arrays and none has one of
/// the names.
std::string nameIn(const std::string& path, std::string_view name) {
    const std::vector<std::string> all = npzNames(path);
    for (const std::string& each : namesFor(name))
        if (std::find(all.begin(), all.end(), each) != all.end()) return each;
    return all.size() == 1 ? all.front() : std::string();
}

ArrayInfo infoAt(const Place& place) {
    if (place.path.empty())
        throw InputError(
            phrase("Data", "%1: missing; it must be an .npy, .npz or .safetensors file"),
            place.key);
    const auto none = [&place](size_t arrays) {
        return InputError(
            phrase("Data", "%1: there are %2 arrays in the file and none is called %3"),
            shown(place), arrays, place.name);
    };
    if (isArchive(place.path)) {
        const std::string name = nameIn(place.path, place.name);
        if (name.empty()) throw none(npzNames(place.path).size());
        return npzInfo(place.path, name);
    }
    if (!isTensors(place.path)) return npyInfo(place.path);
    const SafetensorsInfo info = safetensorsInfo(place.path);
    if (const ArrayInfo* named = info.find(place.name)) return *named;
    if (info.arrays.size() == 1) return info.arrays.front();
    throw none(info.arrays.size());
}

Array readAt(const Place& place, const ArrayInfo& info) {
    if (isTensors(place.path)) return readSafetensor(place.path, info);
    return isArchive(place.path) ? readNpz(place.path, info.name) : readNpy(place.path);
}

/// Returns the shape of one sample; a plain number is a list of one.
Shape sampleShape(const Place& place, const ArrayInfo& info) {
    constexpr size_t kMostAxes = kMaxRank - 1; // a batch has one more
    if (info.shape.empty() || info.shape.size() - 1 > kMostAxes || info.elements() == 0)
        throw InputError(phrase("Data", "%1: the shape %2 is not allowed: samples first, at most "
                                        "%3 axes after them, and no extent of 0"),
                         shown(place), info.shapeText(), kMostAxes);
    if (info.shape.size() == 1) return {1};
    return Shape(std::span(info.shape).subspan(1));
}

void checkBoth(const TaskConfig& task, const ArrayInfo& x, const ArrayInfo& y) {
    sampleShape(placeOfX(task), x);
    sampleShape(placeOfY(task), y);
    checkSampleCount(shown(placeOfX(task)), x.shape[0]);
    if (x.shape[0] != y.shape[0])
        throw InputError(phrase("Data", "%1: %2 samples do not fit the %3 of data.x"),
                         shown(placeOfY(task)), y.shape[0], x.shape[0]);
}

/// Returns the class numbers; the highest one plus one is the number of classes.
std::vector<int32_t> labelsOf(const Place& place, const Array& y) {
    if (!isWhole(y.info.type) || y.info.elements() != y.info.shape[0])
        throw InputError(phrase("Data", "%1: %2 of the shape %3 are not classes: one whole number "
                                        "for each sample"),
                         shown(place), nameOf(y.info.type), y.info.shapeText());
    std::vector<int32_t> labels;
    labels.reserve(static_cast<size_t>(y.info.shape[0]));
    for (int64_t i = 0; i < y.info.shape[0]; ++i) {
        const double label = y.at(i);
        if (label < 0 || label >= double{kMostClasses})
            throw InputError(phrase("Data", "%1: sample %2 has the label %3: 0 to %4 are allowed"),
                             shown(place), i, label, kMostClasses - 1);
        labels.push_back(static_cast<int32_t>(label));
    }
    return labels;
}

TensorSpec targetSpec(const TaskConfig& task, const ArrayInfo& y,
                      const std::vector<int32_t>& labels) {
    if (labels.empty()) return {"target", sampleShape(placeOfY(task), y)};
    const int64_t classes = *std::max_element(labels.begin(), labels.end()) + int64_t{1};
    return {"target", {}, DType::I32, std::max<int64_t>(2, classes), true};
}

Place placeOfPredicted(const TaskConfig& task) {
    return {"evaluate: --predict", task.predictFile, "x"};
}
/// Throws InputError when the samples to predict do not have the shape of those in data.x.
void checkPredicted(const TaskConfig& task, const ArrayInfo& x, const ArrayInfo& info) {
    const Place place = placeOfPredicted(task);
    if (sampleShape(place, info) != sampleShape(placeOfX(task), x))
        throw InputError(phrase("Data", "%1: the shape %2 does not fit the samples of data.x, %3"),
                         shown(place), info.shapeText(), x.shapeText());
    checkSampleCount(shown(place), x.shape[0] + info.shape[0]);
}
ArrayInfo predictedInfo(const TaskConfig& task, const ArrayInfo& x) {
    ArrayInfo info = infoAt(placeOfPredicted(task));
    checkPredicted(task, x, info);
    return info;
}

bool wantsClasses(const TaskConfig& task) { return infoOf(task.loss.kind).ofLabels; }

DataFacts arrayFacts(const TaskConfig& task) {
    const ArrayInfo x = infoAt(placeOfX(task)), y = infoAt(placeOfY(task));
    checkBoth(task, x, y);
    std::vector<int32_t> labels;
    if (wantsClasses(task)) labels = labelsOf(placeOfY(task), readAt(placeOfY(task), y));
    const int64_t held = HeldBack::count(x.shape[0], task.validation);
    const bool predicts = !task.predictFile.empty();
    return {{TensorSpec{"x", sampleShape(placeOfX(task), x)}, targetSpec(task, y, labels)},
            x.shape[0] - held,
            predicts ? predictedInfo(task, x).shape[0] : held};
}

/// What may be odd about the values of an array.
struct Extremes {
    int64_t notFinite = 0;   ///< how many are inf or nan as float32
    int64_t firstSample = 0; ///< the first sample with one of them
    float largest = 0;       ///< of the finite ones, without their signs
};

Extremes extremesOf(const Array& array) {
    Extremes found;
    if (isWhole(array.info.type) && bytesOf(array.info.type) == 1) return found; // up to 255
    const int64_t samples = array.info.shape[0], each = array.info.elements() / samples;
    std::vector<float> values(static_cast<size_t>(each));
    for (int64_t sample = 0; sample < samples; ++sample) {
        checkCancelled();
        array.toFloats(sample * each, values);
        int64_t odd = 0;
        for (const float x : values)
            if (std::isfinite(x))
                found.largest = std::max(found.largest, std::abs(x));
            else
                ++odd;
        if (odd > 0 && found.notFinite == 0) found.firstSample = sample;
        found.notFinite += odd;
    }
    return found;
}

/// Holds the values as they were in the files.
class ArrayData final : public StoredData {
public:
    explicit ArrayData(const TaskConfig& task) {
        const ArrayInfo x = infoAt(placeOfX(task)), y = infoAt(placeOfY(task));
        checkBoth(task, x, y);
        m_x = readAt(placeOfX(task), x);
        m_y = readAt(placeOfY(task), y);
        checkBoth(task, m_x.info, m_y.info); // a file may have changed since
        if (wantsClasses(task)) m_labels = labelsOf(placeOfY(task), m_y);
        m_tensors = {TensorSpec{"x", sampleShape(placeOfX(task), m_x.info)},
                     targetSpec(task, m_y.info, m_labels)};
        m_splits = HeldBack(m_x.info.shape[0], task.validation);
        const Extremes inputs = extremesOf(m_x);
        noteNotFinite(inputs, "x");
        if (m_labels.empty()) noteNotFinite(extremesOf(m_y), "y");
        noteTooLarge(inputs);
        noteChannels();
        setView();
        if (!task.predictFile.empty()) addPredicted(task);
    }

    std::vector<Message> notes() const override { return m_notes; }

private:
    /// Appends the samples of task.predictFile behind the others; from then on, only they are
    /// judged.
    void addPredicted(const TaskConfig& task) {
        const int64_t first = m_x.info.shape[0];
        m_predicted = readAt(placeOfPredicted(task), predictedInfo(task, m_x.info));
        checkPredicted(task, m_x.info, m_predicted.info); // the file may have changed since
        const int64_t more = m_predicted.info.shape[0];
        m_numbers.resize(static_cast<size_t>(first + more));
        std::iota(m_numbers.begin(), m_numbers.begin() + first, int64_t{0});
        std::iota(m_numbers.begin() + first, m_numbers.end(), int64_t{0});
        judgeFrom(first);
    }

    void readStored(int32_t stored, int64_t, const SamplePlace& place) const override {
        if (const int64_t more = stored - m_x.info.shape[0]; more >= 0) {
            copy(m_predicted, more, place.floats(kX));
            if (m_labels.empty())
                std::ranges::fill(place.floats(kTarget), 0.0f); // unknown: any value will do
            else
                place.label() = 0;
            return;
        }
        copy(m_x, stored, place.floats(kX));
        if (m_labels.empty())
            copy(m_y, stored, place.floats(kTarget));
        else
            place.label() = m_labels[static_cast<size_t>(stored)];
    }
    static void copy(const Array& from, int64_t stored, std::span<float> to) {
        from.toFloats(stored * static_cast<int64_t>(to.size()), to);
    }
    /// Notes values that no training survives, with the first sample that has one.
    void noteNotFinite(const Extremes& values, const char* name) {
        if (values.notFinite > 0)
            m_notes.push_back({phrase("Data", "Values of %1 that are inf or nan as float32: %2, "
                                              "the first in sample %3 (counted from 0). The loss "
                                              "of each batch with such a sample is not finite."),
                               name, values.notFinite, values.firstSample});
    }
    /// Notes inputs that fp16 does not hold.
    void noteTooLarge(const Extremes& values) {
        constexpr float kInfiniteInHalf = 65520; // and above: rounds to inf
        if (values.largest >= kInfiniteInHalf)
            m_notes.push_back(
                {phrase("Data", "Values of x reach %1, and fp16 ends at 65,504: where "
                                "a lane casts them to fp16, they become inf. Divided "
                                "by their standard deviation, they fit."),
                 std::round(values.largest)});
    }
    /// Notes pictures whose last axis seems to be that of the channels.
    void noteChannels() {
        constexpr int64_t kMostChannels = 4;
        const Shape& sample = m_tensors[kX].shape;
        if (sample.rank() != 3 || sample[2] > kMostChannels || sample[2] == 2 ||
            sample[0] <= kMostChannels)
            return;
        m_notes.push_back({phrase("Data", "Samples of x are read as %1 channels of %2 x %3 pixels. "
                                          "If the channels are the last axis, "
                                          "numpy.moveaxis(x, -1, 1) puts them first."),
                           sample[0], sample[1], sample[2]});
    }
    void setView() {
        if (!m_labels.empty()) {
            m_view = classesView(m_tensors[kTarget].classes);
            return;
        }
        double least = std::numeric_limits<double>::infinity(), most = -least;
        for (int64_t i = 0; i < m_y.info.elements(); ++i) {
            const double value = m_y.at(i);
            if (!std::isfinite(value)) continue;
            least = std::min(least, value);
            most = std::max(most, value);
        }
        m_view = least <= most ? scatterView(least, most) : scatterView(0, 0);
    }

    Array m_x, m_y, m_predicted;
    std::vector<int32_t> m_labels; ///< where targets are classes
    std::vector<Message> m_notes;
};

/// Returns the file that belongs to another one, as "y_train.npy" belongs to "X_train.npy". The
/// last x or y in the name with which a file is found decides; the same case is tried first.
std::string partnerOf(const std::filesystem::path& path, std::string_view from,
                      std::string_view to) {
    const std::string name = path.filename().string();
    for (size_t at = path.stem().string().size(); at-- > 0;) {
        const size_t letter = from.find(name[at]);
        if (letter == std::string_view::npos) continue;
        for (const char other : {to[letter], to[1 - letter]}) {
            std::string partner = name;
            partner[at] = other;
            std::string found = (path.parent_path() / partner).string();
            std::error_code ignored;
            if (std::filesystem::is_regular_file(found, ignored)) return found;
        }
    }
    return {};
}

/// Whether a file holds x and y. Throws InputError for an archive that cannot be read; returns
/// false for such a safetensors file, as it may be weights or a checkpoint.
bool holdsBoth(const std::string& path) {
    if (isArchive(path)) {
        const std::string x = nameIn(path, "x"), y = nameIn(path, "y");
        return !x.empty() && !y.empty() && x != y;
    }
    try {
        const SafetensorsInfo info = safetensorsInfo(path);
        return info.find("x") && info.find("y");
    } catch (const InputError&) {
        return false;
    }
}

/// Returns the only pair in a folder; nothing when there are several, or when not all of the folder
/// can be listed.
std::pair<std::string, std::string> pairIn(const std::filesystem::path& folder) {
    std::pair<std::string, std::string> pair;
    for (const std::string& name : namesIn(folder.string(), Entries::Files)) {
        const bool inputs = name.starts_with('x') || name.starts_with('X');
        if (!inputs || !isArray(name)) continue;
        const std::string partner = partnerOf(folder / name, "xX", "yY");
        if (partner.empty()) continue;
        if (!pair.first.empty()) return {};
        pair = {(folder / name).string(), partner};
    }
    return pair;
}

bool opensArrays(const std::string& path, TaskConfig& task) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        std::tie(task.x, task.y) = pairIn(path);
        return !task.x.empty();
    }
    if (isTensors(path) || isArchive(path)) {
        task.x = path;
        task.y.clear();
        return holdsBoth(path);
    }
    if (!isArray(path)) return false;
    task.x = path;
    task.y = partnerOf(path, "xX", "yY");
    if (!task.y.empty()) return true;
    task.y = path;
    task.x = partnerOf(path, "yY", "xX");
    if (!task.x.empty()) return true;
    throw InputError(phrase("Data",
                            "%1: the other array is missing: beside x.npy, with the inputs, "
                            "there must be a file y.npy with the targets"),
                     pathText(path));
}

PythonData arrayPython(const TaskConfig& task, int64_t) {
    const bool tensors = isTensors(task.x) || isTensors(task.y);
    return {std::string("import numpy\n") +
                (tensors ? "from safetensors.torch import load_file\n" : ""),
            lang::filled(R"(X = {X}
Y = {Y}


def tensor(array):  # in the byte order of this machine
    return torch.from_numpy(array.astype(array.dtype.newbyteorder("=")))


def array(path, name):
    if path.lower().endswith(".npy"):
        return tensor(numpy.load(path))
    archive = path.lower().endswith(".npz")
    arrays = numpy.load(path) if archive else load_file(path)
    names = [name, name.upper(), name + "_train", name.upper() + "_train", *arrays]
    found = next(arrays[each] for each in names if each in arrays)
    return tensor(found) if archive else found


def samples():
    x, y = array(X, "x").float(), array(Y, "y"){TYPE}
    x = x[:, None] if x.dim() == 1 else x
    y = {SHAPED}
{HELD}    return (x[train], y[train]), (x[held], y[held])
)",
                         {{"X", lang::pythonText(task.x)},
                          {"Y", lang::pythonText(placeOfY(task).path)},
                          {"TYPE", wantsClasses(task) ? ".long()" : ".float()"},
                          {"SHAPED", wantsClasses(task) ? "y.flatten()"
                                                        : "y[:, None] if y.dim() == 1 else y"},
                          {"HELD", heldBackPython(task.validation)}})};
}

} // namespace

extern const DataSetInfo kArrayData;
const DataSetInfo kArrayData{
    .name = "arrays",
    .about = phrase("Settings", "inputs x and targets y from .npy, .npz or .safetensors files"),
    .settings = {"data.x", "data.y", "data.validation"},
    .targets = Targets::AsTheLoss,
    .validates = true,
    .fromFiles = true,
    .opens = opensArrays,
    .facts = arrayFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<ArrayData>(task);
    },
    .python = arrayPython};

} // namespace halfscope
