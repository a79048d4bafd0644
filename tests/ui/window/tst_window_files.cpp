// The window and files: results, pictures and plots that it writes, experiments that it saves and
// opens again, and what it remembers of itself.
#include "engine/io/input_file.h"
#include "engine/io/picture.h"
#include "engine/runs/run_folder.h"
#include "engine/step/pytorch_script.h"
#include "tests/support/file_menu.h"
#include "tests/support/growth_limit.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/run_tables.h"
#include "tests/support/shown_window.h"
#include "tests/support/thrown.h"
#include "ui/dialogs/ask.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/panels/preset_box.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <qcustomplot.h>

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QGuiApplication>
#include <QLabel>
#include <QLibraryInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScreen>
#include <QSettings>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QVersionNumber>

#include <cmath>

namespace tst_window_files {

using namespace halfscope;

namespace {

std::string readAll(const QString& path) { return readFile(path.toStdString()); }

} // namespace

class TestWindowFiles : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void savesResults();
    void entriesThatAskHaveAnEllipsis();
    void theWindowGoesOnWhileItSaves();
    void resultsThatCannotBeWritten();
    void resultsOverOtherFiles();
    void savesWhatCanBeOpened();
    void picturesOfAnyName();
    void filesAreToldFromPresets();
    void savesIntoANewFolder();
    void plotsMenuSaves();
    void typeOfFileIsTheEnding();
    void copiesPictures();
    void copiesAPyTorchProgram();
    void savesAPyTorchProgram();
    void namesSettingsWithoutEffect();
    void savesNoneWithoutEffect();
    void plotsAreSaved();
    void theGradientsOutlastACrash();
    void remembersTheWindow();
};

/// An ellipsis promises a question; a window that only shows something has none.
void TestWindowFiles::entriesThatAskHaveAnEllipsis() {
    Opened opened(tinyConfig(5));
    QStringList entries;
    for (QAction* menu : opened.window.menuBar()->actions())
        for (QAction* each : menu->menu()->actions())
            entries << each->text().remove(u'&').section(u'\t', 0, 0);
    for (const char* shows : {"Continue as a new lane", "Gradients by layer",
                              "Number types by layer", "Verify against PyTorch", "About Halfscope"})
        QVERIFY2(entries.contains(QLatin1String(shows)), shows);
    for (const char* asks :
         {"Open…", "Save checkpoint…", "Map of two settings…", "Try several values of a setting…"})
        QVERIFY2(entries.contains(QString::fromUtf8(asks)), asks);
}

void TestWindowFiles::savesResults() {
    RunConfig config = tinyConfig(20);
    config.lanes[1].scaler.initScale = 1e30; // overflows
    Opened opened(config);
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(20), kPatience);
    const QDir folder(opened.folder.filePath(QStringLiteral("out")));
    QCOMPARE(window.resultsIn(folder.path()), QStringList());
    const QStringList names = window.saveResults(folder.path());
    for (const QString& name : names)
        QVERIFY2(window.resultsIn(folder.path()).contains(name), qPrintable(name));
    QCOMPARE(names.size(), qsizetype(11));
    for (const QString& name : names)
        QVERIFY2(folder.exists(name), qPrintable(name));
    // the table of the command line, byte for byte
    Experiment again(config);
    std::string steps = table::kSteps;
    const std::vector<std::string> lanes = laneNames(config);
    while (!again.finished()) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        again.advance(records, events);
        for (const StepRecord& record : records)
            steps += table::stepLine(rowOf(record), lanes);
    }
    QCOMPARE(QString::fromStdString(readAll(folder.filePath(QStringLiteral("steps.csv")))),
             QString::fromStdString(steps));
    const std::string events = readAll(folder.filePath(QStringLiteral("events.csv")));
    QVERIFY(events.find("overflow") != std::string::npos);
    QVERIFY(events.find(table::kEvents) == 0);
    QCOMPARE(
        configText(readConfig(folder.filePath(QStringLiteral("experiment.json")).toStdString())),
        configText(config));
    const Picture target = readPicture(folder.filePath(QStringLiteral("target.png")).toStdString());
    QCOMPARE(target.width, again.target().width);
}

