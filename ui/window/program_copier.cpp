// A short wait is not worth a word; a longer one goes on beside the window.
#include "ui/window/program_copier.h"

#include "engine/step/pytorch_script.h"
#include "engine/train/state_dict.h"
#include "ui/window/guarded.h"
#include "ui/window/run_words.h"
#include "ui/window/settings_to_save.h"
#include "ui/window/shown_run.h"

#include <QClipboard>
#include <QGuiApplication>

#include <utility>

namespace halfscope {

ProgramCopier::ProgramCopier(RunModels& models, const ShownRun& shown, const WindowParts& parts)
    : m_models(models), m_shown(shown), m_parts(parts) {}

ProgramCopier::~ProgramCopier() = default;

void ProgramCopier::copy() {
    const auto program = std::make_shared<Program>();
    const RunPtr shown = m_shown.run();
    const SettingsToSave chosen = settingsToSave(m_models.config, shown.get());
    program->settings = chosen.config;
    if (chosen.changedInRun && !chosen.asTrained)
        program->lacks = RunWords::savedWithoutChanges(shown->info().recorded);
    const auto write = [program] {
        program->text = pytorchScript(program->settings, namesInFile(program->settings));
    };
    const auto start = [&] {
        m_job = std::make_unique<FileJob>(write, FileJob::Leaving::Abandons);
    };
    if (!guarded(*m_parts.banner, start)) return;
    if (m_job->isDone(FileJob::kAtOnce)) return conclude(*program);
    emit told(tr("Reading the data…"));
    connect(m_job.get(), &FileJob::done, this, [this, program] { conclude(*program); });
}

void ProgramCopier::conclude(const Program& program) {
    const std::unique_ptr<FileJob> job = std::exchange(m_job, nullptr);
    emit told({}); // no data are being read any more
    guarded(*m_parts.banner, [&] {
        job->result();
        QGuiApplication::clipboard()->setText(QString::fromStdString(program.text));
        emit told(RunWords::copiedProgram(program.settings));
        if (!program.lacks.isEmpty()) m_parts.banner->showNotice(program.lacks);
    });
}

} // namespace halfscope
