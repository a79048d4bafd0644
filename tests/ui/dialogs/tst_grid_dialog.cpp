// "Map of two settings" in the window: the table and its words, a map from start to end, stops,
// values that are refused, and cells that become lanes of the window.
#include "engine/settings/fields.h"
#include "tests/support/file_menu.h"
#include "tests/support/grid_cells.h"
#include "tests/support/opened_window.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/grid_dialog.h"

#include <QAbstractItemView>
#include <QClipboard>
#include <QComboBox>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>

#include <cmath>

namespace tst_grid_dialog {

using namespace halfscope;

namespace {

const QString kFirstValues = QStringLiteral("Values of the first setting, separated by commas");
const QString kSecondValues = QStringLiteral("Values of the second setting, separated by commas");

template <class T>
T* named(const GridDialog& dialog, const QString& name) {
    for (T* each : dialog.findChildren<T*>())
        if (each->accessibleName() == name) return each;
    return nullptr;
}

QPushButton* button(const GridDialog& dialog, const QString& text) {
    for (QPushButton* each : dialog.findChildren<QPushButton*>())
        if (each->text().remove(u'&').startsWith(text)) return each;
    return nullptr;
}

void choose(QComboBox* box, const QString& text) { box->setCurrentIndex(box->findText(text)); }

void type(QLineEdit* edit, const QString& text) {
    edit->selectAll();
    QTest::keyClicks(edit, text);
}

/// Chooses first scales and growth intervals.
void ask(GridDialog& dialog, const QString& scales, const QString& intervals, int steps) {
    choose(named<QComboBox>(dialog, QStringLiteral("First setting")),
           QStringLiteral("First scale"));
    type(named<QLineEdit>(dialog, kFirstValues), scales);
    auto* second = named<QComboBox>(dialog, QStringLiteral("Second setting"));
    choose(second,
           intervals.isEmpty() ? QStringLiteral("none") : QStringLiteral("Growth interval"));
    if (!intervals.isEmpty()) type(named<QLineEdit>(dialog, kSecondValues), intervals);
    named<QSpinBox>(dialog, QStringLiteral("Steps of each training"))->setValue(steps);
}

void press(const GridDialog& dialog, const QString& text) {
    QTest::mouseClick(button(dialog, text), Qt::LeftButton);
}

} // namespace

class TestGridDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void textIsReadOnEveryColor();
    void theStarIsExplained();
    void suggestsValues();
    void suggestsAroundTheScaleThatWasFound();
    void trainsAndTells();
    void opensWithWhatDecides();
    void theMeasureStaysWhileCellsArrive();
    void zerosOfTheBestAreTold();
    void cellsWithoutEffectAreTold();
    void captionLeavesVariedSettingsOut();
    void sameCellsAsTheEngine();
    void stopLeavesTheRestEmpty();
    void settingsOfAllLanesAreTold();
    void wheelChoosesNothing();
    void closesWithoutWaiting();
    void wrongValuesAreTold();
    void cellsBecomeLanes();
    void anotherExperimentTakesNoLanes();
    void settingsFollowTheWindow();
    void notesOfTheEnd();
    void smallScreen();
};

/// Reads the colours back from what is painted, at both ends and between.
void TestGridDialog::textIsReadOnEveryColor() {
    GridModel model;
    model.begin(SettingGrid(tinyConfig(5), 1,
                            {parseSweep("scaler.init_scale=1,2,4,8,16,32,64,128,256,512")}));
    for (size_t cell = 0; cell < 10; ++cell)
        model.set(cell, cellOf(static_cast<double>(cell + 1)));
    GridView view(model);
    view.resize(300, 400);
    view.show();
    QVERIFY(test::isExposed(&view));
    const QImage image = view.viewport()->grab().toImage();
    for (int row = 0; row < 10; ++row) {
        const QRect rect = view.visualRect(model.index(row, 0));
        if (!view.viewport()->rect().contains(rect)) continue;
        const QColor ground = image.pixelColor(rect.left() + 4, rect.center().y());
        double most = 0;
        for (int x = rect.left(); x < rect.right(); ++x)
            for (int y = rect.top() + 4; y < rect.bottom() - 4; ++y)
                most = std::max(most, contrast(ground, image.pixelColor(x, y)));
        QVERIFY2(most >= 4.5, qPrintable(QStringLiteral("row %1: %2").arg(row).arg(most)));
    }
}

