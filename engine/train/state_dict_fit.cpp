// Finds all differences at once, so that whoever has to change names sees every one of them.
#include "engine/train/state_dict_fit.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/models/layer.h"
#include "engine/models/model_spec.h"
#include "engine/train/shape_differences.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace halfscope {
namespace {

/// Returns true for "1.num_batches_tracked" beside "1.running_mean", which `names` has by name.
template <class Named>
bool isCountOfNorm(const std::string& name, const Named& names) {
    const std::optional<std::string> layer = layerPathOf(name, kBatchesTracked);
    return layer && names.contains(joinedPath(*layer, kRunningMean));
}

Message joined(const std::vector<Message>& parts) {
    return listed(parts, phrase("Files", "%1; %2"));
}

std::string tupleText(std::span<const int64_t> shape) {
    ArrayInfo info;
    info.shape.assign(shape.begin(), shape.end());
    return info.shapeText();
}

/// Returns why the file's array cannot be taken for a name that both have; empty when it can.
Message problemWith(const ArrayInfo& array, const Shape& wanted) {
    const std::string text = tupleText(wanted);
    if (!isSameShape(array, wanted) && !differsByOnes(array, wanted))
        return {phrase("Files", "%1 has the shape %2, the network %3"), pathText(array.name),
                array.shapeText(), text};
    if (isWhole(array.type))
        return {phrase("Files", "%1 is %2: float16, bfloat16, float32 and float64 are allowed"),
                pathText(array.name), nameOf(array.type)};
    return {};
}

/// Whether the file has none of the names, but as many arrays of each shape as the network: it was
/// saved from the same layers under the names of a class. The file keeps no order to compare, for
/// safetensors sorts its arrays.
bool hasOtherNames(const StateDictFit& fit, const SafetensorsInfo& file,
                   const std::map<std::string, Shape>& wanted) {
    if (fit.taken > 0 || wanted.empty()) return false;
    std::vector<std::string> here, there;
    for (const auto& each : wanted)
        here.push_back(tupleText(each.second));
    for (const ArrayInfo& array : file.arrays)
        if (!isBatchCount(array.name)) there.push_back(array.shapeText());
    std::ranges::sort(here);
    std::ranges::sort(there);
    return here == there;
}

/// Returns pairsByShape() of the file and the network. An array of whole numbers is none of a
/// network's weights.
WeightPairs pairsOf(const SafetensorsInfo& file, const std::map<std::string, Shape>& wanted) {
    NamedShapes here, there;
    for (const auto& [name, shape] : wanted)
        here[name] = tupleText(shape);
    for (const ArrayInfo& array : file.arrays) {
        if (isWhole(array.type) && !isBatchCount(array.name)) return {};
        there[array.name] = array.shapeText();
    }
    std::erase_if(there, [&](const auto& each) { return isCountOfNorm(each.first, there); });
    return pairsByShape(here, there);
}

/// Returns which group of the file is taken; empty for the whole file under its own names.
Message groupTaken(const StateDictFit& fit) {
    if (fit.prefix.empty() && fit.left.empty()) return {};
    if (fit.prefix.empty())
        return {phrase("Files", "these groups are left out: %1"), someOf(fit.left)};
    const std::string group = pathText(fit.prefix);
    if (fit.left.empty())
        return {phrase("Files", "all its names begin with %1; this prefix is ignored"), group};
    return {phrase("Files", "the group %1 is used; left out: %2"), group, someOf(fit.left)};
}

/// Counts all but the first few.
void keepFirst(std::vector<Message>& found, size_t shown) {
    if (found.size() <= shown) return;
    const size_t more = found.size() - shown;
    found.resize(shown);
    found.emplace_back(phrase("Files", "and %1 more"), more);
}

/// Returns which shapes differ where names do, too.
std::vector<Message> otherShapes(const SafetensorsInfo& file, const WantedWeights& wanted) {
    std::vector<NamedShape> here, there;
    for (const std::string& name : wanted.names)
        if (const Shape& shape = wanted.shapes.at(name); !file.find(name))
            here.push_back({name, {shape.begin(), shape.end()}});
    for (const ArrayInfo& array : file.arrays)
        if (!wanted.shapes.contains(array.name) && !isWhole(array.type))
            there.push_back({array.name, array.shape});
    std::vector<Message> found;
    for (const auto& [other, own] : shapeDifferences(here, there))
        found.emplace_back(phrase("Files", "%1 has the shape %2, but the network's %3 needs %4"),
                           pathText(other.name), tupleText(other.shape), own.name,
                           tupleText(own.shape));
    keepFirst(found, 4);
    return found;
}

/// Returns what differs about names, in the words of load_state_dict().
std::vector<Message> differentNames(const StateDictFit& fit, const SafetensorsInfo& file,
                                    const WantedWeights& wanted) {
    std::vector<Message> found;
    const auto put = [&found](Message what) {
        if (!what.empty()) found.push_back(std::move(what));
    };
    put(groupTaken(fit));
    if (!fit.missing.empty()) put({phrase("Files", "missing: %1"), someOf(fit.missing)});
    if (!fit.unexpected.empty()) put({phrase("Files", "unexpected: %1"), someOf(fit.unexpected)});
    std::ranges::move(otherShapes(file, wanted), std::back_inserter(found));
    if (hasOtherNames(fit, file, wanted.shapes))
        put(phrase("Files", "the shapes are the network's, so only the names differ: paste "
                            "print(model) as the network (model.layers), with Sequential in place "
                            "of the class's name and with what its forward() adds, such as "
                            "(act): ReLU(), and the names match"));
    return found;
}

Message told(const std::string& path, Phrase start, const std::vector<Message>& found) {
    if (found.empty()) return {};
    return within(pathText(path), Message(start, joined(found)));
}

/// Compares the tensors of a group, of which `fit` has what is said of it.
StateDictFit compared(const std::string& path, const SafetensorsInfo& file,
                      const WantedWeights& all, StateDictFit fit) {
    const std::map<std::string, Shape>& wanted = all.shapes;
    fit.wanted = wanted.size();
    std::vector<Message> problems;
    for (const std::string& name : all.names) { // in the order of the network's layers
        const ArrayInfo* const array = file.find(name);
        if (!array)
            fit.missing.push_back(name);
        else if (const Message problem = problemWith(*array, wanted.at(name)); !problem.empty())
            problems.push_back(problem);
        else if (differsByOnes(*array, wanted.at(name)))
            fit.reshaped.push_back(pathText(name));
    }
    fit.taken = fit.wanted - fit.missing.size();
    keepFirst(problems, 8);
    for (const ArrayInfo& array : file.arrays)
        if (!wanted.contains(array.name) && !isCountOfNorm(array.name, wanted))
            fit.unexpected.push_back(pathText(array.name));
    constexpr Phrase kOthers = phrase("Files", "its arrays are not those of the network: %1");
    const bool fits = fit.missing.empty() && fit.unexpected.empty() && problems.empty();
    std::vector<Message> names = fits ? std::vector<Message>() : differentNames(fit, file, all);
    fit.partialProblem =
        fit.taken == 0 ? told(path, phrase("Files", "nothing in it fits the network: %1"), names)
                       : told(path, kOthers, problems);
    names.insert(names.end(), problems.begin(), problems.end());
    fit.problem = told(path, kOthers, names);
    fit.differences = joined(names);
    return fit;
}

/// Returns which tensors of a group have torchvision's names.
std::vector<std::string> torchvisionNamesIn(const WeightGroup& group, const WantedWeights& wanted) {
    WeightPairs others;
    for (const std::string& name : wanted.names) {
        const auto there = group.names.find(name);
        if (there != group.names.end() && there->second.starts_with(group.prefix)) // else: tied
            others[name] = there->second.substr(group.prefix.size());
    }
    return renamedIn(others, wanted.names);
}

StateDictFit fitOf(const std::string& path, const WeightGroup& group, const WantedWeights& wanted) {
    StateDictFit fit{.prefix = group.prefix,
                     .left = group.left,
                     .tied = group.tied,
                     .alike = group.alike,
                     .isTorchvision = group.isTorchvision};
    if (group.isTorchvision) fit.renamed = torchvisionNamesIn(group, wanted);
    for (std::string& name : fit.left)
        name = pathText(name);
    fit = compared(path, group.file, wanted, std::move(fit));
    if (group.alike.empty()) return fit;
    std::vector<std::string> groups;
    for (const std::string& prefix : group.alike)
        groups.push_back(pathText(prefix));
    fit.differences = {
        phrase("Files", "several of its groups fit the network equally well: %1; save only one of "
                        "them, in Python: {name: array for name, array in state.items() if "
                        "name.startswith(%2)}"),
        someOf(groups), quotedText(group.alike.front())};
    fit.problem = fit.partialProblem = within(pathText(path), fit.differences);
    return fit;
}

WeightGroup wholeOf(const SafetensorsInfo& file) {
    WeightGroup whole{.file = file};
    for (const ArrayInfo& array : file.arrays)
        whole.names[array.name] = array.name;
    return whole;
}

} // namespace

