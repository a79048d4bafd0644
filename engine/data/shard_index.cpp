// Scans each shard once. Files of one sample have the same name up to the first dot.
#include "engine/data/shard_index.h"

#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/part_names.h"
#include "engine/data/picture_samples.h"
#include "engine/data/undecoded.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace halfscope {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLabelBytes = 64;

/// Returns the file, or the shards in the folder in the order of their names; `error` is that of
/// pathsIn().
std::vector<std::string> shardsAt(const std::string& path, int& error) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return pathsIn(path, Entries::NotFolders, isShard, &error);
    error = 0;
    return {path};
}

/// Brings shards to train on before those to validate on, and these before those to test on, and
/// counts them. A name that tells of no part is one to train on. All are where otherwise none is.
void sortByPart(ShardIndex& index) {
    const auto isOf = [](DataPart part) {
        return [part](const std::string& path) {
            return partNamed(fs::path(path).filename().string()) == part;
        };
    };
    std::vector<std::string>& all = index.shards;
    const auto isOther = [&](const std::string& path) {
        return isOf(DataPart::Validation)(path) || isOf(DataPart::Test)(path);
    };
    index.trainShards = all.size();
    if (std::ranges::all_of(all, isOther)) return;
    const auto others = std::stable_partition(all.begin(), all.end(), std::not_fn(isOther));
    const auto tests = std::stable_partition(others, all.end(), isOf(DataPart::Validation));
    index.trainShards = static_cast<size_t>(others - all.begin());
    index.valShards = static_cast<size_t>(tests - others);
}

/// Splits a name: "a/0001.seg.PNG" is the file "seg.png" of the sample "a/0001".
struct ShardName {
    std::string sample, kind;
    explicit ShardName(const std::string& name) {
        const size_t slash = name.rfind('/'), from = slash == name.npos ? 0 : slash + 1;
        const size_t dot = std::min(name.find('.', from), name.size());
        sample = name.substr(0, dot);
        kind = lowerCase(name.substr(std::min(dot + 1, name.size())));
    }
    bool isPicture() const { return isPictureEnding(kind); }
    bool isLabel() const { return kind == "cls"; }
};

/// Scans one shard.
class ShardReader {
public:
    ShardReader(ShardIndex& index, size_t shard)
        : m_index(index), m_shard(shard), m_first(index.samples.size()),
          m_path(index.shards[shard]), m_reader(m_path, CutTar::TakeWholeFiles) {}

    void read() {
        TarEntry entry;
        while (m_reader.next(entry)) {
            const ShardName name(entry.name);
            if (!name.isPicture() && !name.isLabel()) {
                if (m_index.other.empty()) m_index.other = entry.name;
                continue;
            }
            ShardSample& sample = sampleOf(name.sample);
            if (name.isPicture() ? !sample.picture.name.empty() : sample.label >= 0)
                throw InputError(phrase("Data", "%1: %2 is a second %3 of its sample"),
                                 pathText(m_path), pathText(entry.name),
                                 name.isPicture() ? phrase("Data", "picture")
                                                  : phrase("Data", "class"));
            if (name.isPicture())
                sample.picture = entry;
            else
                sample.label = labelIn(entry);
        }
        if (!m_reader.cut().empty()) return takeCut();
        for (const auto& [name, at] : m_places)
            checkWhole(name, m_index.samples[at]);
    }

private:
    /// Drops the samples that lack a part, which the end of the shard may have cut off, and tells
    /// of it. These are many where all pictures come before all classes, and any where the files
    /// come in no order. A shard that lacks no more than its end mark is as good as whole.
    void takeCut() {
        std::vector<ShardSample>& all = m_index.samples;
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(m_first);
        const auto whole = std::remove_if(first, all.end(), [](const ShardSample& each) {
            return each.label < 0 || each.picture.name.empty();
        });
        const bool part = whole != all.end();
        const int64_t left = whole - first;
        all.erase(whole, all.end());
        if (m_reader.lacksOnlyEnd() && !part && left > 0) {
            m_index.notes.push_back({phrase("Data", "%1 has no end marker, so it may have been cut "
                                                    "off; its samples, %2, are used."),
                                     pathText(m_path), left});
            return;
        }
        const std::optional<int64_t> damage = m_reader.damagedAt();
        m_index.notes.push_back(damage ? damagedShardNote(m_path, *damage, left)
                                       : cutShardNote(m_path, m_reader.bytes(), left));
        if (m_index.cut.empty()) m_index.cut = m_reader.cut();
    }

    ShardSample& sampleOf(const std::string& name) {
        const auto [at, added] = m_places.try_emplace(name, m_index.samples.size());
        if (added) m_index.samples.push_back({m_shard, {}, -1});
        return m_index.samples[at->second];
    }

