// Looks at names first: only files that may be of one data set are read, and their folder with
// them.
#include "ui/window/data_files.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/csv_fields.h"
#include "engine/data/data_around.h"
#include "engine/data/part_names.h"
#include "engine/data/picture_samples.h"
#include "engine/data/shard_index.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"

#include <QFileInfo>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace halfscope {
namespace {

bool namesArray(const std::string& path) { return path.ends_with(".npy"); }

/// Files that belong together.
struct Form {
    bool (*names)(const std::string& path);
    TaskKind kind;      ///< of their folder
    bool folder = true; ///< they are opened as their folder; else settings name each of them
    bool some = true;   ///< where there are only some of them, too
};
constexpr std::array kForms{
    Form{isFileOfMnist, TaskKind::Mnist}, Form{isFileOfCifar, TaskKind::Cifar},
    Form{isShard, TaskKind::Shards, true, false}, Form{namesTable, TaskKind::Csv, false},
    Form{namesArray, TaskKind::Arrays, false}};

QString folderOf(const QString& path) { return QFileInfo(path).absolutePath(); }

/// Whether a file is a text that comes with data, by its name.
bool isTextBeside(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    const QStringList texts{"", "md", "txt", "html", "pdf"};
    return texts.contains(ending) && std::ranges::none_of(kForms, [&path](const Form& form) {
               return form.names(path.toStdString());
           });
}

std::optional<DataOfFiles> folderOfAll(const QStringList& paths, const Form& form) {
    const QString folder = folderOf(paths.front());
    const auto inIt = pathsIn(folder.toStdString(), Entries::NotFolders, form.names);
    const bool some = static_cast<size_t>(paths.size()) < inIt.size();
    if (some && !form.some) return std::nullopt;
    std::optional<RunConfig> onData = experimentOn(folder.toStdString());
    if (!onData || onData->task.kind != form.kind) return std::nullopt; // other data beside them
    return DataOfFiles{folder, *std::move(onData), some};
}

/// Whether a setting of the data names the file.
bool readsFile(const RunConfig& onData, const QString& path) {
    const QString whole = QFileInfo(path).canonicalFilePath();
    return std::ranges::any_of(fieldTable(), [&](const Field& field) {
        if (field.kind != FieldKind::Path || !field.key.starts_with("data.")) return false;
        const FieldValue value = field.get(onData, -1);
        const auto* named = std::get_if<std::string>(&value);
        return named && !named->empty() &&
               QFileInfo(QString::fromStdString(*named)).canonicalFilePath() == whole;
    });
}

/// Whether the settings name these files. Of samples to validate or test on that do not fit, such
/// as those without a target, the data tell why they are left out.
bool areRead(const RunConfig& onData, const QStringList& paths) {
    const auto read = [&](const QString& path) { return readsFile(onData, path); };
    return std::ranges::any_of(paths, read) && std::ranges::all_of(paths, [&](const QString& path) {
               const DataPart part = partNamed(QFileInfo(path).fileName().toStdString());
               return read(path) || part == DataPart::Validation || part == DataPart::Test;
           });
}

/// Reads files that settings name, as one of them or their folder is opened. Tables find each other
/// in a folder only.
std::optional<DataOfFiles> dataNaming(const QStringList& paths, const Form& form) {
    constexpr qsizetype kMost = 6; // files that settings can name
    if (paths.size() > kMost) return std::nullopt;
    const QString folder = folderOf(paths.front());
    QStringList ways = paths;
    ways.insert(form.kind == TaskKind::Csv ? 0 : ways.size(), folder);
    std::optional<InputError> first; // of a file that cannot be read by itself
    for (const QString& way : std::as_const(ways)) {
        checkCancelled();
        try {
            std::optional<RunConfig> onData = experimentOn(way.toStdString());
            if (onData && areRead(*onData, paths)) return DataOfFiles{way, *std::move(onData)};
        } catch (const InputError& error) {
            if (!first && way != folder) first = error; // that may be of a file beside them
        }
    }
    if (first) throw InputError(*first);
    return std::nullopt;
}

bool lieTogether(const QStringList& paths) {
    return std::ranges::all_of(paths, [&paths](const QString& path) {
        return QFileInfo(path).isFile() && folderOf(path) == folderOf(paths.front());
    });
}

InputError notOfOneSet(const QStringList& paths) {
    std::vector<std::string> names;
    for (const QString& path : paths)
        names.push_back(pathText(QFileInfo(path).fileName().toStdString()));
    return InputError(phrase("Files", "%1: not all files of one data set; drop one of them by "
                                      "itself, or the folder that holds them"),
                      someOf(names));
}

} // namespace

std::optional<DataOfFiles> folderOfFile(const QString& path) {
    for (const Form& form : kForms)
        if (form.folder && form.some && form.names(path.toStdString()))
            return folderOfAll({path}, form);
    return std::nullopt;
}

std::optional<DataOfFiles> dataOfFiles(const QStringList& paths) {
    if (!lieTogether(paths)) return std::nullopt;
    for (const Form& form : kForms) {
        QStringList named, others;
        for (const QString& path : paths)
            (form.names(path.toStdString()) ? named : others) << path;
        if (named.isEmpty() || !std::ranges::all_of(others, isTextBeside)) continue;
        auto data = form.folder ? folderOfAll(named, form) : dataNaming(named, form);
        if (!data) throw notOfOneSet(named);
        return data;
    }
    return std::nullopt;
}

} // namespace halfscope
