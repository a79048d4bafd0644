// Goes by the names that NumPy, Keras and scikit-learn's examples use.
#include "engine/data/array_places.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/io/npy.h"
#include "engine/io/npz.h"
#include "engine/io/open_folder.h"
#include "engine/io/safetensors.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

namespace halfscope {

namespace {

constexpr std::string_view kTrain = "_train", kTest = "_test";
constexpr std::array<std::string_view, 3> kValidationEndings{"_val", "_valid", "_validation"};
constexpr std::array<std::string_view, 1> kTestEndings{kTest};

std::span<const std::string_view> endingsOf(OwnPart part) {
    if (part == OwnPart::Test) return kTestEndings;
    return kValidationEndings;
}

bool isArray(const std::string& path) { return lowerCase(path).ends_with(".npy"); }
bool isArchive(const std::string& path) { return lowerCase(path).ends_with(".npz"); }
bool isTensors(const std::string& path) { return lowerCase(path).ends_with(".safetensors"); }

bool holdsSeveral(const std::string& path) { return isArchive(path) || isTensors(path); }

/// Returns the names of the arrays in such a file.
std::vector<std::string> arrayNames(const std::string& path) {
    if (isArchive(path)) return npzNames(path);
    std::vector<std::string> names;
    for (const ArrayInfo& each : safetensorsInfo(path).arrays)
        names.push_back(each.name);
    return names;
}

bool contains(const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
}

/// Returns the names that an array may have beside others, most wanted first: Keras' MNIST has
/// x_train.
std::vector<std::string> namesFor(const ArrayPlace& place) {
    const std::string& lower = place.name;
    const std::string upper(1, static_cast<char>(lower.front() - 'a' + 'A'));
    if (place.endings.empty())
        return {lower, upper, lower + std::string(kTrain), upper + std::string(kTrain)};
    std::vector<std::string> names;
    for (const std::string_view ending : place.endings)
        for (const std::string& name : {lower, upper})
            names.push_back(name + std::string(ending));
    if (!place.besideTrained) names.insert(names.end(), {lower, upper});
    return names;
}

/// Returns the name that the array has among these; empty when there are several arrays and none
/// has one of the names.
std::string nameIn(const std::vector<std::string>& all, const ArrayPlace& place) {
    for (const std::string& each : namesFor(place))
        if (contains(all, each)) return each;
    return all.size() == 1 && !place.besideTrained ? all.front() : std::string();
}
std::string nameIn(const std::vector<std::string>& all, const char* name) {
    return nameIn(all, ArrayPlace{"", {}, name});
}

/// Whether the file has both arrays of a part, beside those to train on.
bool holdsPart(const std::string& path, OwnPart part) {
    const std::vector<std::string> all = arrayNames(path);
    const ArrayPlace x{"", path, "x", endingsOf(part), true};
    const ArrayPlace y{"", path, "y", endingsOf(part), true};
    return !nameIn(all, x).empty() && !nameIn(all, y).empty();
}

/// Returns what the header says of the array of this very name.
ArrayInfo namedInfo(const std::string& path, const std::string& name) {
    if (isArchive(path)) return npzInfo(path, name);
    const SafetensorsInfo info = safetensorsInfo(path);
    if (const ArrayInfo* found = info.find(name)) return *found;
    throw InputError(phrase("Data", "%1: the file changed while it was read"), pathText(path));
}

/// Returns the name of the test array beside the place's, x_test or X_test.
std::string testNameOf(const ArrayPlace& place) {
    if (place.path.empty() || !holdsSeveral(place.path)) return {};
    const std::vector<std::string> all = arrayNames(place.path);
    std::string name = nameIn(all, {place.key, place.path, place.name, kTestEndings, true});
    return name == nameIn(all, place) ? std::string() : name; // alone, it is trained on
}

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
    try {
        const std::vector<std::string> all = arrayNames(path);
        const std::string x = nameIn(all, "x"), y = nameIn(all, "y");
        return !x.empty() && !y.empty() && x != y;
    } catch (const InputError&) {
        if (isArchive(path)) throw;
        return false;
    }
}

using Pair = std::pair<std::string, std::string>;

/// Returns the pairs of arrays in a folder; nothing when not all of it can be listed.
std::vector<Pair> pairsIn(const std::filesystem::path& folder) {
    std::vector<Pair> pairs;
    for (const std::string& name : namesIn(folder.string(), Entries::Files)) {
        const bool inputs = name.starts_with('x') || name.starts_with('X');
        if (!inputs || !isArray(name)) continue;
        if (std::string partner = partnerOf(folder / name, "xX", "yY"); !partner.empty())
            pairs.emplace_back((folder / name).string(), std::move(partner));
    }
    return pairs;
}

/// Takes the pair whose name ends as that of a part does, such as x_val.npy; nothing when there are
/// several.
std::optional<Pair> takePart(std::vector<Pair>& pairs, OwnPart part) {
    const auto isPart = [part](const Pair& pair) {
        const std::string stem = lowerCase(std::filesystem::path(pair.first).stem().string());
        return std::ranges::any_of(
            endingsOf(part), [&stem](std::string_view ending) { return stem.ends_with(ending); });
    };
    const auto found = std::ranges::find_if(pairs, isPart);
    if (std::ranges::count_if(pairs, isPart) != 1) return std::nullopt;
    Pair taken = std::move(*found);
    pairs.erase(found);
    return taken;
}

/// Sets the arrays of a folder: the only pair or, of several, the one beside those to validate on
/// and those of the test.
bool opensPairs(const std::string& folder, TaskConfig& task) {
    std::vector<Pair> pairs = pairsIn(folder);
    if (pairs.size() > 1) {
        if (auto judged = takePart(pairs, OwnPart::Validation))
            std::tie(task.xVal, task.yVal) = *std::move(judged);
        if (auto tested = takePart(pairs, OwnPart::Test))
            std::tie(task.xTest, task.yTest) = *std::move(tested);
    }
    if (pairs.size() != 1) return false;
    std::tie(task.x, task.y) = pairs.front();
    return true;
}

/// Returns where a name has an x or y that is a word of its own, as in "X_train" and "x64"; npos
/// where it has none, as "matrix".
size_t letterIn(const std::string& stem) {
    const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    for (size_t at = stem.size(); at-- > 0;) {
        const bool begins = at == 0 || !isLetter(stem[at - 1]);
        const bool ends = at + 1 == stem.size() || !isLetter(stem[at + 1]);
        if (begins && ends && std::string_view("xXyY").find(stem[at]) != std::string_view::npos)
            return at;
    }
    return std::string::npos;
}

/// Refuses an array without its partner, see partnerOf().
[[noreturn]] void refuseAlone(const std::string& path) {
    std::string wanted = std::filesystem::path(path).filename().string();
    const size_t at = letterIn(std::filesystem::path(path).stem().string());
    if (at == wanted.npos)
        throw InputError(phrase("Data", "%1: the other array is missing: in the names of the files "
                                        "x stands for the inputs and y for the targets, as in "
                                        "x.npy and y.npy; or set data.kind to arrays, and data.x "
                                        "and data.y to the two files"),
                         pathText(path));
    constexpr std::string_view kFrom = "xXyY", kTo = "yYxX";
    const bool inputs = wanted[at] == 'x' || wanted[at] == 'X';
    wanted[at] = kTo[kFrom.find(wanted[at])];
    throw InputError(inputs ? phrase("Data", "%1: the other array is missing: beside it there must "
                                             "be a file %2 with the targets; or set data.kind to "
                                             "arrays, and data.x and data.y to the two files")
                            : phrase("Data", "%1: the other array is missing: beside it there must "
                                             "be a file %2 with the inputs; or set data.kind to "
                                             "arrays, and data.x and data.y to the two files"),
                     pathText(path), pathText(wanted));
}

} // namespace