void TestGridDialog::theStarIsExplained() {
    GridModel model;
    model.begin(SettingGrid(tinyConfig(5), 1, {parseSweep("scaler.init_scale=1,2")}));
    model.set(0, cellOf(5));
    const GridLegend legend(model);
    const QString told = legend.findChild<QLabel*>(QStringLiteral("gridMarks"))->toolTip();
    QVERIFY2(told == model.starRule() && told.startsWith("The star marks"), qPrintable(told));
}

/// Loss scales and widths in powers of two, learning rates and intervals in powers of ten.
void TestGridDialog::suggestsValues() {
    RunConfig tiny = tinyConfig(10);
    tiny.optimizer.lr = 0.001;
    tiny.model.width = 16;
    ConfigModel config;
    config.load(tiny);
    GridDialog dialog(config);
    auto* field = named<QComboBox>(dialog, QStringLiteral("Second setting"));
    const auto suggested = [&](const char* key) {
        field->setCurrentIndex(field->findData(QLatin1String(key)));
        return named<QLineEdit>(dialog, kSecondValues)->text();
    };
    QCOMPARE(suggested("scaler.init_scale"), QStringLiteral("2^0, 2^8, 2^16, 2^24, 2^32"));
    QCOMPARE(suggested("optimizer.lr"), QStringLiteral("1e-05, 0.0001, 0.001, 0.01, 0.1"));
    QCOMPARE(suggested("model.width"), QStringLiteral("4, 8, 16, 32, 64"));
    QCOMPARE(suggested("model.depth"), QStringLiteral("0, 1, 2, 3"));
    QVERIFY(suggested("precision").contains(QStringLiteral("amp-bf16")));
}

/// Until a map is trained, the suggestion follows the scale that the lane has found, but not what
/// was typed.
void TestGridDialog::suggestsAroundTheScaleThatWasFound() {
    ConfigModel config;
    config.load(tinyConfig(10));
    std::optional<double> scale;
    GridDialog dialog(config, nullptr, [&scale](int lane) {
        return lane == 1 ? scale : std::nullopt; // the amp-fp16 one
    });
    const auto* values = named<QLineEdit>(dialog, kFirstValues);
    QCOMPARE(values->text(), QStringLiteral("2^0, 2^8, 2^16, 2^24, 2^32"));
    scale = 0x1p11;
    dialog.show();
    QCOMPARE(values->text(), QStringLiteral("2^-5, 2^3, 2^11, 2^19, 2^27"));
    QCOMPARE(values->selectedText(), values->text()); // typing replaces it
    QCOMPARE(named<QLineEdit>(dialog, kSecondValues)->text(),
             QStringLiteral("20")); // of intervals that no training reaches, one
    ask(dialog, QStringLiteral("3, 4"), QStringLiteral("5"), 2);
    dialog.hide();
    dialog.show();
    QCOMPARE(values->text(), QStringLiteral("3, 4"));
}