/// Long tables take a while to write: the window is drawn meanwhile, and saves one thing at a time.
void TestWindowFiles::theWindowGoesOnWhileItSaves() {
    constexpr int64_t kSteps = 20000;
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), kSteps, kPatience);
    const QString folder = opened.folder.filePath(QStringLiteral("out"));
    int ticks = 0, refused = 0;
    QTimer timer;
    timer.callOnTimeout([&] {
        ++ticks;
        if (ticks > 1) return;
        try {
            window.saveResults(opened.folder.filePath(QStringLiteral("other")));
        } catch (const RunError&) {
            ++refused;
        }
    });
    timer.start(1);
    window.saveResults(folder);
    timer.stop();
    QVERIFY(ticks > 1);
    QCOMPARE(refused, 1);
    QVERIFY(!QFileInfo::exists(opened.folder.filePath(QStringLiteral("other"))));
    window.saveResults(folder); // and again, when it is done
}

void TestWindowFiles::resultsThatCannotBeWritten() {
    Opened opened(tinyConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const QString file = write(opened.folder, QStringLiteral("file"), "in the way");
    QVERIFY_THROWS_EXCEPTION(RunError, opened.window.saveResults(file));
}

/// The question names all files that are replaced or removed, also those of lanes that this run
/// does not have; what the run was trained on is never replaced.
void TestWindowFiles::resultsOverOtherFiles() {
    const QTemporaryDir data;
    const QString picture = data.filePath(QString::fromUtf8(run_file::kTarget));
    writePng(Picture{4, 4, 1, std::vector<float>(16, 0.5F)}, picture.toStdString());
    RunConfig config = tinyConfig(5);
    config.task.kind = TaskKind::Image;
    config.task.image = picture.toStdString();
    Opened opened(config);
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Finished));
    const std::string before = readAll(picture);
    QCOMPARE(thrownBy<InputError>([&] { opened.window.saveResults(data.path()); }),
             picture.toStdString() + " is the file of task.image and would be overwritten; choose "
                                     "another folder or name");
    QCOMPARE(readAll(picture), before);
    const QTemporaryDir other;
    const QString ofOther = QString::fromStdString(run_file::output("apex-o2"));
    write(other, ofOther, "mine");
    QCOMPARE(opened.window.resultsIn(other.path()), QStringList{ofOther});
}

void TestWindowFiles::savesWhatCanBeOpened() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path = opened.folder.filePath(QStringLiteral("saved.json"));
    window.saveExperiment(path);
    QCOMPARE(window.statusBar()->currentMessage(), QStringLiteral("Saved as ") + path);
    QCOMPARE(configText(readConfig(path.toStdString())), configText(window.config().config()));
    ConfigModel& model = window.config(); // live: the scale may be above such a floor by now
    QVERIFY(model.setData(model.index(model.rowOf("scaler.floor", 1)), QStringLiteral("1e9")));
    QVERIFY_THROWS_EXCEPTION(InputError, checkConfig(model.config()));
    QVERIFY_THROWS_EXCEPTION(InputError, window.saveExperiment(path));
    readConfig(path.toStdString()); // the earlier file is still there
    const QDir folder(opened.folder.filePath(QStringLiteral("out")));
    const QStringList names = window.saveResults(folder.path());
    QVERIFY(names.contains(QStringLiteral("steps.csv")));
    // as the run began: it allows the floor as one of its recorded edits
    checkConfig(readConfig(folder.filePath(QStringLiteral("experiment.json")).toStdString()));
}

void TestWindowFiles::picturesOfAnyName() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    for (const QString& name : {QString(230, u'x'), QString(70, u'\u4e00'),
                                QStringLiteral("left\u200eto  right"), QStringLiteral("\u200e")}) {
        const QString path = opened.folder.filePath(name + QStringLiteral(".png"));
        writePng({2, 2, 1, {0, 1, 1, 0}}, path.toStdString());
        window.openPicture(path);
        const QString saved = opened.folder.filePath(QStringLiteral("saved.json"));
        window.saveExperiment(saved);
        QVERIFY(!readConfig(saved.toStdString()).title.empty());
    }
}

