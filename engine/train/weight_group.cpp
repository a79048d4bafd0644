// Looks at every name from each of its dots on: what lies before them is a group's prefix.
#include "engine/train/weight_group.h"

#include "engine/core/text.h"
#include "engine/models/model_spec.h"
#include "engine/models/printed_blocks.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace halfscope {
namespace {

/// Words in the names of groups that average or copy a model, and of those that an optimizer keeps
/// of each weight.
constexpr std::array<std::string_view, 8> kCopies{"ema",      "swa",    "avg",     "average",
                                                  "averaged", "shadow", "teacher", "target"};
constexpr std::array<std::string_view, 7> kOptimizers{"optim",    "optimizer", "optimizers", "exp",
                                                      "momentum", "grad",      "grads"};

bool hasWord(std::string_view prefix, std::span<const std::string_view> words) {
    for (const std::string_view part : partsOf(prefix, '.'))
        for (const std::string_view word : partsOf(part, '_'))
            if (std::ranges::find(words, word) != words.end()) return true;
    return false;
}

/// A tensor of the file under one of its names.
struct Named {
    std::string name;
    const ArrayInfo* array;
    bool tied; ///< whether only the metadata know this name
};

/// Returns all names. safetensors.torch.save_model() writes one of several names that share their
/// memory, and in the metadata {"another name": "that name"}.
std::vector<Named> namesIn(const SafetensorsInfo& file) {
    std::vector<Named> all;
    for (const ArrayInfo& array : file.arrays)
        all.push_back({array.name, &array, false});
    for (const auto& [removed, kept] : file.metadata)
        if (const ArrayInfo* const array = file.find(kept); array && !file.find(removed))
            all.push_back({removed, array, true});
    return all;
}

/// What a name means to the network.
struct Known {
    std::string name;     ///< the network's own
    const Shape* shape{}; ///< nullptr for a number of batches
    bool isOwn{};         ///< not torchvision's
};
using KnownNames = std::map<std::string, Known, std::less<>>;

KnownNames knownNames(const WantedWeights& wanted) {
    KnownNames known;
    for (const auto& [name, shape] : wanted.shapes) {
        known[name] = {name, &shape, true};
        const auto layer = layerPathOf(name, kRunningMean);
        if (!layer) continue;
        const std::string count = joinedPath(*layer, kBatchesTracked);
        if (!wanted.shapes.contains(count)) known[count] = {count, nullptr, true};
    }
    KnownNames others;
    std::set<std::string> several; // torchvision's name for more than one
    for (const auto& [name, own] : known)
        if (std::string other = torchvisionName(name); !known.contains(other))
            if (!others.emplace(other, Known{name, own.shape, false}).second) several.insert(other);
    std::erase_if(others, [&](const auto& each) { return several.contains(each.first); });
    known.merge(others);
    return known;
}

/// How much of the network is found below a prefix.
struct Score {
    size_t fits = 0, names = 0; ///< names with the network's shapes, and all
    friend auto operator<=>(const Score&, const Score&) = default;
};
using Scores = std::map<std::string, Score, std::less<>>;

Scores scoresOf(const std::vector<Named>& all, const KnownNames& known) {
    Scores scores{{"", Score()}};
    for (const Named& each : all)
        for (size_t at = 0; at < each.name.size();) {
            const std::string_view name = each.name;
            const auto found = known.find(name.substr(at));
            if (found != known.end() && found->second.shape) {
                Score& score = scores[each.name.substr(0, at)];
                const Shape& shape = *found->second.shape;
                ++score.names;
                score.fits += isSameShape(*each.array, shape) || differsByOnes(*each.array, shape);
            }
            const size_t dot = name.find('.', at);
            at = dot == name.npos ? name.size() : dot + 1;
        }
    return scores;
}

/// Returns the prefixes that fit best: the empty one alone, where no other fits better.
std::vector<std::string> bestOf(const Scores& scores, const SafetensorsInfo& file,
                                const WantedWeights& wanted) {
    const auto hasLayers = std::ranges::any_of(
        wanted.names, [](const std::string& name) { return name.find('.') != name.npos; });
    const auto qualifies = [&](const std::string& prefix, const Score& score) {
        const auto begins = [&](const ArrayInfo& each) { return each.name.starts_with(prefix); };
        if (std::ranges::all_of(file.arrays, begins)) return score.names > 0;
        return hasLayers && 2 * score.fits > wanted.names.size() && !hasWord(prefix, kOptimizers);
    };
    Score top = scores.at("");
    std::vector<std::string> best{""};
    for (const auto& [prefix, score] : scores) {
        if (score < top || prefix.empty() || !qualifies(prefix, score)) continue;
        if (top < score)
            best.clear();
        else if (best.front().empty())
            continue;
        top = score;
        best.push_back(prefix);
    }
    const auto isCopy = [](const std::string& prefix) { return hasWord(prefix, kCopies); };
    if (!std::ranges::all_of(best, isCopy)) std::erase_if(best, isCopy);
    return best;
}

/// Returns "ema." for "ema.0.weight", and "model.ema." for "model.ema.0.weight" beside
/// "model.net.".
std::string groupBeside(const std::string& name, std::string_view prefix) {
    for (size_t dot = name.find('.'); dot != name.npos; dot = name.find('.', dot + 1))
        if (const std::string group = name.substr(0, dot + 1); !prefix.starts_with(group))
            return group;
    return name;
}

/// Whether a tensor belongs to a copy of what lies beside it, or to an optimizer.
bool isBeside(const std::string& name, const SafetensorsInfo& file) {
    const size_t dot = name.find('.');
    if (dot == name.npos) return false;
    const std::string_view root = std::string_view(name).substr(0, dot);
    return hasWord(root, kOptimizers) ||
           (hasWord(root, kCopies) && file.find(std::string_view(name).substr(dot + 1)));
}

class GroupBuilder {
public:
    GroupBuilder(const SafetensorsInfo& file, const std::vector<Named>& all,
                 const KnownNames& known, const std::string& prefix)
        : m_file(file), m_known(known) {
        m_group.prefix = prefix;
        m_group.file.metadata = file.metadata;
        for (const Named& each : all)
            if (each.tied && each.name.starts_with(prefix)) takeTied(each);
        for (const Named& each : all)
            if (!each.tied) take(each);
        m_group.file.sortNames();
    }
    WeightGroup group() && { return std::move(m_group); }

private:
    const Known* knownAs(std::string_view name) const {
        const auto found = m_known.find(name);
        return found == m_known.end() ? nullptr : &found->second;
    }

