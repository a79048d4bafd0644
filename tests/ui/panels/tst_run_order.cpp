// The order of the list of runs: the best of many is found at once, and a list that trains can be
// read and used while its values change.
#include "engine/settings/fields.h"
#include "tests/support/fed_run.h"
#include "ui/panels/order_button.h"
#include "ui/panels/runs_panel.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <string>

namespace tst_run_order {

using namespace halfscope;
using Order = OrderedRuns::Order;

namespace {

const float kNan = std::nanf("");

/// Adds a step of one lane; values that are nothing are not measured.
void addStep(Run& run, int step, float loss, std::optional<double> validation = {},
             std::optional<double> accuracy = {}, int lane = 0) {
    StepRow row(step, lane);
    row.set(metric::Loss, loss);
    if (validation) row.set(metric::ValidationLoss, *validation);
    if (accuracy) row.set(metric::Accuracy, *accuracy);
    RunBatch batch;
    batch.rows.push_back(row);
    run.append(std::move(batch));
}

/// Adds a run of one step.
RunId addRun(RunStore& store, const std::string& name, float loss,
             std::optional<double> validation = {}, std::optional<double> accuracy = {}) {
    FedRun fed;
    fed.start({QStringLiteral("fp32"), QStringLiteral("fp16")}, {false, false});
    addStep(*fed.run, 1, loss, validation, accuracy);
    return store.add(fed.run, name);
}

QStringList namesIn(const QAbstractItemModel& model) {
    QStringList names;
    for (int row = 0; row < model.rowCount(); ++row)
        names << model.index(row, 0).data(Qt::EditRole).toString();
    return names;
}

/// A list of runs of all kinds, in an order of its own.
struct Many {
    Many() {
        addRun(store, "none", 0.4f);
        addRun(store, "loss 0.5", 0.9f, 0.5);
        addRun(store, "half right", 0.8f, 0.7, 0.5);
        addRun(store, "lost", kNan, std::nan(""));
        addRun(store, "loss 0.2", 0.1f, 0.2);
        addRun(store, "mostly right", 0.3f, 0.9, 0.9);
        addRun(store, "half right 10", 0.7f, 0.6, 0.5);
        list.refresh();
    }
    RunStore store;
    RunListModel list{store};
    OrderedRuns ordered{list};
};

} // namespace

class TestRunOrder : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void bestFirst();
    void theBestLaneCounts();
    void accuracyOfALostLaneDoesNotCount();
    void accuracyBeforeALaneWasLostDoesNotCount();
    void rowsShowWhatOrdersThem();
    void anOutputOfNanIsTold();
    void namesOfOnesOwnDoNotTellTheData();
    void lanesAndColumnsAreTold();
    void runsStayWhatTheyAre();
    void trainingDoesNotMoveRows();
    void comesAndGoesInOrder();
    void thousandsAreOrderedAtOnce();
    void isChosenByKeyboard();
    void homeAndEndLeadToTheEnds();
    void buttonsFitTheirTexts();
};

void TestRunOrder::bestFirst() {
    Many many;
    const QStringList opened = namesIn(many.list);
    QCOMPARE(namesIn(many.ordered), opened);
    many.ordered.setOrder(Order::ByValidation);
    QCOMPARE(namesIn(many.ordered), QStringList({"mostly right", "half right 10", "half right",
                                                 "loss 0.2", "loss 0.5", "lost", "none"}));
    many.ordered.setOrder(Order::ByLoss);
    QCOMPARE(namesIn(many.ordered),
             QStringList({"loss 0.2", "mostly right", "none", "half right 10", "half right",
                          "loss 0.5", "lost"}));
    many.ordered.setOrder(Order::ByName);
    QCOMPARE(namesIn(many.ordered), QStringList({"half right", "half right 10", "loss 0.2",
                                                 "loss 0.5", "lost", "mostly right", "none"}));
    many.ordered.setOrder(Order::AsOpened);
    QCOMPARE(namesIn(many.ordered), opened);
    for (const Order order : OrderedRuns::orders())
        QCOMPARE(OrderedRuns::orderOf(OrderedRuns::wordOf(order)), order);
    QCOMPARE(OrderedRuns::orderOf(QStringLiteral("none of them")), Order::AsOpened);
}