Message listedArrays(const std::string& path) {
    const std::vector<std::string> names = arrayNames(path);
    return names.empty() ? Message(phrase("Data", "none")) : someOf(names);
}

std::string ArrayPlace::shown() const {
    return (*key == '\0' ? std::string() : key + std::string(": ")) + pathText(path);
}

ArrayPlace placeOfX(const TaskConfig& task) { return {"data.x", task.x, "x"}; }
ArrayPlace placeOfY(const TaskConfig& task) {
    return {"data.y", task.y.empty() && holdsSeveral(task.x) ? task.x : task.y, "y"};
}
ArrayPlace placeOfX(const TaskConfig& task, OwnPart part) {
    const bool judged = part == OwnPart::Validation;
    const std::string& path = judged ? task.xVal : task.xTest;
    return {judged ? "data.x_val" : "data.x_test", path, "x", endingsOf(part),
            isSameFile(path, task.x)};
}
ArrayPlace placeOfY(const TaskConfig& task, OwnPart part) {
    const bool judged = part == OwnPart::Validation;
    const std::string &x = judged ? task.xVal : task.xTest, &y = judged ? task.yVal : task.yTest;
    const std::string& path = y.empty() && holdsSeveral(x) ? x : y;
    return {judged ? "data.y_val" : "data.y_test", path, "y", endingsOf(part),
            isSameFile(path, placeOfY(task).path)};
}
ArrayPlace placeOfPredicted(const TaskConfig& task) { return {"", task.predictFile, "x"}; }

