// Looks at names first: only files that may be of one data set are read, and their folder with
// them.
#include "ui/window/data_files.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/data/csv_fields.h"
#include "engine/data/data_around.h"
#include "engine/data/own_files.h"
#include "engine/data/picture_samples.h"
#include "engine/data/shard_index.h"
#include "engine/io/gzip.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"

#include <QFileInfo>

#include <algorithm>
#include <array>
#include <set>
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

/// Returns how many files there are, of which each may be there packed, too.
size_t countOf(const std::vector<std::string>& paths) {
    std::set<std::string_view> names;
    for (const std::string& path : paths)
        names.insert(unpackedName(path));
    return names.size();
}

std::optional<DataOfFiles> folderOfAll(const QStringList& paths, const Form& form) {
    const QString folder = folderOf(paths.front());
    std::vector<std::string> given;
    for (const QString& path : paths)
        given.push_back(path.toStdString());
    const auto inIt = pathsIn(folder.toStdString(), Entries::NotFolders, form.names);
    const bool some = countOf(given) < countOf(inIt);
    if (some && !form.some) return std::nullopt;
    std::optional<RunConfig> onData = experimentOn(folder.toStdString());
    if (!onData || onData->task.kind != form.kind) return std::nullopt; // other data beside them
    return DataOfFiles{folder, *std::move(onData), some};
}

/// Returns the files that settings of the data name.
QStringList filesNamedIn(const RunConfig& onData) {
    QStringList files;
    for (const Field& field : fieldTable()) {
        if (field.kind != FieldKind::Path || !field.key.starts_with("data.")) continue;
        const FieldValue value = field.get(onData, -1);
        const auto* named = std::get_if<std::string>(&value);
        if (named && !named->empty())
            files << QFileInfo(QString::fromStdString(*named)).canonicalFilePath();
    }
    return files;
}

/// Reads files that settings name, as their folder or one of them is opened. A table to test on
/// that does not fit, such as one without targets, is left out, which the data tell.
std::optional<DataOfFiles> dataNaming(const QStringList& paths) {
    constexpr qsizetype kMost = 6; // files that settings can name
    if (paths.size() > kMost) return std::nullopt;
    const QString folder = folderOf(paths.front());
    std::optional<InputError> first; // of a file that cannot be read by itself
    for (const QString& way : (paths.size() > 1 ? QStringList(folder) : QStringList()) + paths) {
        checkCancelled();
        try {
            std::optional<RunConfig> onData = experimentOn(way.toStdString());
            if (!onData) continue;
            const QStringList named = filesNamedIn(*onData);
            const std::string& path = onData->task.path;
            const std::string test = path.empty() ? path : testBeside(path);
            const auto read = [&](const QString& each) {
                return named.contains(QFileInfo(each).canonicalFilePath()) ||
                       (!test.empty() && isSameFile(test, each.toStdString()));
            };
            if (!std::ranges::all_of(paths, read)) continue;
            const bool more = named.size() > paths.size();
            return DataOfFiles{way, *std::move(onData), more && way == folder};
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
    return InputError(phrase("Files",
                             "%1: these files do not belong to one data set, or are only a "
                             "part of one; drop one of them by itself, or the folder "
                             "that holds them"),
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
        if (named.size() == 1 && !form.some) return dataNaming(named); // a single shard
        auto data = form.folder ? folderOfAll(named, form) : dataNaming(named);
        if (!data) throw notOfOneSet(named);
        return data;
    }
    return std::nullopt;
}

} // namespace halfscope