    int32_t labelIn(const TarEntry& entry) {
        const std::string content = m_reader.content(entry, kMostLabelBytes);
        std::string_view text = content;
        while (text.ends_with('\n') || text.ends_with('\r'))
            text.remove_suffix(1);
        text = trimmed(text);
        int32_t label = -1;
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), label);
        const bool whole = code == std::errc{} && end == text.data() + text.size();
        if (!whole || label < 0 || label >= kMostPictureClasses)
            throw InputError(
                phrase("Data", "%1: %2 has the class %3: a whole number from 0 to %4 is "
                               "allowed"),
                pathText(m_path), pathText(entry.name), quotedText(text), kMostPictureClasses - 1);
        return label;
    }

    void checkWhole(const std::string& name, const ShardSample& sample) const {
        if (sample.label < 0)
            throw InputError(phrase("Data", "%1: the sample %2 has a picture but no class: %2.cls "
                                            "is missing%3"),
                             pathText(m_path), pathText(name), othersOf(name));
        if (sample.picture.name.empty())
            throw InputError(phrase("Data", "%1: the sample %2 has a class but no picture: %2.png "
                                            "or %2.jpg is missing%3"),
                             pathText(m_path), pathText(name), othersOf(name));
    }

    /// Says which files a sample has in place of what it lacks; empty if there are none. Scans the
    /// shard again: to keep all names is too much for shards that lack nothing.
    Message othersOf(const std::string& sample) const {
        std::vector<std::string> others;
        TarReader reader(m_path, CutTar::TakeWholeFiles);
        for (TarEntry entry; reader.next(entry);) {
            const ShardName name(entry.name);
            if (name.sample == sample && !name.isPicture() && !name.isLabel())
                others.push_back(entry.name);
        }
        if (others.empty()) return {};
        return {phrase("Data", "; what it has in its place is not read: %1"), someOf(others)};
    }

    ShardIndex& m_index;
    size_t m_shard, m_first; ///< m_first: the place of its first sample in the index
    const std::string& m_path;
    TarReader m_reader;
    std::map<std::string, size_t> m_places; ///< places of samples in the index, by name
};

IndexPtr readIndex(std::vector<std::string> shards) {
    ShardIndex index;
    index.shards = std::move(shards);
    sortByPart(index);
    for (size_t shard = 0; shard < index.shards.size(); ++shard) {
        ShardReader(index, shard).read();
        if (shard + 1 == index.trainShards) index.trained = index.samples.size();
        if (shard + 1 == index.trainShards + index.valShards)
            index.judged = index.samples.size() - index.trained;
    }
    index.judgesTests = index.judged == 0;
    if (index.judgesTests) index.judged = index.samples.size() - index.trained;
    const auto known = index.samples.begin() + std::ssize(index.samples) -
                       static_cast<std::ptrdiff_t>(index.tested());
    for (auto sample = index.samples.begin(); sample != known; ++sample)
        index.classes = std::max(index.classes, sample->label + 1);
    const auto unknown = std::find_if(known, index.samples.end(), [&](const ShardSample& each) {
        return each.label >= index.classes;
    });
    if (unknown != index.samples.end())
        index.untested = {phrase("Data", "The samples of %1 are not used for a test: no sample to "
                                         "train or validate on has the class %2."),
                          fileNames(index.testShards()), unknown->label};
    return std::make_shared<const ShardIndex>(std::move(index));
}

struct LastIndex {
    std::mutex mutex;
    std::string stamp; ///< of the shards when they were scanned
    IndexPtr index;
};

} // namespace

bool isShard(const std::string& path) { return fs::path(path).extension() == ".tar"; }

Message fileNames(std::span<const std::string> shards) {
    std::vector<std::string> names;
    for (const std::string& path : shards)
        names.push_back(fs::path(path).filename().string());
    return someOf(names);
}

IndexPtr indexAt(const std::string& path) {
    // never destroyed: a thread that hangs on a dead network may return while the program ends
    static LastIndex& last = *std::make_unique<LastIndex>().release();
    int error = 0;
    std::vector<std::string> shards = shardsAt(path, error);
    if (error != 0) refuseUnread(path, error);
    std::string stamp = path;
    for (const std::string& shard : shards)
        stamp += '\0' + shard + '\0' + fileStamp(shard);
    {
        const std::lock_guard lock(last.mutex);
        if (last.index && last.stamp == stamp) return last.index;
    }
    IndexPtr index = readIndex(std::move(shards));
    const std::lock_guard lock(last.mutex);
    last.stamp = std::move(stamp);
    return last.index = std::move(index);
}

} // namespace halfscope