StateDictFit fitByName(const std::string& path, const SafetensorsInfo& file,
                       const WantedWeights& wanted) {
    return compared(path, file, wanted, {});
}

FittedFile fittedFile(const std::string& path, const SafetensorsInfo& file,
                      const WantedWeights& wanted) {
    WeightGroup group = groupOf(file, wanted);
    StateDictFit fit = fitOf(path, group, wanted);
    if (fit.problem.empty()) return {std::move(group), std::move(fit)};
    WeightPairs pairs = pairsOf(file, wanted.shapes); // of all its tensors before a part of them
    if (!pairs.empty()) {
        group = wholeOf(file);
        fit = fitOf(path, group, wanted);
    } else if (pairs = pairsOf(group.file, wanted.shapes); pairs.empty()) {
        return {std::move(group), std::move(fit)};
    }
    fit.pairs = std::move(pairs);
    fit.renamed = renamedIn(fit.pairs, wanted.names);
    fit.problem = fit.differences = {};
    if (fit.taken == 0) fit.partialProblem = {};
    return {std::move(group), std::move(fit)};
}

void checkFit(const StateDictFit& fit, bool partial) {
    const Message& problem = partial ? fit.partialProblem : fit.problem;
    if (!problem.empty()) throw InputError(problem);
}

void checkFirstFit(const StateDictFit& fit, bool partial) {
    if (!partial && !fit.problem.empty() && fit.partialProblem.empty())
        throw InputError(phrase("Files", "%1; with model.partial_weights (--partial on the "
                                         "command line), the %2 of %3 tensors that fit are taken"),
                         fit.problem, fit.taken, fit.wanted);
    checkFit(fit, partial);
}