/// A file that was saved from a preset may have other settings, and has the preset's title.
void TestWindowFiles::filesAreToldFromPresets() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    const auto& box = *window.findChild<PresetBox*>();
    RunConfig config = tinyConfig(3);
    config.title = presetNamed("overflow").config.title;
    window.openExperiment(write(opened.folder, QStringLiteral("mine.json"), configText(config)));
    QCOMPARE(box.currentText(), QStringLiteral("Overflow (mine.json)"));
    QCOMPARE(box.toolTip(), box.currentText());
    QVERIFY(window.windowTitle().startsWith(box.currentText()));
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    const QString folder = opened.folder.filePath(QStringLiteral("results"));
    window.saveResults(folder);
    QCOMPARE(readConfig((folder + QStringLiteral("/experiment.json")).toStdString()).title,
             config.title); // only the window adds the name
    window.openFile(folder);
    QTRY_COMPARE(box.currentText(), QStringLiteral("Overflow (results)"));
    config.title = "Mine";
    window.openExperiment(write(opened.folder, QStringLiteral("mine.json"), configText(config)));
    QCOMPARE(box.currentText(), QStringLiteral("Mine"));
}

/// A folder for the results need not be there before, and one is proposed.
void TestWindowFiles::savesIntoANewFolder() {
    RunConfig config = tinyConfig(20);
    config.title = "Mean: 10 & 5";
    Opened opened(config);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QAction* save = fileAction(opened.window, QStringLiteral("Save &results…"));
    QVERIFY(save);
    const QString path = opened.folder.filePath(QStringLiteral("new one"));
    QString proposed;
    bool canSave = false;
    QTimer::singleShot(0, &opened.window, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        auto* name = dialog->findChild<QLineEdit*>();
        proposed = name->text();
        name->setText(path);
        for (const QPushButton* button : dialog->findChildren<QPushButton*>())
            canSave = canSave || (button->text() == QLatin1String("Save") && button->isEnabled());
        QTest::keyClick(name, Qt::Key_Return);
        if (dialog->isVisible()) dialog->reject();
    });
    save->trigger();
    QCOMPARE(proposed, QStringLiteral("mean-10-5"));
    QVERIFY(canSave);
    const auto files = QDir(path).entryList(QDir::Files).size();
    QVERIFY(files > 5);
    QCOMPARE(opened.window.statusBar()->currentMessage(),
             QStringLiteral("Saved the run after step 0: %1 files in %2").arg(files).arg(path));
    QCOMPARE(opened.window.bannerText(), QString());
}

/// What is chosen below the name decides what is written.
void TestWindowFiles::typeOfFileIsTheEnding() {
    Opened opened(tinyConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    QTimer::singleShot(0, &opened.window, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        dialog->setDirectory(opened.folder.path());
        QCOMPARE(dialog->findChild<QLineEdit*>()->text(), QStringLiteral("plots.png"));
        auto* type = dialog->findChild<QComboBox*>(QStringLiteral("fileTypeCombo"));
        QTest::keyClick(type, Qt::Key_Down);
        QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
        if (dialog->isVisible()) dialog->reject();
    });
    emit opened.window.plots().saveRequested();
    const QString path = opened.folder.filePath(QStringLiteral("plots.svg"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly) && file.readAll().trimmed().endsWith("</svg>"));
    QCOMPARE(opened.window.statusBar()->currentMessage(), QStringLiteral("Saved as ") + path);
}

void TestWindowFiles::plotsMenuSaves() {
    Opened opened(tinyConfig(20));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const QString path = opened.folder.filePath(QStringLiteral("plots.svg"));
    QTimer::singleShot(0, &opened.window, [&path] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog) return;
        dialog->setDirectory(QFileInfo(path).path());
        dialog->selectFile(path);
        QMetaObject::invokeMethod(dialog, "accept");
    });
    emit opened.window.plots().saveRequested(); // the dialog runs in here
    QVERIFY(QFileInfo::exists(path));
}