ArrayInfo infoAt(const ArrayPlace& place) {
    if (place.path.empty())
        throw InputError(
            phrase("Data", "%1: missing; it must be an .npy, .npz or .safetensors file"),
            place.key);
    if (!holdsSeveral(place.path)) return npyInfo(place.path);
    const std::vector<std::string> all = arrayNames(place.path);
    const std::string name = nameIn(all, place);
    if (!name.empty()) return namedInfo(place.path, name);
    const auto names = namesFor(place);
    if (!place.endings.empty())
        throw InputError(phrase("Data", "%1: it has the arrays %2; the one to use must have one of "
                                        "the names %3"),
                         place.shown(), listedArrays(place.path), someOf(names));
    throw InputError(phrase("Data", "%1: it has the arrays %2; the one to use must be called %3, "
                                    "%4, %5 or %6"),
                     place.shown(), listedArrays(place.path), names[0], names[1], names[2],
                     names[3]);
}

Array readAt(const ArrayPlace& place, const ArrayInfo& info) {
    if (isTensors(place.path)) return readSafetensor(place.path, info);
    return isArchive(place.path) ? readNpz(place.path, info.name) : readNpy(place.path);
}

std::optional<TestPart> testPartOf(const TaskConfig& task) {
    const ArrayPlace x = placeOfX(task), y = placeOfY(task);
    const std::string xName = testNameOf(x), yName = testNameOf(y);
    if (xName.empty() || yName.empty()) return std::nullopt;
    return TestPart{namedInfo(x.path, xName), namedInfo(y.path, yName)};
}

std::vector<Message> unpairedNotes(const TaskConfig& task) {
    std::vector<Message> notes;
    if (!holdsSeveral(task.x) || !isSameFile(placeOfY(task).path, task.x)) return notes;
    const std::vector<std::string> all = arrayNames(task.x);
    for (const OwnPart part : {OwnPart::Validation, OwnPart::Test}) {
        // settings that name files take what is there, or refuse it
        if (!placeOfX(task, part).path.empty() || !placeOfY(task, part).path.empty()) continue;
        const auto named = [&](const char* name) {
            return nameIn(all, ArrayPlace{"", task.x, name, endingsOf(part), true});
        };
        const std::string x = named("x"), y = named("y");
        if (x.empty() == y.empty()) continue;
        const std::string& found = x.empty() ? y : x;
        notes.push_back({phrase("Data", "%1 has %2 without %3, so %2 is not used."),
                         pathText(task.x), found, (x.empty() ? "x" : "y") + found.substr(1)});
    }
    return notes;
}

std::optional<PredictedTargets> predictedTargets(const TaskConfig& task) {
    const ArrayPlace place{"", task.predictFile, "y"};
    const bool several = holdsSeveral(place.path);
    const std::string file =
        isArray(place.path) ? partnerOf(place.path, "xX", "yY") : std::string();
    if (!several && file.empty()) return std::nullopt;
    try {
        if (!several) return PredictedTargets{readNpy(file), file};
        const std::vector<std::string> all = arrayNames(place.path);
        if (all.size() == 1 || nameIn(all, place).empty()) return std::nullopt; // x alone
        return PredictedTargets{readAt(place, infoAt(place))};
    } catch (const InputError&) { // y may be anything, such as texts
        return std::nullopt;
    }
}

bool isArrayName(const std::string& path) { return isArray(path) || holdsSeveral(path); }

bool opensArrays(const std::string& path, TaskConfig& task) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        return opensPairs(path, task);
    }
    if (holdsSeveral(path)) {
        task.x = path;
        task.y.clear();
        if (!holdsBoth(path)) return false;
        if (holdsPart(path, OwnPart::Validation)) { // else data.test may have the other part
            task.xVal = path;
            if (holdsPart(path, OwnPart::Test)) task.xTest = path;
        }
        return true;
    }
    if (!isArray(path)) return false;
    const Pair given(task.x, task.y); // by settings: one of them makes a partner needless
    task.x = path;
    task.y = partnerOf(path, "xX", "yY");
    if (!task.y.empty()) return true;
    task.y = path;
    task.x = partnerOf(path, "yY", "xX");
    if (!task.x.empty()) return true;
    if (given.first.empty() && given.second.empty()) refuseAlone(path);
    task.x = given.first.empty() ? path : given.first;
    task.y = given.second.empty() ? path : given.second;
    return true;
}

} // namespace halfscope