/// And of its values the last one, not the best.
void TestRunOrder::theBestLaneCounts() {
    RunStore store;
    const RunId fell = addRun(store, "fell", 0.5f, 0.5, 0.99);
    addStep(*store.writable(fell), 2, 0.5f, 0.5, 0.6);
    const RunId one = addRun(store, "one lane", 0.9f, 0.5, 0.1);
    addStep(*store.writable(one), 1, 0.1f, 0.5, 0.8, 1);
    RunListModel list(store);
    list.refresh();
    OrderedRuns ordered(list);
    ordered.setOrder(Order::ByValidation);
    QCOMPARE(namesIn(ordered), QStringList({"one lane", "fell"}));
    ordered.setOrder(Order::ByLoss);
    QCOMPARE(namesIn(ordered), QStringList({"one lane", "fell"}));
    QVERIFY2(list.detailsOf(1).contains(QStringLiteral("Last validation: A 10.00 %, B 80.00 %")),
             qPrintable(list.detailsOf(1)));
}

/// Its outputs are all nan, and the class that they stand for may be a frequent one.
void TestRunOrder::accuracyOfALostLaneDoesNotCount() {
    RunStore store;
    addRun(store, "lost", 0.5f, std::nan(""), 0.9);
    addRun(store, "honest", 0.5f, 0.5, 0.88);
    RunListModel list(store);
    list.refresh();
    OrderedRuns ordered(list);
    ordered.setOrder(Order::ByValidation);
    QCOMPARE(namesIn(ordered), QStringList({"honest", "lost"}));
}

/// A lane that was lost after its last validation has no place among those that were not.
void TestRunOrder::accuracyBeforeALaneWasLostDoesNotCount() {
    RunStore store;
    const RunId lost = addRun(store, "lost", kNan, 0.1, 0.9);
    addStep(*store.writable(lost), 2, kNan);
    addRun(store, "honest", 0.5f, 0.5, 0.88);
    addRun(store, "loss", 0.5f, 0.5);
    RunListModel list(store);
    list.refresh();
    OrderedRuns ordered(list);
    ordered.setOrder(Order::ByValidation);
    QCOMPARE(namesIn(ordered), QStringList({"honest", "loss", "lost"}));
}

/// An order of numbers that are not shown could not be read.
void TestRunOrder::rowsShowWhatOrdersThem() {
    Many many;
    RunsPanel panel(many.list);
    panel.resize(280, 600);
    panel.show();
    const auto results = [&panel] {
        const QAbstractItemModel& rows = *panel.table()->model();
        QStringList texts;
        for (int row = 0; row < rows.rowCount(); ++row)
            texts << rows.index(row, RunListModel::LossColumn).data().toString();
        return texts;
    };
    const auto explains = [&panel](const char* words) {
        const auto labels = panel.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [&](const QLabel* each) {
            return each->text().contains(QLatin1String(words));
        });
    };
    QCOMPARE(results().front(), QStringLiteral("A 0.4 (0.4)"));
    QVERIFY(explains("median of the last") && !explains("last validation"));
    const quint64 look = many.list.index(0, 0).data(RunListModel::LookRole).toULongLong();
    panel.setOrder(Order::ByValidation);
    QCOMPARE(results(),
             QStringList({"Validation: A 90.00 %", "Validation: A 50.00 %", "Validation: A 50.00 %",
                          "Validation: A 0.2", "Validation: A 0.5", "Validation: A not a number",
                          "No validation"}));
    QVERIFY(explains("last validation") && !explains("median of the last"));
    // so that the rows are measured anew
    QVERIFY(many.list.index(0, 0).data(RunListModel::LookRole).toULongLong() != look);
    panel.setOrder(Order::ByLoss);
    QCOMPARE(results().front(), QStringLiteral("A 0.1 (0.1)"));
    QVERIFY(explains("median of the last"));
}