/// Twice as fine as on the screen, for slides.
void TestWindowFiles::copiesPictures() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, 3));
    QClipboard* clipboard = QGuiApplication::clipboard();
    clipboard->clear();
    QAction* plots = fileAction(window, QStringLiteral("Copy picture of the p&lots"));
    QVERIFY(plots);
    plots->trigger();
    const QSize size = 2 * window.plots().findChild<QCustomPlot*>()->size();
    QCOMPARE(clipboard->image().width(), size.width());
    QCOMPARE(clipboard->image().height(), size.height()); // each plot names the lanes
    QVERIFY(window.statusBar()->currentMessage().contains(QStringLiteral("copied")));
    clipboard->clear();
    QAction* pictures = fileAction(window, QStringLiteral("Copy p&ictures"));
    QVERIFY(pictures);
    pictures->trigger();
    auto* view = window.findChild<CompareView*>();
    const QImage copied = clipboard->image();
    QVERIFY(copied.width() > 2 * view->width() - 40);
    // everything that is visible, including the target at the right
    const QColor ground = view->palette().color(QPalette::Window);
    const ImageView& target = view->view(2);
    const QPoint middle = target.mapTo(target.parentWidget(), target.rect().center());
    QVERIFY(copied.pixelColor(2 * middle) != ground ||
            copied.pixelColor(2 * middle + QPoint(20, 20)) != ground);
    emit window.plots().copyRequested();
    QVERIFY(clipboard->image().size() != copied.size());
}

void TestWindowFiles::copiesAPyTorchProgram() {
    const RunConfig config = tinyConfig(20);
    Opened opened(config);
    QAction* copy = nullptr;
    for (QAction* action : opened.window.findChildren<QAction*>())
        if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C)) copy = action;
    QVERIFY(copy);
    copy->trigger();
    const QString program = QGuiApplication::clipboard()->text();
    QVERIFY2(program.contains("torch.amp.GradScaler"), qPrintable(program));
    QCOMPARE(program, QString::fromStdString(pytorchScript(config)));
    QVERIFY(opened.window.bannerText().isEmpty());
    const auto* bar = opened.window.statusBar();
    QVERIFY2(bar->currentMessage().endsWith("PyTorch."), qPrintable(bar->currentMessage()));
    // the sample of digits is not in the program
    opened.window.openPreset("mnist-mlp");
    copy->trigger();
    QTRY_VERIFY2(bar->currentMessage().contains("It needs the files of MNIST, too"),
                 qPrintable(bar->currentMessage()));
}

/// The dialog proposes a name, and the message says what to do with the file.
void TestWindowFiles::savesAPyTorchProgram() {
    const RunConfig config = tinyConfig(20);
    Opened opened(config);
    MainWindow& window = opened.window;
    QAction* save = fileAction(window, QString::fromUtf8("Save as a PyTorch pro&gram…"));
    QVERIFY(save);
    const QString path = opened.folder.filePath("train.py");
    QString proposed;
    QTimer::singleShot(0, qApp, [&] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        proposed = QFileInfo(dialog->selectedFiles().value(0)).fileName();
        dialog->selectFile(opened.folder.filePath("train")); // gets the ending
        QMetaObject::invokeMethod(dialog, "accept");
    });
    save->trigger();
    QCOMPARE(proposed, QStringLiteral("train_small.py"));
    QCOMPARE(QString::fromStdString(readAll(path)), QString::fromStdString(pytorchScript(config)));
    QVERIFY(window.bannerText().isEmpty());
    const auto* bar = window.statusBar();
    QVERIFY2(bar->currentMessage().endsWith("train.py: run it with Python and PyTorch."),
             qPrintable(bar->currentMessage()));
}

