// Compares the classes of data, and keeps their names as text.
#include "engine/train/data_record.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/csv_classes.h"
#include "engine/data/data_print.h"
#include "engine/io/json_text.h"
#include "engine/settings/data_settings.h"

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {

/// Most bytes of namesText(). The header of a file of weights has a limit of 16 MiB, and takes up
/// to twice as much for them.
constexpr size_t kMostBytesOfNames = size_t{1} << 20;

/// Returns names as files have them: other bytes take the place of those that are no UTF-8.
std::vector<std::string> writtenNames(std::span<const std::string> names) {
    return namesFromText(namesText(names));
}

} // namespace

DataRecord dataRecordOf(const RunConfig& config, const Dataset& data) {
    const std::string print = dataPrint(config.task, data);
    const DataSetInfo& info = infoOf(config.task.kind);
    if (!info.fromFiles || info.fixedClasses) return {print};
    std::vector<std::string> classes = data.view().classes;
    if (namesText(classes).size() > kMostBytesOfNames) return {print};
    return {print, {}, std::move(classes)};
}

DataRecord withSettings(DataRecord record, const RunConfig& config) {
    if (infoOf(config.task.kind).fromFiles) record.settings = dataSettings(config);
    return record;
}

Message otherClasses(std::span<const std::string> trained, std::span<const std::string> now,
                     const TaskConfig& task) {
    const bool table = infoOf(task.kind).has("data.target"); // may write 1.0 in place of 1
    const auto isSame = [table](const std::string& name, const std::string& other) {
        return table ? isSameClass(name, other, false) : name == other;
    };
    const std::string place = shownPlaceOfData(task);
    const std::vector<std::string> before = writtenNames(trained), after = writtenNames(now);
    if (before.empty() || after.empty()) return {};
    if (before.size() != after.size())
        return {phrase("Training", "%1 has %2 classes, and the training had %3"), place,
                after.size(), before.size()};
    const auto [was, is] = std::ranges::mismatch(before, after, isSame);
    if (was == before.end()) return {};
    return {phrase("Training", "class %1 is %2 in %3, and was %4 in the training"),
            was - before.begin(), quotedText(*is), place, quotedText(*was)};
}

std::string namesText(std::span<const std::string> names) {
    JsonText list = JsonText::list();
    for (const std::string& name : names)
        list.push_back(name);
    return list.text();
}

std::vector<std::string> namesFromText(const std::string& text) {
    std::vector<std::string> names;
    if (text.empty()) return names;
    try {
        const JsonTree tree = parseStrictJson(text);
        if (!tree.root().is_array()) return names;
        for (const Json& each : tree.root()) {
            if (!each.is_string()) return {};
            names.push_back(each.get<std::string>());
        }
    } catch (const InputError&) { // somebody else wrote it
        names.clear();
    }
    return names;
}

} // namespace halfscope
