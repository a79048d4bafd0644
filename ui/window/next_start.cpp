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
              kRunsAs = QStringLiteral("runsAs"), kOfTheRun = QStringLiteral("ofTheRun");
const QString kNow = QStringLiteral("now"), kSteps = QStringLiteral("steps"),
              kText = QStringLiteral("text"), kBefore = QStringLiteral("before"),
              kAfter = QStringLiteral("after");
constexpr int kTheRun = ConfigModel::kNoBuild + 1; // the only run that a file knows

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

QJsonObject objectOf(const ConfigModel::Edits& edits, int run) {
    QJsonArray lanes;
    for (const int lane : edits.runsAs)
        lanes.append(lane);
    return {{kSettings, QString::fromStdString(checkedText(edits.config))},
            {kPreset, QString::fromStdString(checkedText(edits.preset))},
            {kRunsAs, lanes},
            {kOfTheRun, edits.builds == run}};
}

/// Leaves out steps from the last one on whose settings no file can hold, such as settings that the
/// user has corrected since.
QJsonArray stepsOf(const KeptEdits& kept) {
    QJsonArray steps;
    try {
        for (auto step = kept.steps.rbegin(); step != kept.steps.rend(); ++step)
            steps.prepend(QJsonObject{{kText, step->text},
                                      {kBefore, objectOf(step->before, kept.now.builds)},
                                      {kAfter, objectOf(step->after, kept.now.builds)}});
    } catch (const InputError&) { // the later ones can be undone
    }
    return steps;
}

std::string editsText(const KeptEdits& kept) {
    const QJsonObject file{{kNow, objectOf(kept.now, kept.now.builds)}, {kSteps, stepsOf(kept)}};
    return QJsonDocument(file).toJson().toStdString();
}

/// Throws InputError, which names the file.
ConfigModel::Edits editsIn(const QJsonObject& object, const QString& path) {
    const auto read = [&](const QString& key) {
        return parseConfig(object.value(key).toString().toStdString(), path.toStdString());
    };
    ConfigModel::Edits edits{read(kSettings), read(kPreset), {}};
    for (const QJsonValue& lane : object.value(kRunsAs).toArray())
        edits.runsAs.push_back(lane.toInt(-1));
    edits.runsAs.resize(edits.config.lanes.size(), -1);
    edits.builds = object.value(kOfTheRun).toBool() ? kTheRun : ConfigModel::kNoBuild;
    return edits;
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
        arguments << QStringLiteral("--bring-back") << QString::number(keeper->placeOf(run.get()));
    // an edit can be undone in the next window, too: it opens what was edited
    const QString& preset = shown.preset();
    const RunConfig& opened =
        preset.isEmpty() ? config.preset() : presetNamed(preset.toStdString()).config;
    if (kept || !folder.isEmpty() || !config.isStill(opened))
        arguments << QStringLiteral("--edits")
                  << writeTo(sessions, name + QStringLiteral(".edits"),
                             editsText(models.history.kept()));
    if (!kept && !folder.isEmpty()) return arguments << QStringLiteral("--") << folder;
    if (!preset.isEmpty()) return arguments << QStringLiteral("--preset") << preset;
    if (kept) return arguments;
    return arguments << QStringLiteral("--")
                     << writeTo(sessions, QStringLiteral("experiment.json"), checkedText(opened));
}

KeptEdits takeEdits(const QString& path) {
    QFile file(path);
    const QJsonObject object = file.open(QIODevice::ReadOnly)
                                   ? QJsonDocument::fromJson(file.readAll()).object()
                                   : QJsonObject();
    file.remove();
    KeptEdits kept{editsIn(object.value(kNow).toObject(), path), {}};
    for (const QJsonValue& each : object.value(kSteps).toArray()) {
        const QJsonObject step = each.toObject();
        kept.steps.push_back({editsIn(step.value(kBefore).toObject(), path),
                              editsIn(step.value(kAfter).toObject(), path),
                              step.value(kText).toString()});
    }
    return kept;
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