/// The window hides settings that have no effect: a file may name some. The note calls them what
/// the form would, not by the keys that the file has.
void TestWindowFiles::namesSettingsWithoutEffect() {
    RunConfig config = tinyConfig(20);
    config.task.loss.labelSmoothing = 0.1;
    config.lanes[0].scaler.initScale = 1024; // of fp32
    Opened opened(config);
    MainWindow& window = opened.window;
    const auto said = [&window] {
        const auto* note = window.setup().findChild<QLabel*>("idle");
        return note->isVisible() ? note->toolTip() : QString();
    };
    const QString both = "Without effect beside the other settings: \"Label smoothing\", "
                         "\"First scale\" of lane A";
    QCOMPARE(said(), both);
    QCOMPARE(window.setup().findChild<QLabel*>("idle")->text(), both);
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("scaler.init_scale", 0)), "65536"));
    QVERIFY(model.addLane()); // the panel is made anew
    QVERIFY(!said().isEmpty());
    QVERIFY(model.setData(model.index(model.rowOf("task.label_smoothing")), "0"));
    QVERIFY(said().isEmpty());
    QVERIFY(model.setData(model.index(model.rowOf("task.label_smoothing")), "0.1"));
    QVERIFY(!said().isEmpty());
    QVERIFY(model.setData(model.index(model.rowOf("optimizer.kind")), "adagrad"));
    QVERIFY(said().startsWith("Without effect"));
    QVERIFY2(said().contains("\nAdagrad has settings here that suit Adam"), qPrintable(said()));
    window.openPreset("checkerboard");
    QVERIFY(said().isEmpty());
}

/// A lane that was copied and then given another precision keeps the scaler of the other lane,
/// which the panel hides.
void TestWindowFiles::savesNoneWithoutEffect() {
    RunConfig config = tinyConfig(2);
    config.lanes[1].scaler.initScale = 1024;
    Opened opened(config);
    ConfigModel& model = opened.window.config();
    QVERIFY(model.addLane());
    QVERIFY(model.setData(model.index(model.rowOf("precision", 2)), "amp-bf16"));
    const QString path = opened.folder.filePath("class.json");
    opened.window.saveExperiment(path);
    const RunConfig saved = readConfig(path.toStdString());
    QCOMPARE(saved.lanes[1].scaler.initScale, 1024.0);
    QCOMPARE(saved.lanes[2].scaler.initScale, ScalerConfig().initScale);
    const auto* note = opened.window.setup().findChild<QLabel*>("idle");
    // a file may name one, but a run that was trained with it is shown without a word
    opened.window.restart();
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Finished));
    const QString results = opened.folder.filePath("out");
    opened.window.saveResults(results);
    const RunConfig trained = readConfig((results + "/experiment.json").toStdString());
    QCOMPARE(trained.lanes[2].scaler.initScale, 1024.0);
    opened.window.openExperiment(results + "/experiment.json");
    QVERIFY(note->isHidden());
}

/// The ending of the name chooses the format. A limit on the size of files makes the write fail, as
/// a full disk does, and the error gives the reason.
void TestWindowFiles::plotsAreSaved() {
    Opened opened(tinyConfig(10));
    const QTemporaryDir folder;
    const QString svg = folder.filePath("a.svg"), png = folder.filePath("a.PNG"),
                  pdf = folder.filePath("a.pdf");
    opened.window.savePlots(svg);
    opened.window.savePlots(png);
    QFile file(svg);
    QVERIFY(file.open(QIODevice::ReadOnly) && file.readAll().trimmed().endsWith("</svg>"));
    QVERIFY(!QImage(png, "PNG").isNull());
    // one page, as wide as the plots on paper, and high enough for those that the window leaves out
    const QSizeF plots = QSizeF(plotOf(opened.window.plots()).size()) * 72 / 96;
    opened.window.savePlots(pdf);
    QFile pages(pdf);
    QVERIFY(pages.open(QIODevice::ReadOnly));
    const QByteArray text = pages.readAll();
    QVERIFY(text.startsWith("%PDF-") && text.contains("/Count 1"));
    static const QRegularExpression kBox(QStringLiteral("/MediaBox \\[0 0 ([0-9.]+) ([0-9.]+)\\]"));
    const auto box = kBox.match(QString::fromLatin1(text));
    QVERIFY(box.hasMatch());
    const QSizeF page(box.captured(1).toDouble(), box.captured(2).toDouble());
    QVERIFY2(std::abs(page.width() - plots.width()) < 1, qPrintable(box.captured(0)));
    QVERIFY2(page.height() > plots.height() - 1, qPrintable(box.captured(0)));
    QVERIFY(QFile::remove(svg) && QFile::remove(png) && QFile::remove(pdf));
    const QString other = folder.filePath("a.eps");
    QCOMPARE(thrownBy<RunError>([&] { opened.window.savePlots(other); }),
             other.toStdString() + ": plots are saved as .svg, .png or .pdf");
    const GrowthLimit limit(1000);
    for (const QString& path : {svg, pdf, png})
        QCOMPARE(thrownBy<RunError>([&] { opened.window.savePlots(path); }),
                 path.toStdString() + ": cannot write: File too large");
    QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList());
}

