// Goes by the settings that the kind of data has: those of another kind may still have values.
#include "engine/data/own_files.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/csv_fields.h"
#include "engine/data/dataset.h"
#include "engine/io/gzip.h"
#include "engine/io/open_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace halfscope {

namespace {

void checkIsOther(const char* key, const std::string& path, const char* otherKey,
                  const std::string& other) {
    if (!path.empty() && !other.empty() && isSameFile(path, other))
        throw InputError(phrase("Data", "%1: %2 is not allowed: it is the file of %3, and must be "
                                        "another one, or nothing"),
                         key, pathText(path), otherKey);
}

constexpr std::array<std::string_view, 2> kTrainTables{"train", "training"};

/// Returns the first table in a folder, among the files with these names, that is called as one of
/// `stems` is, in upper or lower case; empty when there is none.
std::string tableIn(const std::filesystem::path& folder, std::span<const std::string> names,
                    std::span<const std::string_view> stems) {
    for (const std::string_view stem : stems) {
        const auto found = std::ranges::find_if(names, [stem](const std::string& name) {
            return namesTable(name) &&
                   lowerCase(std::filesystem::path(unpackedName(name)).stem().string()) == stem;
        });
        if (found != names.end()) return (folder / *found).string();
    }
    return {};
}

} // namespace

bool findTables(const std::string& folder, TaskConfig& task) {
    constexpr size_t kMost = 10'000; // a longer look would be noticed
    constexpr std::array<std::string_view, 3> kValidation{"val", "valid", "validation"};
    constexpr std::array<std::string_view, 1> kTest{"test"};
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) return false;
    for (const std::string_view stem : kTrainTables) // of pictures, to which tables belong
        if (std::filesystem::is_directory(std::filesystem::path(folder) / stem, ignored))
            return false;
    std::vector<std::string> names = namesIn(folder, Entries::Files, nullptr, kMost);
    std::ranges::sort(names);
    task.path = tableIn(folder, names, kTrainTables);
    task.validationPath = tableIn(folder, names, kValidation);
    task.testPath = tableIn(folder, names, kTest);
    return !task.path.empty() && !(task.validationPath.empty() && task.testPath.empty());
}

std::string testBeside(const std::string& trained) {
    const std::filesystem::path file(trained), folder = file.parent_path();
    const std::string name = file.filename().string();
    TaskConfig found;
    const bool beside = !tableIn(folder, std::span(&name, 1), kTrainTables).empty() &&
                        findTables(folder.string(), found) && isSameFile(found.path, trained);
    return beside ? found.testPath : std::string();
}

bool isSameFile(const std::string& path, const std::string& other) {
    std::error_code ignored; // of a missing file, whoever reads it tells
    return path == other || std::filesystem::equivalent(path, other, ignored);
}

bool canValidateTestArrays(const TaskConfig& task) {
    return infoOf(task.kind).has("data.test") && task.xVal.empty() && task.xTest.empty();
}

bool validatesTestArrays(const TaskConfig& task) {
    return task.test && canValidateTestArrays(task);
}

bool validatesOwn(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    return validatesTestArrays(task) ||
           (info.has("data.validation_path") && !task.validationPath.empty()) ||
           (info.has("data.x_val") && !task.xVal.empty());
}

bool testsOwn(const TaskConfig& task) {
    const DataSetInfo& info = infoOf(task.kind);
    return (info.has("data.test_path") && !task.testPath.empty()) ||
           (info.has("data.x_test") && !task.xTest.empty());
}

void checkOwnFiles(const TaskConfig& task) {
    const bool table = infoOf(task.kind).has("data.validation_path");
    const auto ofArray = [](const std::string& path) { // an archive may hold all of them
        return lowerCase(path).ends_with(".npy") ? path : std::string();
    };
    const char *const train = table ? "data.path" : "data.x",
                      *const validation = table ? "data.validation_path" : "data.x_val",
                      *const test = table ? "data.test_path" : "data.x_test";
    const std::string trained = table ? task.path : ofArray(task.x),
                      judged = table ? task.validationPath : ofArray(task.xVal),
                      tested = table ? task.testPath : ofArray(task.xTest);
    checkIsOther(validation, judged, train, trained);
    checkIsOther(test, tested, train, trained);
    checkIsOther(test, tested, validation, judged);
    if (!table) {
        checkIsOther("data.y_val", ofArray(task.yVal), "data.y", ofArray(task.y));
        checkIsOther("data.y_test", ofArray(task.yTest), "data.y", ofArray(task.y));
        checkIsOther("data.y_test", ofArray(task.yTest), "data.y_val", ofArray(task.yVal));
    }
    if (testsOwn(task) && !validatesOwn(task) && task.validation == 0)
        throw InputError(phrase("Data", "%1: a test needs samples to validate on beside it; set %2 "
                                        "to a file of them, or data.validation to more than 0"),
                         test, validation);
}

Message ownValidationNote(int64_t samples, const Message& place) {
    return {phrase("Data", "The samples of %1, %2, are validated on; none of the others are held "
                           "back."),
            place, samples};
}

Message ownTestNote(int64_t samples, const Message& place) {
    return {phrase("Data", "The samples of %1, %2, are kept for the test at the end; validation "
                           "does not see them."),
            place, samples};
}

} // namespace halfscope