Message noteOn(const std::string& path, const StateDictFit& fit, const WeightPairs& pairs) {
    const std::string file = pathText(path);
    std::vector<Message> parts;
    if (const Message group = groupTaken(fit); !group.empty()) parts.push_back(within(file, group));
    if (!pairs.empty())
        parts.emplace_back(
            phrase("Files", "the layers in %1 have other names than the network's and were matched "
                            "by their shapes, those of the same shapes in ascending order of the "
                            "numbers in their names (forward() may use them in another order): "
                            "%2"),
            file, someOf(fit.renamed));
    else if (fit.isTorchvision)
        parts.emplace_back(phrase("Files", "the names in %1 are torchvision's: %2"), file,
                           someOf(fit.renamed));
    const bool byName = pairs.empty();
    if (byName && (!fit.missing.empty() || !fit.unexpected.empty()))
        parts.emplace_back(phrase("Files", "%1 of %2 tensors of the network come from %3"),
                           fit.taken, fit.wanted, file);
    if (byName && !fit.missing.empty())
        parts.emplace_back(phrase("Files", "initial values stay in: %1"), someOf(fit.missing));
    if (byName && !fit.unexpected.empty())
        parts.emplace_back(phrase("Files", "ignored: %1"), someOf(fit.unexpected));
    if (!fit.tied.empty())
        parts.emplace_back(phrase("Files", "%1 stores tied tensors once; here each is a copy that "
                                           "is trained by itself: %2"),
                           file, someOf(fit.tied));
    if (!fit.reshaped.empty())
        parts.emplace_back(phrase("Files", "some shapes in %1 differ from the network's, but only "
                                           "by ones at the end, as those of a 1 x 1 convolution "
                                           "and of nn.Linear do, and are taken: %2"),
                           file, someOf(fit.reshaped));
    return joined(parts);
}

} // namespace halfscope
