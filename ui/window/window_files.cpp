// Chooses file names, asks for them in dialogs, and writes the files.
#include "ui/window/window_files.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/known_facts.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/tensorboard.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/idle_settings.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/saved_run.h"
#include "engine/train/state_dict.h"
#include "ui/dialogs/ask.h"
#include "ui/images/compare_view.h"
#include "ui/models/run_facts.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/measure.h"
#include "ui/plots/plot_stack.h"
#include "ui/session/left_threads.h"
#include "ui/window/guarded.h"
#include "ui/window/opened_checkpoint.h"
#include "ui/window/opened_file.h"
#include "ui/window/opened_network.h"
#include "ui/window/proposed_folder.h"
#include "ui/window/run_words.h"
#include "ui/window/settings_to_save.h"
#include "ui/window/shown_run.h"

#include <QBuffer>
#include <QClipboard>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLocale>
#include <QScopeGuard>

#include <map>
#include <utility>

namespace halfscope {
namespace {

const QString kBoardName = QStringLiteral("runs"); // where TensorBoard looks by itself

} // namespace

WindowFiles::WindowFiles(RunModels& models, ExperimentController& controller, ShownRun& shown,
                         const WindowParts& parts, QWidget& window)
    : m_models(models), m_controller(controller), m_shown(shown), m_parts(parts), m_window(window),
      m_copier(models, shown, parts), m_lanes(controller, shown, parts, window),
      m_data(models, parts), m_offers(models, parts), m_reading(shown, parts) {
    connect(&m_data, &DataOffer::accepted, this, &WindowFiles::tryOpen);
    connect(&m_offers, &FileOffers::outdated, this, &WindowFiles::tryOpen);
    connect(&m_offers, &FileOffers::told, this, &WindowFiles::told);
    connect(&m_offers, &FileOffers::weightsAccepted, this,
            [this](const OpenedFile& weights, WeightsTaken taken) {
                guarded(*m_parts.banner, [&] { startFrom(weights, taken); });
            });
    connect(&m_offers, &FileOffers::networkAccepted, this, [this](const OpenedFile& network) {
        guarded(*m_parts.banner, [&] { takeNetwork(network); });
    });
    connect(&m_lanes, &LaneFiles::told, this, &WindowFiles::told);
    connect(&m_copier, &ProgramCopier::told, this, &WindowFiles::told);
    connect(&m_boardTimer, &QTimer::timeout, this, &WindowFiles::lookAtLiveBoard);
    connect(&m_reading, &ReadingSign::stopAsked, this, &WindowFiles::stopReading);
    connect(&m_controller, &ExperimentController::stateChanged, this, [this](SessionState state) {
        // who trains does not wait for a file that was refused, and has seen what was opened
        if (state == SessionState::Running && m_parts.banner->text() == m_news)
            m_parts.banner->dismiss();
    });
    connect(&m_controller, &ExperimentController::built, this, &WindowFiles::tellOfWeights);
    connect(&m_controller, &ExperimentController::saved, this,
            [this](const QString& path, qint64 step) {
                emit used(path);
                emit told(tr("Checkpoint after step %1 saved in %2")
                              .arg(QLocale().toString(step), safeText(path.toStdString())));
            });
}

WindowFiles::~WindowFiles() = default;

void WindowFiles::chooseLiveBoard(bool writes) {
    if (!writes) return stopLiveBoard();
    const QString folder = chooseTargetFolder(
        &m_window, tr("Choose a folder for TensorBoard event files"), kBoardName);
    if (folder.isEmpty())
        emit writesLiveChanged(m_board != nullptr);
    else
        startLiveBoard(folder);
}

void WindowFiles::startLiveBoard(const QString& folder) {
    stopLiveBoard();
    guarded(*m_parts.banner, [&] {
        m_board = std::make_unique<LiveBoard>(folder.toStdString());
        constexpr int kBetweenLooks = 100; // ms
        m_boardTimer.start(kBetweenLooks);
        emit told(tr("Training is being written for TensorBoard. To view it, run: tensorboard "
                     "--logdir %1")
                      .arg(safeText(folder.toStdString())));
    });
    emit writesLiveChanged(m_board != nullptr);
}

void WindowFiles::stopLiveBoard() {
    m_boardTimer.stop();
    if (!m_board) return;
    m_board.reset();
    emit writesLiveChanged(false);
}

void WindowFiles::lookAtLiveBoard() {
    const Message problem = m_board->problem();
    if (problem.empty()) {
        const RunPtr& run = m_shown.trained();
        const SessionInfoPtr& built = m_controller.info();
        // what was written stays until the run has steps after its checkpoint
        const bool rests = built && built->goesOnAfter && run->step() <= *built->goesOnAfter;
        if (!rests) m_board->follow(run);
        return;
    }
    stopLiveBoard();
    m_parts.banner->showText(
        tr("Training is no longer written for TensorBoard: %1").arg(translated(problem)));
}

void WindowFiles::openPreset(const QString& name) {
    const Preset& preset = presetNamed(name.toStdString());
    stopReading(); // this choice is newer
    // the first preset needs no words beyond how to start
    const bool first = preset.name == presets()[0].name;
    m_shown.load(preset.config, name, translated(preset.titleHere()),
                 first ? QString() : translated(preset.aboutHere()));
}

void WindowFiles::show(const OpenedFile& opened) {
    if (!opened.refusal.empty()) throw InputError(opened.refusal);
    if (opened.picture) return showPicture(opened);
    if (!opened.preset.empty()) return isInUse() ? offerPresetOf(opened) : openPresetOf(opened);
    if (opened.weights) return startFrom(opened, WeightsTaken::Whole);
    if (opened.isNetwork()) return takeNetwork(opened);
    if (!opened.runs.empty()) return showRuns(opened);
    m_toldOfWeights.clear();
    emit used(opened.savedRun ? QFileInfo(opened.path).path() : opened.path);
    const RunConfig& config = opened.from ? opened.from->recorded : *opened.config;
    const QString title = titleOf(opened);
    if (opened.from)
        m_shown.resume(opened.from, opened.begun, title);
    else
        m_shown.load(config, {}, title);
    if (!opened.savedRun) m_parts.setup->tellIdle(opened.idle); // what was trained is not news
    if (namesFiles(config.task)) m_parts.setup->goTo(-1); // what was made of the data stands there
    if (!opened.model.empty()) return keepNetwork(opened);
    if (!opened.chosen.isEmpty()) return tellChosen(opened);
    if (opened.savedRun) {
        m_shown.readSaved(QFileInfo(opened.path).path(), *opened.config,
                          opened.begun ? opened.begun->now().checkpoint() : nullptr);
        if (!opened.problem.empty()) m_parts.banner->showText(translated(opened.problem));
    }
    if (!opened.from || !opened.from->keepsBest || !m_parts.banner->isHidden()) return;
    m_news = tr("This run keeps the weights of its best validations (--keep-best). The window does "
                "not write them; halfscope-cli does, from the next better validation on, when it "
                "continues the run.");
    m_parts.banner->showNotice(m_news);
}

/// Lists the runs and shows the last one, of which the state tells; the banner tells of all.
void WindowFiles::showRuns(const OpenedFile& opened) {
    if (!opened.path.isEmpty()) emit used(opened.path);
    RunId last = RunId::None;
    for (const OpenedRun& each : opened.runs) {
        if (opened.path.isEmpty()) emit used(QString::fromStdString(each.run->info().folder));
        last = m_shown.adopt(each.run, each.title, rowsOf(each.run->now()));
    }
    m_models.list.refresh();
    m_shown.bringBack(last);
    m_news = RunWords::openedRuns(opened.runs.size(), opened.lost, opened.problem);
    if (!m_parts.banner->isHidden()) return emit told(m_news); // the last one cannot be trained
    const bool good = opened.problem.empty() && opened.lost.empty();
    good ? (void)m_parts.banner->showNotice(m_news) : (void)m_parts.banner->showText(m_news);
}

void WindowFiles::showPicture(const OpenedFile& opened) {
    RunConfig config = painting(m_models.config.config(), opened.path.toStdString());
    const QString title = titleOf(opened.path); // in any script
    config.title = title.toStdString();
    m_shown.load(config, {}, title);
    if (!opened.around || !m_parts.banner->isHidden()) return;
    m_data.offerClasses(*opened.around);
    m_news = m_parts.banner->text();
}

void WindowFiles::tellChosen(const OpenedFile& data) {
    if (!m_parts.banner->isHidden()) return;
    m_news = chosenWords(data);
    m_parts.banner->showNotice(m_news);
}

void WindowFiles::startFrom(const OpenedFile& weights, WeightsTaken taken) {
    m_toldOfWeights.clear();
    OpenedWeights::set(m_models.config, weights, taken);
    if (m_shown.restart()) m_shown.tellWithNews(OpenedWeights::told(weights));
}

void WindowFiles::takeNetwork(const OpenedFile& program) {
    OpenedNetwork::set(m_models.config, program);
    const bool stays = hasSteps();
    if (stays || m_shown.restart()) m_news = OpenedNetwork::tell(program, stays, *m_parts.banner);
}

void WindowFiles::keepNetwork(const OpenedFile& data) {
    if (!m_parts.banner->isHidden()) return; // no network can be trained on these data
    if (data.doubt.empty()) OpenedNetwork::set(m_models.config, data);
    if (data.doubt.empty() && !m_shown.restart()) return;
    m_news = OpenedNetwork::onData(data, chosenWords(data));
    if (m_parts.banner->showNotice(m_news)) m_offers.offerNetworkOn(data);
}

bool WindowFiles::hasSteps() const { return m_shown.run() && m_shown.run()->step() > 0; }

bool WindowFiles::isInUse() const {
    return hasSteps() || m_controller.willTrain() || m_models.history.stack().canUndo();
}

void WindowFiles::openPresetOf(const OpenedFile& weights) {
    const Preset& preset = presetNamed(weights.preset);
    m_toldOfWeights.clear();
    m_shown.load(OpenedWeights::onPreset(weights), QString::fromStdString(preset.name),
                 translated(preset.titleHere()));
    if (!m_parts.banner->isHidden()) return; // it cannot be trained
    m_news = OpenedWeights::toldOfPreset(weights);
    m_parts.banner->showNotice(m_news);
}

void WindowFiles::offerPresetOf(const OpenedFile& weights) {
    m_parts.banner->showText(OpenedWeights::offerOfPreset(weights));
    const auto take = [this, weights] { guarded(*m_parts.banner, [&] { openPresetOf(weights); }); };
    m_parts.banner->offer(tr("Open the preset"),
                          tr("Opens the preset, and starts all its lanes from these weights"),
                          take);
}

void WindowFiles::tellOfWeights() {
    const SessionInfoPtr& built = m_controller.info();
    if (!built || built->goesOnAfter) return;
    if (built->weightsNote.empty()) return m_toldOfWeights.clear(); // the same ones may come back
    const QString note = tr("Initial weights: %1.").arg(translated(built->weightsNote));
    if (std::exchange(m_toldOfWeights, note) == note) return;
    const bool empty = m_parts.banner->isHidden();
    const bool hasNews = !empty && !m_news.isEmpty() && m_parts.banner->text() == m_news;
    if (!hasNews && !empty) return emit told(note);
    const QString text = hasNews ? m_news + u' ' + note : note;
    m_parts.banner->showNotice(text);
    keepNews(text);
}

/// Lets the next training dismiss this text, unless Play was pressed before it came: it would be
/// gone unread.
void WindowFiles::keepNews(const QString& text) {
    m_news = m_controller.playWaits() ? QString() : text;
}

void WindowFiles::openExperiment(const QString& path) { show(readExperiment(path)); }

void WindowFiles::openPicture(const QString& path) { show(checkPicture(path)); }

void WindowFiles::open(const QString& path) {
    show(readAny(path, m_models.config.config(), OpenedNetwork::ownOf(m_models.config)));
}

bool WindowFiles::tryOpenAll(const QStringList& paths) {
    rememberFolder(FilesOf::Runs, paths.front());
    const auto opened = std::make_shared<OpenedFile>();
    const auto read = [paths, opened, settings = m_models.config.config(),
                       own = OpenedNetwork::ownOf(m_models.config)] {
        readInto(*opened, paths, settings, own);
    };
    const auto start = [&] { m_job = std::make_unique<FileJob>(read, FileJob::Leaving::Abandons); };
    if (!guarded(*m_parts.banner, start)) return false;
    m_reading.end(); // Play was pressed for another file, if it was
    if (m_job->isDone(FileJob::kAtOnce)) return conclude(opened);
    m_reading.begin(paths.front());
    connect(m_job.get(), &FileJob::done, this, [this, opened] { conclude(opened); });
    return true;
}

void WindowFiles::stopReading() {
    if (!m_job) return;
    m_job.reset();
    m_reading.end();
    emit stopped();
}

bool WindowFiles::conclude(const std::shared_ptr<OpenedFile>& opened) {
    const std::unique_ptr<FileJob> job = std::exchange(m_job, nullptr);
    const bool plays = m_reading.end();
    emit told({}); // what was told may be about the experiment before
    m_news.clear();
    bool offers = false;
    const bool read = guarded(*m_parts.banner, [&] {
        job->result();
        offers = !opened->preset.empty() && isInUse();
        show(*opened);
    });
    if (!read) m_offers.offer(*opened);
    OpenedCheckpoint::offerEarlier(*opened, *m_parts.banner,
                                   [this](const QString& path) { tryOpen(path); });
    const bool good = read && !offers;
    if (!good) keepNews(m_parts.banner->text());
    if (good && plays && !(opened->isNetwork() && hasSteps())) {
        m_news.clear(); // the training that begins now must not dismiss it unread
        m_shown.play();
    }
    emit ended(good);
    return good;
}

void WindowFiles::choose() {
    const QString path = chooseSource(
        &m_window, FilesOf::Runs,
        tr("Open an experiment, weights, data or a picture (Ctrl+Shift+O opens a folder)"),
        tr("Experiments, checkpoints, weights, networks, data and pictures (*.json *.safetensors "
           "*.pt *.pth *.py *.csv *.tsv *.data *.csv.gz *.tsv.gz *.data.gz *.npy *.npz *ubyte "
           "*ubyte.gz *.bin *.txt *.tar *.png *.jpg *.jpeg);;All files (*)"));
    if (!path.isEmpty()) tryOpen(path);
}

void WindowFiles::chooseFolder() {
    const QString path =
        chooseSourceFolder(&m_window, FilesOf::Runs, tr("Open a folder with saved runs or data"));
    if (!path.isEmpty()) tryOpen(path);
}

/// Saves the run that is shown as it was trained, with its forks and live edits, and with the name
/// that it was given as the title, unless the settings are others by now. Where nothing but its
/// length was changed, leaves out values of settings that the window hides: its user did not mean
/// them.
void WindowFiles::saveExperiment(const QString& path) {
    const ConfigModel& settings = m_models.config;
    checkConfig(settings.config());
    const SettingsToSave chosen = settingsToSave(settings, m_shown.run().get());
    RunConfig saved = chosen.config;
    if (!chosen.asTrained || !chosen.changedInRun) saved = withoutIdle(saved);
    saved.pace = settings.config().pace; // the window's
    if (const QString title = shortTitle(m_shown.givenName()); chosen.sameAsRun && !title.isEmpty())
        saved.title = title.toStdString();
    writeBytes({tr("Save experiment"), tr("Saving the experiment in %1…"), path},
               [text = configText(saved)] { return text; });
    emit used(path);
    if (chosen.asTrained)
        emit told(RunWords::savedExperiment(path, chosen.config));
    else if (chosen.changedInRun)
        m_parts.banner->showNotice(RunWords::savedWithoutChanges(m_shown.run()->info().recorded));
}

void WindowFiles::chooseExperiment() {
    const QString given = m_shown.givenName();
    const QString name = given.isEmpty() ? QStringLiteral("experiment") : folderNameFor(given);
    const QString path = chooseTarget(&m_window, tr("Save experiment"),
                                      name + QStringLiteral(".json"), tr("Experiments (*.json)"));
    if (!path.isEmpty()) guarded(*m_parts.banner, [&] { saveExperiment(path); });
}

/// Proposes a name that no module has: a torch.py would be imported in place of PyTorch.
void WindowFiles::chooseProgram() {
    const QString name = QStringLiteral("train_%1.py").arg(folderNameFor(m_shown.experiment()));
    const QString path = chooseTarget(&m_window, tr("Save as a PyTorch program"), name,
                                      tr("Python programs (*.py)"));
    if (!path.isEmpty()) guarded(*m_parts.banner, [&] { saveProgram(path); });
}

void WindowFiles::saveProgram(const QString& path) {
    const SettingsToSave chosen = settingsToSave(m_models.config, m_shown.run().get());
    writeBytes(
        {tr("Save as a PyTorch program"), tr("Saving the program in %1…"), path},
        [settings = chosen.config] { return pytorchScript(settings, namesInFile(settings)); });
    emit told(RunWords::savedProgram(path, chosen.config));
    if (chosen.changedInRun && !chosen.asTrained)
        m_parts.banner->showNotice(RunWords::savedWithoutChanges(m_shown.run()->info().recorded));
}

void WindowFiles::chooseCheckpoint() {
    if (!m_controller.info() || m_lanes.networksAreGone()) {
        m_parts.banner->showText(
            m_controller.info()
                ? tr("The run that is shown is over and was opened without a checkpoint, so there "
                     "is none to save.")
                : tr("There are no networks yet, so there is no checkpoint to save."));
        return;
    }
    const QString path =
        chooseTarget(&m_window, tr("Save checkpoint"), QLatin1String(run_file::kCheckpoint),
                     tr("Checkpoints (*.safetensors)"));
    if (!path.isEmpty()) m_controller.saveCheckpoint(path, QCoreApplication::applicationVersion());
}

void WindowFiles::chooseTensorBoard() {
    if (m_shown.reads() || !m_shown.run()) {
        m_parts.banner->showText(tr("There is no run yet that TensorBoard could show."));
        return;
    }
    const QString folder = chooseTargetFolder(
        &m_window, tr("Choose a folder for TensorBoard event files"), kBoardName);
    if (folder.isEmpty()) return;
    guarded(*m_parts.banner, [&] {
        const RunSnapshot run = m_shown.run()->snapshot();
        const auto leftOut = std::make_shared<Message>();
        FileErrand{tr("Save for TensorBoard"), tr("Saving the run in %1…"), folder}.run(
            m_window,
            [run, to = folder.toStdString(), leftOut] { *leftOut = saveTensorBoard(run, to); });
        emit told(tr("Saved. To view it, run: tensorboard --logdir %1")
                      .arg(safeText(shellText(folder.toStdString()))));
        if (!leftOut->empty()) m_parts.banner->showText(translated(*leftOut));
    });
}

QStringList WindowFiles::resultNames() const {
    QStringList names;
    for (const std::string& name : filesOf(m_shown.run()->now()))
        names << QString::fromStdString(name);
    for (const LaneInfo& lane : m_shown.run()->lanes()) // written for runs that the command line
                                                        // trained
        names << QString::fromStdString(run_file::weights(lane.name))
              << QString::fromStdString(run_file::best(lane.name));
    for (const std::string& name : runFileNames()) // saving removes those of other lanes, too
        names << QString::fromStdString(name);
    names.removeDuplicates();
    return names;
}

SavedFiles WindowFiles::write(const RunSnapshot& run, const QString& folder) {
    const auto files = std::make_shared<SavedFiles>();
    const auto save = [files, run, folder = folder.toStdString(),
                       plots = MadeFile{run_file::kPlots, m_parts.plots->svg().toStdString()},
                       name = m_shown.title().toStdString(),
                       program = QCoreApplication::applicationVersion().toStdString()] {
        *files = saveWithCheckpoint(run, folder, name, program, std::span(&plots, 1));
    };
    FileErrand{tr("Save results"), tr("Saving the run in %1…"), folder}.run(m_window, save);
    return std::move(*files);
}

HeldResults WindowFiles::heldIn(const QString& folder) {
    const auto there = std::make_shared<HeldResults>();
    FileErrand{tr("Save results"),
               tr("Looking for results in %1…"),
               folder,
               phrase("Files", "%1: did not answer in time"),
               phrase("Files", "%1: nothing was saved there"),
               kForReading}
        .run(m_window, [there, folder, names = resultNames()] {
            for (const QString& name : names)
                if (QFileInfo::exists(QDir(folder).filePath(name))) there->files << name;
            if (!there->files.isEmpty()) there->run = heldRun(folder.toStdString());
        });
    return *there;
}

QStringList WindowFiles::saveResults(const QString& folder) {
    if (m_shown.reads())
        throw RunError(phrase(
            "Files", "The saved run is still being read. Save its results when it is shown."));
    if (!m_shown.run()) throw RunError(phrase("Files", "There is no run yet"));
    if (std::exchange(m_saves, true))
        throw RunError(phrase("Files", "Results are being saved already."));
    const auto done = qScopeGuard([this] { m_saves = false; });
    m_shown.frame(); // take the checkpoint that a pause or the end has just made
    const RunPtr run = m_shown.run();
    const RunSnapshot now = run->snapshot();
    const SavedFiles files = write(now, folder);
    QStringList written;
    for (const std::string& name : files.names)
        written << QString::fromStdString(name);
    m_question.saved(files.id, run);
    m_shown.markSaved(run, now, {!files.picturesError.empty(), !files.checkpointError.empty()});
    emit used(folder);
    m_savedStep = now.step();
    m_leftOut.clear();
    for (const Message* reason : // the gravest last
         {&files.picturesError, &files.checkpointError, &files.settingsError})
        if (!reason->empty()) m_leftOut = translated(*reason);
    return written;
}

bool WindowFiles::chooseResultsFolder() {
    const QString folder =
        chooseTargetFolder(&m_window, tr("Folder for the results"), proposedFolder(m_shown));
    if (folder.isEmpty() || !m_shown.run()) return false;
    HeldResults there;
    if (!guarded(*m_parts.banner, [&] { there = heldIn(folder); })) return false;
    if (!m_question.mayReplace(&m_window, folder, there, m_shown.run(), m_shown.before()))
        return false;
    bool saved = false;
    guarded(*m_parts.banner, [&] {
        const auto files = saveResults(folder).size();
        saved = true;
        emit told(
            tr("Saved the run after step %1: %n files in %2", nullptr, static_cast<int>(files))
                .arg(QLocale().toString(static_cast<qlonglong>(m_savedStep)),
                     safeText(folder.toStdString())));
        m_parts.banner->dismiss();
        if (!m_leftOut.isEmpty()) m_parts.banner->showText(m_leftOut);
    });
    return saved && m_leftOut.isEmpty();
}

void WindowFiles::copyPlots() {
    QGuiApplication::clipboard()->setImage(m_parts.plots->picture());
    emit told(tr("The plots were copied as a picture."));
}

void WindowFiles::copyPictures() {
    guarded(*m_parts.banner, [&] {
        const QImage picture = m_parts.pictures->picture(colorsFor(m_parts.pictures->palette()));
        if (picture.isNull())
            throw RunError(phrase("Files", "There is no memory for the pictures"));
        QGuiApplication::clipboard()->setImage(picture);
        emit told(tr("The pictures were copied as one picture."));
    });
}

void WindowFiles::choosePlots() {
    const QString path =
        chooseTarget(&m_window, tr("Save picture of the plots"), QStringLiteral("plots.png"),
                     tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"));
    if (path.isEmpty()) return;
    guarded(*m_parts.banner, [&] { savePlots(path); });
}

void WindowFiles::savePlots(const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    const std::map<QString, PlotForm> forms{{QStringLiteral("svg"), PlotForm::Svg},
                                            {QStringLiteral("pdf"), PlotForm::Pdf},
                                            {QStringLiteral("png"), PlotForm::Png}};
    const auto form = forms.find(ending);
    if (form == forms.end())
        throw RunError(phrase("Files", "%1: plots are saved as .svg, .png or .pdf"),
                       pathText(path.toStdString()));
    const QByteArray picture = m_parts.plots->file(form->second);
    writeBytes({tr("Save picture of the plots"), tr("Saving the plots in %1…"), path},
               [bytes = picture.toStdString()] { return bytes; });
}

/// Writes what `make` returns on another thread, and tells that it is saved.
void WindowFiles::writeBytes(const FileErrand& errand, std::function<std::string()> make) {
    errand.run(m_window, [to = errand.path.toStdString(), made = std::move(make)] {
        writeFileAtomically(to, made());
    });
    emit told(tr("Saved as %1").arg(safeText(errand.path.toStdString())));
}

void WindowFiles::chooseValues(const QString& column) {
    QString name = column;
    // as the plot's title: its values are steps per second, those of the column are seconds
    for (const Metric& each : m_parts.plots->plottable())
        if (QString::fromStdString(each.column) == column) name = titleOf(each);
    name.replace(QLatin1String("/"), QLatin1String(" per "));
    const QString path = chooseTarget(&m_window, tr("Save the values of a plot"),
                                      name + QStringLiteral(".csv"), tr("Tables (*.csv)"));
    if (!path.isEmpty()) guarded(*m_parts.banner, [&] { saveValues(column, path); });
}

void WindowFiles::saveValues(const QString& column, const QString& path) {
    writeBytes({tr("Save the values of a plot"), tr("Saving the values in %1…"), path},
               [values = m_parts.plots->values(column)] { return csvText(values); });
}

QString WindowFiles::chooseMap(QWidget* parent, const std::string& csv) {
    const QString path =
        chooseTarget(parent, tr("Save the map"), QStringLiteral("map.csv"), tr("Tables (*.csv)"));
    if (!path.isEmpty())
        writeBytes({tr("Save the map"), tr("Saving the map in %1…"), path}, [csv] { return csv; });
    return path;
}

void WindowFiles::choosePictures() {
    const QString path = chooseTarget(&m_window, tr("Save the pictures"),
                                      QStringLiteral("pictures.png"), tr("PNG (*.png)"));
    if (!path.isEmpty()) guarded(*m_parts.banner, [&] { savePictures(path); });
}

void WindowFiles::savePictures(const QString& path) {
    if (QFileInfo(path).suffix().toLower() != QLatin1String("png"))
        throw RunError(phrase("Files", "%1: pictures are saved as .png"),
                       pathText(path.toStdString()));
    QBuffer bytes;
    bytes.open(QIODevice::WriteOnly);
    if (!m_parts.pictures->picture(paperColors()).save(&bytes, "PNG"))
        throw RunError(phrase("Files", "%1: there is no memory for the pictures"),
                       pathText(path.toStdString()));
    writeBytes({tr("Save the pictures"), tr("Saving the pictures in %1…"), path},
               [picture = bytes.data().toStdString()] { return picture; });
}

} // namespace halfscope