/// An accuracy of 0 that says nothing is told as on the cards.
void TestRunOrder::anOutputOfNanIsTold() {
    RunStore store;
    addRun(store, "lost", kNan, double{kNan}, 0.0);
    addRun(store, "wrong", 0.5f, 0.5, 0.0);
    FedRun once;
    once.start({QStringLiteral("fp32")}, {false});
    addStep(*once.run, 1, 0.5f, {}, {});
    store.add(once.run, "once");
    RunListModel list(store);
    list.refresh();
    QStringList details;
    for (int row = 0; row < list.rowCount(); ++row)
        details << list.detailsOf(row);
    const QString all = details.join(u'\n');
    QVERIFY2(all.contains(QStringLiteral("once, 1 step\n")), qPrintable(all));
    QVERIFY2(all.contains(QStringLiteral("Last validation: A output is nan")), qPrintable(all));
    QVERIFY2(all.contains(QStringLiteral("Last validation: A 0.00 %")), qPrintable(all));
}

/// A preset's title tells what its runs learn from; the user's name for a run does not.
void TestRunOrder::namesOfOnesOwnDoNotTellTheData() {
    RunStore store;
    for (const char* preset : {"moons", "spirals", "moons"}) {
        RunConfig config = presetNamed(preset).config;
        if (store.size() == 2) config.optimizer.lr = 0.125;
        FedRun fed;
        fed.start({QStringLiteral("fp32")}, {false}, config);
        store.add(fed.run, config.title);
    }
    RunListModel list(store);
    list.refresh();
    QVERIFY2(!list.detailsOf(0).contains(QStringLiteral("Data:")), qPrintable(list.detailsOf(0)));
    const QString told = list.differencesOf(0), other = list.differencesOf(1),
                  alike = list.differencesOf(2); // it is told from the first
    QVERIFY2(alike.contains(QStringLiteral("0.125")), qPrintable(alike));
    const QModelIndex first = list.index(0, RunListModel::NameColumn);
    QVERIFY(list.setData(first, QStringLiteral("Alpha"), Qt::EditRole));
    const QString details = list.detailsOf(0);
    QVERIFY2(details.contains(QStringLiteral("\nData: Two moons")), qPrintable(details));
    QVERIFY2(!told.contains(QStringLiteral("moons")) &&
                 list.differencesOf(0).contains(QStringLiteral("moons")),
             qPrintable(list.differencesOf(0)));
    QCOMPARE(list.differencesOf(1), other);
    QCOMPARE(list.differencesOf(2), alike);
    QVERIFY(list.setData(first, QStringLiteral("Two moons, noisy"), Qt::EditRole));
    QVERIFY(!list.detailsOf(0).contains(QStringLiteral("Data:"))); // it tells them
}

/// Where lanes have one precision, their letters alone do not tell them apart; and of the columns
/// that a table's run leaves out, a name and a number are read at a glance.
void TestRunOrder::lanesAndColumnsAreTold() {
    RunStore store;
    for (const char* columns : {"acid,sugar,salt", ""}) {
        RunConfig config = presetNamed("overflow").config;
        config.lanes = parseLanes("fp32,amp-fp16,amp-fp16");
        applySetting(config, "lanes.2.scaler.init_scale=2^20");
        applySetting(config, "data.kind=csv");
        applySetting(config, std::string("data.drop=") + columns);
        FedRun fed;
        fed.start(
            {QStringLiteral("fp32"), QStringLiteral("amp-fp16"), QStringLiteral("amp-fp16-2")},
            {false, true, true}, config);
        fed.edit([&config](RunConfig& shown) { shown.lanes = config.lanes; });
        store.add(fed.run, config.title);
    }
    RunListModel list(store);
    list.refresh();
    const QString lanes = QStringLiteral("A fp32; B first scale 2^16; C first scale 2^20");
    QCOMPARE(list.index(1, RunListModel::NameColumn).data(RunListModel::LanesRole).toString(),
             lanes);
    QVERIFY2(list.detailsOf(1).contains(QStringLiteral("\nLanes: ") + lanes),
             qPrintable(list.detailsOf(1)));
    QString differs = list.differencesOf(0);
    QCOMPARE(differs.replace(QChar(QChar::Nbsp), QChar(u' ')),
             QStringLiteral("Columns left out acid and 2 more"));
}