void TestGridDialog::trainsAndTells() {
    ConfigModel config;
    config.load(tinyConfig(4000));
    GridDialog dialog(config);
    dialog.show();
    // the length of the experiment, but at most 300
    QCOMPARE(named<QSpinBox>(dialog, QStringLiteral("Steps of each training"))->value(), 300);
    // of intervals that no training reaches, one is suggested
    QCOMPARE(named<QLineEdit>(dialog, kSecondValues)->text(), QStringLiteral("20, 200, 2000"));
    ask(dialog, QStringLiteral("2^4, 2^8"), QStringLiteral("2, 5, 2000"), 20);
    QCOMPARE(dialog.note(), QStringLiteral("6 trainings of B amp-fp16, 20 steps each."));
    QVERIFY(!button(dialog, QStringLiteral("Copy"))->isEnabled());
    const auto* progress = dialog.findChild<QProgressBar*>();
    QVERIFY(!progress->isVisible()); // there is none yet
    press(dialog, QStringLiteral("Start"));
    QVERIFY(dialog.running() && progress->isVisible());
    QVERIFY(button(dialog, QStringLiteral("Stop")));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QCOMPARE(dialog.model().trained(), size_t{6});
    QVERIFY(progress->isVisible() && progress->text() == QStringLiteral("6 of 6"));
    QVERIFY2(dialog.note().startsWith(QStringLiteral("Trained in ")), qPrintable(dialog.note()));
    auto* view = dialog.findChild<GridView*>();
    view->setCurrentIndex(dialog.model().index(0, 2));
    QVERIFY(dialog.findChild<QLabel*>(QStringLiteral("gridCell"))
                ->text()
                .startsWith(QStringLiteral("First scale 16, Growth interval 2000")));
    QTest::keyClick(view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QGuiApplication::clipboard()->text(), dialog.model().text());
    auto* shows = named<QComboBox>(dialog, QStringLiteral("What the map shows"));
    QCOMPARE(shows->count(), 5);
    shows->setFocus();
    QTest::keyClick(shows, Qt::Key_Return);
    QVERIFY(!dialog.running() && dialog.model().trained() == 6 && shows->view()->isVisible());
    QTest::keyClick(shows->view(), Qt::Key_Escape);
    QTest::keyClick(shows, Qt::Key_End);
    QVERIFY(dialog.model().shown() == GridModel::Measure::GradientError);
    for (int up = 0; up < 2; ++up)
        QTest::keyClick(shows, Qt::Key_Up);
    QVERIFY(dialog.model().shown() == GridModel::Measure::Scale);
    QVERIFY(dialog.model().text().contains(QStringLiteral("2^")));
    QSignalSpy saved(&dialog, &GridDialog::saveAsked);
    press(dialog, QStringLiteral("Save"));
    QCOMPARE(saved.size(), 1);
    QCOMPARE(saved[0][0].value<std::string>(),
             gridCsv(*dialog.model().grid(), dialog.model().cells()));
    connect(&dialog, &GridDialog::saveAsked, this,
            [] { throw RunError(Message::data("map.csv: cannot write")); });
    press(dialog, QStringLiteral("Save"));
    QCOMPARE(dialog.note(), QStringLiteral("map.csv: cannot write"));
}

/// What the user chooses stays.
void TestGridDialog::opensWithWhatDecides() {
    RunConfig moons = presetNamed("moons").config;
    moons.device = "cpu";
    ConfigModel config;
    config.load(moons);
    GridDialog dialog(config);
    dialog.show();
    ask(dialog, QStringLiteral("2^10, 2^60"), QString(), 30);
    auto* shows = named<QComboBox>(dialog, QStringLiteral("What the map shows"));
    QCOMPARE(shows->currentText(), QStringLiteral("Loss"));
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QCOMPARE(shows->currentText(), QStringLiteral("Accuracy"));
    QVERIFY(dialog.model().shown() == GridModel::Measure::Accuracy);
    const auto* marks = dialog.findChild<QLabel*>(QStringLiteral("gridMarks"));
    QVERIFY2(marks->isVisible() && marks->text().startsWith(QStringLiteral("★ best accuracy")),
             qPrintable(marks->text()));
    QVERIFY(marks->accessibleName().startsWith(QStringLiteral("Star: best accuracy")));
    shows->setFocus();
    QTest::keyClick(shows, Qt::Key_Home);
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QCOMPARE(shows->currentText(), QStringLiteral("Loss"));
    QVERIFY(dialog.model().shown() == GridModel::Measure::Loss);
    // a map that has just begun does not offer it
    const QString zeros = QStringLiteral("Zero gradients");
    shows->setCurrentIndex(shows->findText(zeros));
    emit shows->activated(shows->currentIndex());
    press(dialog, QStringLiteral("Start"));
    QVERIFY(shows->findText(zeros) < 0);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QCOMPARE(shows->currentText(), zeros);
    QVERIFY(dialog.model().shown() == GridModel::Measure::ZeroGradients);
    // where the first cell has none, they are shown from the second one on
    ask(dialog, QStringLiteral("2^60, 2^10"), QString(), 5);
    size_t shownFrom = 0; // so many cells
    connect(&dialog.model(), &GridModel::dataChanged, &dialog, [&] {
        const bool shown = dialog.model().shown() == GridModel::Measure::ZeroGradients;
        if (shown && dialog.running() && shownFrom == 0) shownFrom = dialog.model().trained();
    });
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QCOMPARE(shownFrom, size_t{2});
}