    void add(const std::string& name, const Named& named) {
        m_group.file.arrays.push_back(*named.array);
        m_group.file.arrays.back().name = name;
        m_group.names[name] = named.array->name;
    }

    void takeTied(const Named& named) {
        const std::string& prefix = m_group.prefix;
        const Known* const known = knownAs(named.name.substr(prefix.size()));
        if (!known || !known->isOwn) return;
        add(known->name, named);
        m_elsewhere.insert(named.array);
        const std::string& kept = named.array->name;
        if (kept.starts_with(prefix) && knownAs(kept.substr(prefix.size())))
            m_group.tied.push_back(known->name + " = " + kept.substr(prefix.size()));
    }

    void take(const Named& named) {
        const std::string& prefix = m_group.prefix;
        const bool inside = named.name.starts_with(prefix);
        const std::string own = inside ? named.name.substr(prefix.size()) : std::string();
        const Known* const known = inside ? knownAs(own) : nullptr;
        if (!known && m_elsewhere.contains(named.array)) return;
        if (!inside || (prefix.empty() && !known && isBeside(named.name, m_file))) {
            const std::string group = groupBeside(named.name, prefix);
            if (m_left.insert(group).second) m_group.left.push_back(group);
        } else if (known && !known->isOwn && !m_file.find(prefix + known->name)) {
            m_group.isTorchvision = true;
            add(known->name, named);
        } else {
            add(own, named);
        }
    }

    const SafetensorsInfo& m_file;
    const KnownNames& m_known;
    WeightGroup m_group;
    std::set<const ArrayInfo*> m_elsewhere; ///< taken by a name that only the metadata know
    std::set<std::string> m_left;
};

} // namespace

WeightGroup groupOf(const SafetensorsInfo& file, const WantedWeights& wanted) {
    const std::vector<Named> all = namesIn(file);
    const KnownNames known = knownNames(wanted);
    std::vector<std::string> best = bestOf(scoresOf(all, known), file, wanted);
    const bool several = best.size() > 1;
    WeightGroup group =
        GroupBuilder(file, all, known, several ? std::string() : best.front()).group();
    if (several) group.alike = std::move(best);
    return group;
}

bool isSameShape(const ArrayInfo& array, const Shape& wanted) {
    return std::ranges::equal(array.shape, wanted);
}

bool differsByOnes(const ArrayInfo& array, const Shape& wanted) {
    std::vector<int64_t> here = array.shape, there(wanted.begin(), wanted.end());
    if (here.size() == there.size() || std::min(here.size(), there.size()) < 2) return false;
    const size_t most = std::max(here.size(), there.size());
    here.resize(most, 1);
    there.resize(most, 1);
    return here == there;
}

bool isBatchCount(const std::string& name) {
    return layerPathOf(name, kBatchesTracked).has_value();
}

} // namespace halfscope