/// What is done to a row is done to its run, which keeps its number and its colour.
void TestRunOrder::runsStayWhatTheyAre() {
    Many many;
    RunsPanel panel(many.list);
    panel.resize(280, 600);
    panel.show();
    QTableView& table = *panel.table();
    table.setCurrentIndex(table.model()->index(1, 0));
    const RunId chosen = panel.chosen();
    QCOMPARE(chosen, many.store.entries()[1].id);
    panel.setOrder(Order::ByValidation);
    QCOMPARE(table.currentIndex().row(), 4);
    QCOMPARE(panel.chosen(), chosen);
    const QModelIndex best = table.model()->index(0, 0);
    QCOMPARE(best.data().toString(), QStringLiteral("6  mostly right"));
    QCOMPARE(best.data(RunListModel::ColorRole).toInt(), many.store.entries()[5].color);
    table.setCurrentIndex(best);
    QSignalSpy shown(&panel, &RunsPanel::bringBackAsked);
    panel.findChild<QPushButton*>(QStringLiteral("bringRunBack"))->click();
    QCOMPARE(shown.size(), 1);
    QCOMPARE(shown[0][0].value<RunId>(), many.store.entries()[5].id);
    QVERIFY(table.model()->setData(best, QStringLiteral("the best"), Qt::EditRole));
    QCOMPARE(many.store.entries()[5].name, std::string("the best"));
    QVERIFY(table.model()->setData(best, Qt::Unchecked, Qt::CheckStateRole));
    QVERIFY(!many.store.entries()[5].visible);
}

/// Values change with every frame. Rows that followed them could not be clicked.
void TestRunOrder::trainingDoesNotMoveRows() {
    RunStore store;
    addRun(store, "a", 0.5f);
    const RunId trains = addRun(store, "b", 0.9f);
    RunListModel list(store);
    list.refresh();
    OrderedRuns ordered(list);
    QElapsedTimer time; // begins before the first pause does
    time.start();
    ordered.setOrder(Order::ByLoss);
    const QStringList before = namesIn(ordered);
    QCOMPARE(before, QStringList({"a", "b"}));
    const QSignalSpy moves(&ordered, &QAbstractItemModel::layoutChanged);
    int step = 2;
    while (time.elapsed() < 2 * OrderedRuns::kPauseMs + OrderedRuns::kPauseMs / 2) {
        const float loss = step % 2 == 0 ? 0.1f : 0.9f; // its median goes to and fro
        for (int i = 0; i < 60; ++i, ++step)
            addStep(*store.writable(trains), step, loss);
        step += 1; // even, then odd
        list.refresh();
        if (time.elapsed() < OrderedRuns::kPauseMs / 2) QCOMPARE(namesIn(ordered), before);
        QTest::qWait(5);
    }
    QVERIFY2(moves.size() <= 3, qPrintable(QString::number(moves.size())));
    for (int i = 0; i < 60; ++i, ++step)
        addStep(*store.writable(trains), step, 0.1f);
    list.refresh();
    QTRY_COMPARE(namesIn(ordered), QStringList({"b", "a"})); // in the end it follows
    // a name does not change by itself
    ordered.setOrder(Order::ByName);
    store.rename(trains, "0");
    list.refresh();
    QTRY_COMPARE_WITH_TIMEOUT(namesIn(ordered), QStringList({"0", "a"}), OrderedRuns::kPauseMs / 2);
}