/// Also when no window has been closed yet: only that saves the rest of the layout.
void TestWindowFiles::theGradientsOutlastACrash() {
    const QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    WindowOptions options;
    options.remember = true;
    for (const bool shown : {true, false}) {
        {
            Opened opened(tinyConfig(10), options);
            QVERIFY(opened.window.gradients().isVisible() != shown);
            QVERIFY(test::isActive(&opened.window));
            QTest::keyClick(&opened.window, Qt::Key_G);
            QVERIFY(opened.window.gradients().isVisible() == shown);
        } // as after a crash
        Opened opened(tinyConfig(10), options);
        QVERIFY(opened.window.gradients().isVisible() == shown);
    }
}

void TestWindowFiles::remembersTheWindow() {
    QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_window_files"));
    const QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    WindowOptions options;
    options.remember = true;
    options.theme = Theme::Dark;
    const QSize size(1111, 777);
    {
        Opened opened(tinyConfig(10), options);
        opened.window.resize(size);
        opened.window.plots().setSmoothing(0.9);
        QVERIFY(test::isActive(&opened.window));
        QTest::keyClick(&opened.window, Qt::Key_F9);
        QVERIFY(!opened.window.setup().isVisible());
        QTest::keyClick(&opened.window, Qt::Key_G);
        QVERIFY(opened.window.gradients().isVisible());
        QTest::keyClick(&opened.window, Qt::Key_F7);
        QVERIFY(!opened.window.gradients().isVisible());
        opened.window.plots().hidePlots({QStringLiteral("device_seconds")});
        opened.window.findChild<RunsPanel*>()->setOrder(OrderedRuns::Order::ByLoss);
        QVERIFY(opened.window.close());
    }
    QCOMPARE(QSettings().value(QStringLiteral("theme")).toString(), QStringLiteral("dark"));
    {
        Opened opened(tinyConfig(10), options);
        // later versions of Qt keep a restored window within the screen, 800 x 800 offscreen
        const QSize screen = opened.window.screen()->availableSize();
        if (QLibraryInfo::version() < QVersionNumber(6, 5) || screen == screen.expandedTo(size))
            QCOMPARE(opened.window.size(), size);
        QCOMPARE(opened.window.plots().smoothing(), 0.9);
        QCOMPARE(opened.window.plots().hiddenPlots(),
                 QStringList(QStringLiteral("device_seconds")));
        QCOMPARE(opened.window.findChild<RunsPanel*>()->order(), OrderedRuns::Order::ByLoss);
        QVERIFY(!opened.window.gradients().isVisible());
        QVERIFY(test::isActive(&opened.window));
        QTest::keyClick(&opened.window, Qt::Key_F7);
        QVERIFY(opened.window.gradients().isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!opened.window.gradients().figures(0).isEmpty(), kPatience);
        QVERIFY(!opened.window.setup().isVisible());
        QVERIFY(test::isActive(&opened.window));
        QTest::keyClick(&opened.window, Qt::Key_F9);
        QVERIFY(opened.window.setup().isVisible());
        // no place to write: it closes nevertheless
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                           QStringLiteral("/proc/no/such/folder"));
        QVERIFY(opened.window.close());
    }
    Opened fresh(tinyConfig(10), options);
    QCOMPARE(fresh.window.plots().smoothing(), 0.0);
    applyTheme(*qApp, Theme::Light);
}

} // namespace tst_window_files

QTEST_MAIN(tst_window_files::TestWindowFiles)
#include "tst_window_files.moc"