/// Neither what is being read nor an open list may change. Skipped steps decide once there are two
/// cells: nothing is learned, so the losses are equal.
void TestGridDialog::theMeasureStaysWhileCellsArrive() {
    RunConfig still = tinyConfig(5);
    still.optimizer.lr = 0;
    ConfigModel config;
    config.load(still);
    GridDialog dialog(config);
    dialog.show();
    ask(dialog, QStringLiteral("2^60, 2^4, 2^61"), QString(), 5);
    auto* shows = named<QComboBox>(dialog, QStringLiteral("What the map shows"));
    bool stays = true;
    connect(&dialog.model(), &GridModel::dataChanged, &dialog, [&] {
        const bool isLoss = dialog.model().shown() == GridModel::Measure::Loss;
        stays = stays && (isLoss || !dialog.running());
    });
    for (const bool open : {false, true}) {
        press(dialog, QStringLiteral("Start"));
        const int offered = shows->count();
        if (open) shows->showPopup();
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
        QVERIFY(stays && shows->view()->isVisible() == open);
        if (open)
            QVERIFY(shows->count() == offered && shows->currentText() == QStringLiteral("Loss"));
        if (open) QTest::keyClick(shows->view(), Qt::Key_Escape);
        QTRY_COMPARE(shows->currentText(), QStringLiteral("Skipped steps"));
        QVERIFY(shows->count() > offered);
    }
}

/// The first of equal cells is the best, whatever it loses.
void TestGridDialog::zerosOfTheBestAreTold() {
    ConfigModel config;
    config.load(tinyConfig(1));
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2^-20, 2^4"), QString(), 1);
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    const QString told = dialog.findChild<QLabel*>(QStringLiteral("gridDoubt"))->text();
    QVERIFY2(!told.isEmpty() && told == dialog.model().doubt(), qPrintable(told));
}

void TestGridDialog::cellsWithoutEffectAreTold() {
    ConfigModel config;
    config.load(tinyConfig(10));
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2, 4"), QStringLiteral("5, 7"), 3);
    QVERIFY2(dialog.note().endsWith(QStringLiteral("3 steps each.")), qPrintable(dialog.note()));
    auto* field = named<QComboBox>(dialog, QStringLiteral("First setting"));
    field->setCurrentIndex(field->findData(QStringLiteral("scaler.mode")));
    type(named<QLineEdit>(dialog, kFirstValues), QStringLiteral("static, dynamic"));
    QVERIFY2(dialog.note().contains(QStringLiteral(" Without effect in 2 of 4 cells: ")),
             qPrintable(dialog.note()));
}

/// The caption does not give the varied settings a value of their own.
void TestGridDialog::captionLeavesVariedSettingsOut() {
    RunConfig tiny = tinyConfig(5);
    tiny.lanes.push_back(tiny.lanes[1]);
    tiny.lanes[1].scaler.rules.growthInterval = 1;
    ConfigModel config;
    config.load(tiny);
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2^4, 2^8"), QStringLiteral("2, 5"), 5);
    QVERIFY2(dialog.note().startsWith(QStringLiteral("4 trainings of B amp-fp16, 5 steps")),
             qPrintable(dialog.note()));
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    const auto labels = dialog.findChildren<QLabel*>();
    const QString caption =
        QStringLiteral("B amp-fp16. Rows: First scale. Columns: Growth interval");
    QVERIFY(std::any_of(labels.begin(), labels.end(),
                        [&](const QLabel* label) { return label->text() == caption; }));
}