void TestRunOrder::comesAndGoesInOrder() {
    Many many;
    const QAbstractItemModelTester tester(&many.ordered,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    many.ordered.setOrder(Order::ByLoss);
    addRun(many.store, "new", 0.2f);
    many.list.refresh();
    const QStringList with{"loss 0.2",      "new",        "mostly right", "none",
                           "half right 10", "half right", "loss 0.5",     "lost"};
    QTRY_COMPARE(namesIn(many.ordered), with);
    QCOMPARE(many.ordered.idAt(1), many.store.entries().back().id);
    many.store.remove(many.store.entries()[5].id);
    many.store.move(many.store.entries().back().id, 0);
    many.list.refresh();
    QStringList without = with;
    without.removeAll(QStringLiteral("mostly right"));
    QTRY_COMPARE(namesIn(many.ordered), without);
    many.ordered.setOrder(Order::AsOpened);
    QCOMPARE(namesIn(many.ordered), namesIn(many.list));
}

/// They come in one piece, and are told to the table at once, wherever each of them belongs.
void TestRunOrder::thousandsAreOrderedAtOnce() {
    constexpr int kRuns = 2000;
    RunStore store;
    RunListModel list(store);
    OrderedRuns ordered(list);
    ordered.setOrder(Order::ByLoss);
    const QSignalSpy inserted(&ordered, &QAbstractItemModel::rowsInserted);
    const QSignalSpy moved(&ordered, &QAbstractItemModel::layoutChanged);
    for (int part = 0; part < 2; ++part) {
        for (int i = 0; i < kRuns / 2; ++i)
            addRun(store, "Run", static_cast<float>((7919 * (2 * i + part)) % kRuns));
        list.refresh();
        QTRY_COMPARE(moved.size(), part + 1);
    }
    QCOMPARE(inserted.size(), 2);
    for (int row = 1; row < kRuns; ++row)
        QVERIFY(!losesLess(list.scoreAt(ordered.listRowOf(row)),
                           list.scoreAt(ordered.listRowOf(row - 1))));
}

/// The button says the order, also to a screen reader.
void TestRunOrder::isChosenByKeyboard() {
    Many many;
    RunsPanel panel(many.list);
    panel.resize(280, 600);
    panel.show();
    auto* button = panel.findChild<OrderButton*>();
    QVERIFY(button->focusPolicy() & Qt::TabFocus);
    QCOMPARE(button->accessibleName(), QStringLiteral("Order of the runs: As opened"));
    QTest::keyClick(button, Qt::Key_Space);
    auto* menu = button->findChild<QMenu*>();
    QTRY_VERIFY(menu->isVisible());
    QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, Qt::Key_Down);
    QTest::keyClick(menu, Qt::Key_Return);
    QCOMPARE(panel.order(), Order::ByValidation);
    QCOMPARE(button->accessibleName(), QStringLiteral("Order of the runs: By last validation"));
    QVERIFY(menu->actions()[1]->isChecked() && !menu->actions()[0]->isChecked());
    QCOMPARE(namesIn(*panel.table()->model()).front(), QStringLiteral("mostly right"));
}

void TestRunOrder::homeAndEndLeadToTheEnds() {
    RunStore store;
    for (int i = 0; i < 20; ++i)
        addRun(store, "Run", 1.0f);
    RunListModel list(store);
    list.refresh();
    RunsPanel panel(list);
    panel.resize(280, 300);
    panel.show();
    QTableView& table = *panel.table();
    const auto rowAfter = [&table](Qt::Key key) {
        QTest::keyClick(&table, key);
        return table.currentIndex().row();
    };
    table.setCurrentIndex(table.model()->index(9, 0));
    QCOMPARE(rowAfter(Qt::Key_End), 19);
    QTRY_VERIFY(table.viewport()->rect().contains(table.visualRect(table.currentIndex())));
    QCOMPARE(rowAfter(Qt::Key_Home), 0);
    const int page = rowAfter(Qt::Key_PageDown);
    QVERIFY2(page > 1 && page < 19, qPrintable(QString::number(page)));
    QCOMPARE(rowAfter(Qt::Key_PageUp), 0);
    QCOMPARE(table.selectionModel()->selectedRows().size(), qsizetype(1));
}

/// A text that touches the border of its button looks like a mistake.
void TestRunOrder::buttonsFitTheirTexts() {
    RunStore store;
    RunListModel list(store);
    RunsPanel panel(list);
    panel.show();
    int wide = 0;
    for (const QPushButton* each : panel.findChildren<QPushButton*>())
        wide += each->fontMetrics().horizontalAdvance(each->text()) + 12;
    constexpr int kBesides = 24; // three gaps, and what is left and right of the row
    panel.resize(wide + kBesides + 2, 400);
    QCoreApplication::processEvents();
    for (const QPushButton* each : panel.findChildren<QPushButton*>())
        QVERIFY2(each->width() >= each->fontMetrics().horizontalAdvance(each->text()) + 12,
                 qPrintable(QStringLiteral("%1: %2").arg(each->text()).arg(each->width())));
}

} // namespace tst_run_order

QTEST_MAIN(tst_run_order::TestRunOrder)
#include "tst_run_order.moc"
