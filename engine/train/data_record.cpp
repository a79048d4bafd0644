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

/// Of a list of names as text. Longer ones are not kept: the header of a file of weights, in which
/// they take up to four times as much, has a limit of 16 MiB.
constexpr size_t kMostBytesOfNames = size_t{1} << 20;

/// Whether the labels are numbers whose meaning the format fixes. What they are called may depend
/// on the name of a folder, or on a file beside them.
bool hasFixedClasses(TaskKind kind) { return kind == TaskKind::Mnist || kind == TaskKind::Cifar; }

/// Returns names as files have them: other bytes take the place of those that are no UTF-8.
std::vector<std::string> writtenNames(std::span<const std::string> names) {
    return namesFromText(namesText(names));
}

/// Whether two names of a class stand for the same one: a table may write 1.0 in place of 1.
bool sameName(const std::string& name, const std::string& other) {
    return isSameClass(name, other, false);
}

} // namespace

DataRecord dataRecordOf(const RunConfig& config, const Dataset& data) {
    const std::string print = dataPrint(config.task, data);
    if (!infoOf(config.task.kind).fromFiles || hasFixedClasses(config.task.kind)) return {print};
    std::vector<std::string> classes = data.view().classes;
    if (namesText(classes).size() > kMostBytesOfNames) return {print};
    return {print, {}, std::move(classes)};
}

DataRecord withSettings(DataRecord record, const RunConfig& config) {
    if (infoOf(config.task.kind).fromFiles) record.settings = dataSettings(config);
    return record;
}

Message otherClasses(std::span<const std::string> trained, std::span<const std::string> now,
                     const std::string& place) {
    const std::vector<std::string> before = writtenNames(trained), after = writtenNames(now);
    if (before.empty() || after.empty()) return {};
    if (before.size() != after.size())
        return {phrase("Training", "%1 has %2 classes, and the training had %3"), place,
                after.size(), before.size()};
    const auto [was, is] = std::ranges::mismatch(before, after, sameName);
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
