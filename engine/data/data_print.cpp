// Joins what is seen of the data to texts, of which the checksums are made.
#include "engine/data/data_print.h"

#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/core/text.h"
#include "engine/data/own_files.h"
#include "engine/io/input_file.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace halfscope {

namespace {

constexpr size_t kDigits = 64; // of a checksum

/// How much is seen of a file that is larger than all its pieces.
struct Pieces {
    int64_t count = 2; ///< from its start to its end
    int64_t bytes = 0; ///< of each
};
constexpr Pieces kOfTable{64, int64_t{256} << 10}, kOfFew{16, int64_t{64} << 10},
    kOfMany{2, int64_t{4} << 10};
constexpr size_t kFew = 16;                         // files
constexpr size_t kMostSizes = 4096, kMostRead = 64; // of many files

/// Returns the size and the bytes of a file, or of pieces of it.
std::string contentOf(const std::string& path, const Pieces& pieces) {
    InputFile file(path);
    const int64_t size = file.size();
    const bool whole = size <= pieces.count * pieces.bytes;
    std::string bytes = std::to_string(size) + "\n";
    for (int64_t piece = 0; piece < (whole ? 1 : pieces.count); ++piece) {
        if (!whole) file.skipTo((size - pieces.bytes) * piece / (pieces.count - 1));
        const size_t start = bytes.size();
        bytes.resize(start + static_cast<size_t>(whole ? size : pieces.bytes));
        std::span<char> left = std::span(bytes).subspan(start);
        while (!left.empty()) {
            const size_t count = file.read(left);
            if (count == 0) break; // it was cut off meanwhile
            left = left.subspan(count);
        }
    }
    return bytes;
}

/// Calls `use` with at most `most` of the paths, spread evenly over them.
template <class Use>
void forSome(const std::vector<std::string>& paths, size_t most, Use use) {
    const size_t count = std::min(most, paths.size());
    for (size_t i = 0; i < count; ++i)
        use(paths[i * paths.size() / count]);
}

/// Returns the path that is given for the data; empty when they come with the program.
const std::string& givenPath(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    return info.has("task.image") ? task.image : info.has("data.x") ? task.x : task.path;
}

/// Returns what is seen of the samples' files: their names below data.path, so that a folder may be
/// moved, and some sizes and contents.
std::string seenOfFiles(const std::string& given, std::vector<std::string> paths) {
    if (paths.empty() && !given.empty()) paths = {given};
    std::string seen;
    for (const std::string& each : paths) {
        std::string_view name = each;
        if (name.starts_with(given)) name.remove_prefix(given.size());
        seen.append(name.substr(std::min(name.find_first_not_of('/'), name.size()))) += '\n';
    }
    forSome(paths, kMostSizes, [&seen](const std::string& path) {
        std::error_code ignored; // a missing file shows when it is read
        seen += std::to_string(std::filesystem::file_size(path, ignored)) + "\n";
    });
    const Pieces& pieces = paths.size() <= kFew ? kOfFew : kOfMany;
    forSome(paths, kMostRead,
            [&](const std::string& path) { seen += contentOf(path, pieces) + "\n"; });
    return seen;
}

/// Returns the files of samples to validate on beside a table or arrays; none of the test, on which
/// no training depends.
std::vector<std::string> ownValidation(const TaskConfig& task) {
    if (!validatesOwn(task) || !task.predictFile.empty()) return {};
    const bool table = infoOf(task.kind).has("data.validation_path");
    if (table) return {task.validationPath};
    std::vector<std::string> paths;
    for (const std::string* path : {&task.xVal, &task.yVal})
        if (!path->empty()) paths.push_back(*path);
    return paths;
}

bool differ(std::string_view print, std::string_view other) {
    const size_t common = std::min(print.size(), other.size());
    return print.substr(0, common) != other.substr(0, common);
}

} // namespace

std::string dataPrint(const TaskConfig& task, const Dataset& data) {
    const DataSetInfo& info = infoOf(task.kind);
    const std::string& given = givenPath(task);
    if (info.has("task.image") ? given.empty() : !info.fromFiles) return {};
    const bool table = info.targets == Targets::AsTheLoss;
    std::string seen, samples;
    try {
        if (table)
            for (const std::string* path : {&task.path, &task.x, &task.y})
                if (!path->empty()) seen += contentOf(*path, kOfTable) + "\n";
        if (!table) samples = seenOfFiles(given, data.files());
        if (table)
            for (const std::string& path : ownValidation(task))
                samples += contentOf(path, kOfTable) + "\n";
    } catch (const InputError&) {
        return {};
    }
    if (!data.targetsAreSides()) // earlier versions had no classes there
        for (size_t i = 0; const std::string& name : data.view().classes)
            seen += quotedText(info.fixedClasses ? std::to_string(i++) : name) + "\n";
    if (const TensorSpec& x = data.tensors()[kX]; x.padded) {
        std::vector<int32_t> all(static_cast<size_t>(x.classes));
        std::iota(all.begin(), all.end(), 0);
        seen += data.textOf(all) + "\n";
    }
    for (const ChannelScale& each : data.channelScales())
        seen += numberText(each.mean) + " " + numberText(each.deviation) + "\n";
    return sha256(seen) + (table && samples.empty() ? std::string() : sha256(samples));
}

std::string shownPlaceOfData(const TaskConfig& task) { return pathText(givenPath(task)); }

bool predictsOtherwise(const std::string& print, const std::string& other) {
    return differ(std::string_view(print).substr(0, kDigits),
                  std::string_view(other).substr(0, kDigits));
}

Message changeSince(const std::string& began, const std::string& now, const TaskConfig& task) {
    if (!differ(began, now)) return {};
    const std::vector<std::string> own = ownValidation(task);
    const bool judged = !own.empty() && !predictsOtherwise(began, now);
    if (judged && own.size() > 1) // one checksum is that of both files
        return {phrase("Data", "%1 or %2 holds other data than the training began with; these are "
                               "used now"),
                pathText(own.front()), pathText(own.back())};
    return {phrase("Data", "%1 holds other data than the training began with; these are used now"),
            judged ? pathText(own.front()) : shownPlaceOfData(task)};
}

} // namespace halfscope