/// The window's thread changes nothing of the results.
void TestGridDialog::sameCellsAsTheEngine() {
    ConfigModel config;
    config.load(tinyConfig(12));
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2^4, 2^30"), {}, 12);
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    GridCells cells(2);
    GridListener listener;
    listener.finished = [&](size_t cell, const GridCell& result) { cells[cell] = result; };
    QVERIFY(trainGrid(*dialog.model().grid(), listener));
    QCOMPARE(gridCsv(*dialog.model().grid(), dialog.model().cells()),
             gridCsv(*dialog.model().grid(), cells));
}

void TestGridDialog::stopLeavesTheRestEmpty() {
    ConfigModel config;
    config.load(tinyConfig(50));
    GridDialog dialog(config);
    dialog.show();
    ask(dialog, QStringLiteral("1, 2, 4, 8, 16, 32, 64, 128, 256"),
        QStringLiteral("1, 2, 3, 4, 5, 6, 7, 8, 9"), 20000);
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(dialog.model().trained() > 0, kPatience);
    press(dialog, QStringLiteral("Stop"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience); // long before the last cell
    const size_t trained = dialog.model().trained();
    QVERIFY(trained < 81);
    QCOMPARE(dialog.note(), QStringLiteral("Stopped. Trained cells: %1 of 81.").arg(trained));
    QCOMPARE(shownAt(dialog.model(), 8, 8), QString());
    QVERIFY(button(dialog, QStringLiteral("Start"))->isEnabled()); // it can begin anew
    QCOMPARE(dialog.focusWidget(), static_cast<QWidget*>(button(dialog, QStringLiteral("Start"))));
}

/// Lanes that are made of a cell would else change the others without a word.
void TestGridDialog::settingsOfAllLanesAreTold() {
    const auto gridOf = [](const char* first, const char* second) {
        return SettingGrid(
            tinyConfig(50), 1,
            {parseSweep(first, SweptBy::Trainings), parseSweep(second, SweptBy::Trainings)}, 5);
    };
    GridModel model;
    model.begin(gridOf("scaler.init_scale=16,32", "optimizer.lr=0.01,0.1"));
    QCOMPARE(model.sharedSettings(0), QStringLiteral("Learning rate 0.01"));
    QCOMPARE(model.sharedSettings(3), QStringLiteral("Learning rate 0.1"));
    model.begin(gridOf("scaler.init_scale=16,32", "scaler.growth_interval=5,10"));
    QCOMPARE(model.sharedSettings(0), QString());
}

void TestGridDialog::wheelChoosesNothing() {
    ConfigModel config;
    config.load(tinyConfig(50));
    GridDialog dialog(config);
    dialog.show();
    for (QComboBox* each : dialog.findChildren<QComboBox*>()) {
        const int before = each->currentIndex();
        for (const int way : {-120, 120}) {
            const QPointF place = each->rect().center();
            QWheelEvent wheel(place, each->mapToGlobal(place), {}, {0, way}, Qt::NoButton,
                              Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(each, &wheel);
            QCOMPARE(each->currentIndex(), before);
        }
    }
}

void TestGridDialog::closesWithoutWaiting() {
    ConfigModel config;
    RunConfig large = tinyConfig(50);
    large.task.side = 256; // a step of a tenth of a second or more
    large.model.width = 256;
    config.load(large);
    auto dialog = std::make_unique<GridDialog>(config);
    ask(*dialog, QStringLiteral("1, 2"), {}, 100'000); // hours
    press(*dialog, QStringLiteral("Start"));
    QTest::qWait(300);
    QVERIFY(dialog->running());
    QElapsedTimer clock;
    clock.start();
    dialog.reset();
    QVERIFY2(clock.elapsed() < kPatience, qPrintable(QString::number(clock.elapsed())));
}

void TestGridDialog::wrongValuesAreTold() {
    ConfigModel config;
    config.load(tinyConfig(50));
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2^4, x"), {}, 5);
    QVERIFY2(dialog.note().contains(QStringLiteral("\"x\" is not allowed")),
             qPrintable(dialog.note()));
    QVERIFY(!button(dialog, QStringLiteral("Start"))->isEnabled());
    QStringList numbers;
    for (int i = 1; i <= 21; ++i)
        numbers << QString::number(i);
    ask(dialog, numbers.join(u','), numbers.join(u','), 5);
    QVERIFY2(
        dialog.note().contains(QStringLiteral("a map of 441 cells, and a map has at most 400")),
        qPrintable(dialog.note()));
    choose(named<QComboBox>(dialog, QStringLiteral("Second setting")),
           QStringLiteral("First scale"));
    QVERIFY2(dialog.note().contains(QStringLiteral("is given twice")), qPrintable(dialog.note()));
    ask(dialog, QStringLiteral("2^4, 2^5"), {}, 5);
    QVERIFY(button(dialog, QStringLiteral("Start"))->isEnabled());
}

/// From the menu to lanes of the window, and back.
void TestGridDialog::cellsBecomeLanes() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text().remove(u'&').startsWith(QStringLiteral("Map of two"))) action->trigger();
    auto* dialog = window.findChild<GridDialog*>();
    QVERIFY(dialog && dialog->isVisible() && !dialog->isModal());
    ask(*dialog, QStringLiteral("2^4, 2^6, 2^8"), QStringLiteral("5, 10, 20"), 6);
    press(*dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog->running(), kPatience);
    auto* view = dialog->findChild<GridView*>();
    QPushButton* lanes = button(*dialog, QStringLiteral("Make lanes"));
    QVERIFY(!lanes->isEnabled());
    const auto click = [&](int row, int column, Qt::KeyboardModifiers keys) {
        QTest::mouseClick(view->viewport(), Qt::LeftButton, keys,
                          view->visualRect(dialog->model().index(row, column)).center());
    };
    click(0, 1, Qt::NoModifier);
    click(2, 0, Qt::ControlModifier);
    QVERIFY(lanes->isEnabled());
    QTest::mouseClick(lanes, Qt::LeftButton);
    const auto& config = window.config().config();
    QCOMPARE(config.lanes.size(), size_t{3});
    QVERIFY(config.lanes[0].precision == Precision::Fp32);
    QCOMPARE(config.lanes[1].scaler.initScale, 16.0);
    QCOMPARE(config.lanes[1].scaler.rules.growthInterval, int64_t{10});
    QCOMPARE(config.lanes[2].scaler.initScale, 256.0);
    QCOMPARE(config.lanes[2].scaler.rules.growthInterval, int64_t{5});
    QVERIFY(reaches(window, SessionState::Ready)); // all lanes start over
    QTRY_COMPARE(window.run().lanes(), 3);
    QVERIFY2(dialog->note().startsWith(QStringLiteral("The window has these lanes")),
             qPrintable(dialog->note()));
    view->selectAll(); // nine
    QVERIFY(!lanes->isEnabled());
    click(0, 0, Qt::NoModifier); // others of the same map take the place of the first ones
    click(0, 2, Qt::ShiftModifier);
    QTest::mouseClick(lanes, Qt::LeftButton);
    QCOMPARE(config.lanes.size(), size_t{4});
    // the dialog may hide the window that tells other files
    const QString path = opened.folder.filePath(QStringLiteral("map.csv"));
    answerWith(path);
    press(*dialog, QStringLiteral("Save"));
    QCOMPARE(dialog->note(), QStringLiteral("Saved as ") + path);
    QVERIFY(QFileInfo(path).size() > 0);
    QCOMPARE(config.lanes[3].scaler.initScale, 16.0);
    for (int times = 0; times < 2; ++times)
        actionFor(window, QKeySequence::Undo)->trigger();
    QCOMPARE(config.lanes.size(), size_t{2});
    QCOMPARE(config.lanes[1].scaler.initScale, 65536.0);
}

void TestGridDialog::anotherExperimentTakesNoLanes() {
    ConfigModel config;
    config.load(tinyConfig(20));
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2^4, 2^6"), {}, 3);
    press(dialog, QStringLiteral("Start"));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    dialog.findChild<GridView*>()->selectAll();
    QPushButton* lanes = button(dialog, QStringLiteral("Make lanes"));
    QVERIFY(lanes->isEnabled());
    config.load(tinyConfig(40));
    QVERIFY(!lanes->isEnabled());
    QVERIFY(lanes->toolTip().contains(QStringLiteral("another experiment")));
}

void TestGridDialog::settingsFollowTheWindow() {
    ConfigModel config;
    config.load(tinyConfig(20));
    GridDialog dialog(config);
    dialog.show();
    auto* lane = named<QComboBox>(dialog, QStringLiteral("Lane"));
    QCOMPARE(lane->count(), 2);
    QCOMPARE(lane->currentData().toInt(), 1); // the one that has a loss scaler
    ask(dialog, QStringLiteral("2^4, 2^6"), {}, 3);
    QVERIFY(config.addLane());
    QVERIFY(lane->isVisible());
    QCOMPARE(lane->count(), 3);
    // what was typed stays
    QCOMPARE(named<QLineEdit>(dialog, kFirstValues)->text(), QStringLiteral("2^4, 2^6"));
    QVERIFY(config.removeLane(2) && config.removeLane(1));
    QVERIFY(!lane->isVisible()); // there is only one
    auto* field = named<QComboBox>(dialog, QStringLiteral("First setting"));
    QVERIFY(field->findData(QStringLiteral("scaler.init_scale")) < 0); // FP32 has none
    QVERIFY(field->findData(QStringLiteral("optimizer.lr")) >= 0);
    QVERIFY(button(dialog, QStringLiteral("Start"))->isEnabled());
}

/// A map ends with what came of it, unless the values that were typed meanwhile are wrong.
void TestGridDialog::notesOfTheEnd() {
    ConfigModel config;
    config.load(tinyConfig(20));
    GridDialog dialog(config);
    ask(dialog, QStringLiteral("2^4, 2^6"), {}, 3);
    const auto train = [&] {
        press(dialog, QStringLiteral("Start"));
        QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    };
    train();
    QVERIFY2(dialog.note().startsWith(QStringLiteral("Trained in")), qPrintable(dialog.note()));
    emit config.edited(); // of something else
    QVERIFY2(dialog.note().startsWith(QStringLiteral("Trained in")), qPrintable(dialog.note()));
    press(dialog, QStringLiteral("Start"));
    QCOMPARE(dialog.note(), QStringLiteral("2 trainings of B amp-fp16, 3 steps each."));
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    ask(dialog, QStringLiteral("2^4"), {}, 1);
    QCOMPARE(dialog.note(), QStringLiteral("1 training of B amp-fp16, 1 step."));
    ask(dialog, QStringLiteral("2^4, x"), {}, 3);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QVERIFY(!button(dialog, QStringLiteral("Start"))->isEnabled());
    QVERIFY2(dialog.note().contains(QStringLiteral("\"x\" is not allowed")),
             qPrintable(dialog.note()));
}

/// Everything can be scrolled to, and nothing is cut off at the side.
void TestGridDialog::smallScreen() {
    ConfigModel config;
    config.load(tinyConfig(20));
    GridDialog dialog(config);
    dialog.resize(640, 440);
    dialog.show();
    QVERIFY(test::isExposed(&dialog));
    QVERIFY2(dialog.width() <= 640 && dialog.height() <= 440,
             qPrintable(QStringLiteral("%1 x %2").arg(dialog.width()).arg(dialog.height())));
    const auto* area = dialog.findChild<QScrollArea*>();
    QVERIFY(area->widget()->width() <= area->viewport()->width());
    // the cell's figures are in sight while the arrow keys go from cell to cell
    const auto* cell = dialog.findChild<QLabel*>(QStringLiteral("gridCell"));
    const int end = cell->mapTo(area->viewport(), QPoint(0, cell->height())).y();
    QVERIFY2(end <= area->viewport()->height(), qPrintable(QString::number(end)));
}

} // namespace tst_grid_dialog

QTEST_MAIN(tst_grid_dialog::TestGridDialog)
#include "tst_grid_dialog.moc"
