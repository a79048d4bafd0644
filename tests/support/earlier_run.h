// A folder with an earlier run (seed 5) into which a run of seed 9 was written, possibly until a
// fault: what must be true of the folder then.
#pragma once

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/run_reader.h"
#include "tests/support/cli.h"

#include <QMap>

namespace halfscope::test {

inline constexpr int64_t kRunSteps = 12; ///< of both runs

using Files = QMap<QString, QByteArray>;

inline Files filesWithin(const QString& folder) {
    Files files;
    for (const QString& name : filesOf(folder))
        files[name] = contentOf(folder + '/' + name);
    return files;
}

inline void copyFolder(const QString& from, const QString& to) {
    QDir().mkpath(to);
    for (const QString& name : filesOf(from)) {
        QFile::copy(from + '/' + name, to + '/' + name);
        QFile::setPermissions(to + '/' + name, QFile::ReadOwner | QFile::WriteOwner);
    }
}

/// The files of both runs when nothing fails.
struct EarlierRun {
    Files before, after;

    enum class End { Failed, Killed };
    /// Says what is wrong with the folder; empty when nothing is.
    QString flawOf(const QString& folder, End end) const {
        const Files files = filesWithin(folder);
        if (files.contains("experiment.json") &&
            files["experiment.json"] == before["experiment.json"]) {
            for (auto file = before.begin(); file != before.end(); ++file)
                if (end == End::Failed && files.value(file.key()) != file.value())
                    return "the earlier run's " + file.key() + " has changed";
            for (const QString& name : files.keys()) // whatever is left of the earlier run must be
                                                     // unchanged
                if (before.contains(name) && files[name] != before[name])
                    return name + " does not belong to the earlier run's settings";
        }
        if (!files.contains("steps.csv")) return {}; // settings without results
        try {
            const auto left = readRun(folder.toStdString());
            if (left->info().config.seed == 9) return newRunFlaw(folder, *left);
            if (left->info().missing.empty() && left->step() != kRunSteps)
                return "not all of the earlier run";
            return {};
        } catch (const InputError& error) {
            const std::string text = error.what();
            if (files.value("experiment.json").isEmpty() && isPlainText(text)) return {};
            return QString::fromStdString("it does not open: " + text);
        }
    }

private:
    QString newRunFlaw(const QString& folder, const Run& left) const {
        const QByteArray steps = contentOf(folder + "/steps.csv");
        if (!after["steps.csv"].startsWith(steps.left(steps.lastIndexOf('\n') + 1)))
            return "steps.csv is none of this run";
        if (left.step() < kRunSteps && left.info().missing.empty())
            return "it does not say what is missing";
        for (const QString& name : filesOf(folder))
            if (name.startsWith("output_") && contentOf(folder + '/' + name) != after[name] &&
                !contentOf(folder + '/' + name).isEmpty())
                return name + " is none of this run";
        return {};
    }
};

} // namespace halfscope::test
