// Which runs and settings the next window gets, and from where.
#include "ui/window/next_start.h"

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "ui/window/run_models.h"
#include "ui/window/session_keeper.h"
#include "ui/window/shown_run.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace halfscope {
namespace {

const QString kSettings = QStringLiteral("settings"), kPreset = QStringLiteral("preset"),
              kRunsAs = QStringLiteral("runsAs");

/// Returns the text of settings; throws InputError for settings that no file can hold.
std::string checkedText(const RunConfig& config) {
    std::string text = configText(config);
    parseConfig(text, "settings");
    return text;
}

QString writeTo(const QString& folder, const QString& name, const std::string& text) {
    QDir().mkpath(folder);
    const QString path = QDir(folder).filePath(name);
    writeFileAtomically(QFile::encodeName(path).toStdString(), text);
    return path;
}

std::string editsText(const ConfigModel::Edits& edits) {
    QJsonArray lanes;
    for (const int lane : edits.runsAs)
        lanes.append(lane);
    const QJsonObject file{{kSettings, QString::fromStdString(checkedText(edits.config))},
                           {kPreset, QString::fromStdString(checkedText(edits.preset))},
                           {kRunsAs, lanes}};
    return QJsonDocument(file).toJson().toStdString();
}

/// Returns the place of a run among those that the session keeps.
int sessionPlace(const Run* run, const RunStore& store) {
    int place = 0;
    for (const RunStore::Entry& entry : store.entries()) {
        if (entry.run.get() == run) return place;
        if (entry.run->info().folder.empty()) ++place;
    }
    return place;
}

} // namespace

QStringList nextStart(const RunModels& models, const ShownRun& shown, const SessionKeeper* keeper,
                      const QString& sessions) {
    const ConfigModel& config = models.config;
    const QString session = keeper ? keeper->session() : QString();
    const QString name = session.isEmpty() ? QStringLiteral("settings") : session;
    const RunPtr& run = shown.run();
    const QString folder = run ? QString::fromStdString(run->info().folder) : QString();
    const bool kept = !session.isEmpty() && run && run->step() > 0 && folder.isEmpty();
    QStringList arguments;
    if (!session.isEmpty()) arguments << QStringLiteral("--restore") << session;
    if (kept)
        arguments << QStringLiteral("--bring-back")
                  << QString::number(sessionPlace(run.get(), models.store));
    // an edit can be undone in the next window, too: it opens what was edited
    const QString& preset = shown.preset();
    const RunConfig& opened =
        preset.isEmpty() ? config.preset() : presetNamed(preset.toStdString()).config;
    if (kept || !folder.isEmpty() || !config.isStill(opened))
        arguments << QStringLiteral("--edits")
                  << writeTo(sessions, name + QStringLiteral(".edits"), editsText(config.edits()));
    if (!kept && !folder.isEmpty()) return arguments << QStringLiteral("--") << folder;
    if (!preset.isEmpty()) return arguments << QStringLiteral("--preset") << preset;
    if (kept) return arguments;
    return arguments << QStringLiteral("--")
                     << writeTo(sessions, QStringLiteral("experiment.json"), checkedText(opened));
}

ConfigModel::Edits takeEdits(const QString& path) {
    QFile file(path);
    const QJsonObject object = file.open(QIODevice::ReadOnly)
                                   ? QJsonDocument::fromJson(file.readAll()).object()
                                   : QJsonObject();
    file.remove();
    const auto read = [&](const QString& key) {
        return parseConfig(object.value(key).toString().toStdString(), path.toStdString());
    };
    ConfigModel::Edits edits{read(kSettings), read(kPreset), {}};
    for (const QJsonValue& lane : object.value(kRunsAs).toArray())
        edits.runsAs.push_back(lane.toInt(-1));
    edits.runsAs.resize(edits.config.lanes.size(), -1);
    return edits;
}

QStringList takenByQt(const QStringList& given, const QStringList& left) {
    QStringList taken;
    qsizetype next = 0;
    for (const QString& each : given) {
        if (next < left.size() && left[next] == each)
            ++next;
        else
            taken << each;
    }
    return taken;
}

} // namespace halfscope
