// Compares the classes of data, and keeps their names as text.
#include "engine/train/data_record.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/data_print.h"
#include "engine/io/json_text.h"
#include "engine/settings/data_settings.h"

#include <algorithm>

namespace halfscope {

DataRecord dataRecordOf(const RunConfig& config, const Dataset& data) {
    const std::string print = dataPrint(config.task, data);
    if (!infoOf(config.task.kind).fromFiles) return {print};
    return {print, {}, data.view().classes};
}

DataRecord withSettings(DataRecord record, const RunConfig& config) {
    if (infoOf(config.task.kind).fromFiles) record.settings = dataSettings(config);
    return record;
}

Message otherClasses(std::span<const std::string> trained, std::span<const std::string> now,
                     const std::string& place) {
    const std::vector<std::string> written = namesFromText(namesText(now)); // as files have them
    if (trained.empty() || written.empty()) return {};
    if (trained.size() != written.size())
        return {phrase("Training", "%1 has %2 classes, and the training had %3"), place,
                written.size(), trained.size()};
    const auto [was, is] = std::ranges::mismatch(trained, written);
    if (was == trained.end()) return {};
    return {phrase("Training", "class %1 is %2 in %3, and was %4 in the training"),
            was - trained.begin(), quotedText(*is), place, quotedText(*was)};
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
