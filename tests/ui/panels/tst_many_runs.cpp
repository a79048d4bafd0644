// The list of runs with many of them: what it costs to change it does not grow with what stays as
// it was, and it opens at the run that is shown.
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/served_events.h"
#include "ui/panels/runs_panel.h"

#include <QAbstractItemModelTester>
#include <QFontInfo>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <set>
#include <vector>

namespace tst_many_runs {

using namespace halfscope;

namespace {

/// Adds a run of sixty steps of one lane.
RunId addRun(RunStore& store, const char* name) {
    FedRun fed;
    fed.start({QStringLiteral("fp32")}, {false});
    const RunId id = store.add(fed.run, name);
    for (int step = 1; step <= 60; ++step) {
        const StepRecord row = record(step, 0, 1.0f);
        fed.append({&row, 1}, {});
    }
    return id;
}

} // namespace

class TestManyRuns : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void manyComeAndGoAtOnce();
    void onlyChangedRowsAreMeasured();
    void theListOpensAtTheShownRun();
};

/// Runs that follow one another come and go in one piece, however many there are.
void TestManyRuns::manyComeAndGoAtOnce() {
    RunStore store;
    RunListModel list(store);
    const QAbstractItemModelTester tester(&list,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    const QSignalSpy inserted(&list, &RunListModel::rowsInserted);
    const QSignalSpy removed(&list, &RunListModel::rowsRemoved);
    const auto namesAre = [&list](const QStringList& expected) {
        list.refresh();
        QStringList names;
        for (int row = 0; row < list.rowCount(); ++row)
            names << list.index(row, 0).data(Qt::EditRole).toString();
        return names == expected;
    };
    RunId ids[6];
    const char* const names[] = {"a", "b", "c", "d", "e", "f"};
    for (int i = 0; i < 6; ++i)
        ids[i] = addRun(store, names[i]);
    QVERIFY(namesAre({"a", "b", "c", "d", "e", "f"}));
    QCOMPARE(inserted.size(), qsizetype(1));
    for (const int gone : {0, 2, 3, 5})
        store.remove(ids[gone]);
    QVERIFY(namesAre({"b", "e"}));
    QCOMPARE(removed.size(), qsizetype(3)); // c and d together
    store.move(addRun(store, "g"), 0);
    store.move(addRun(store, "h"), 1);
    store.move(addRun(store, "i"), 3);
    store.move(ids[4], 0);
    QVERIFY(namesAre({"e", "g", "h", "b", "i"}));
    QCOMPARE(inserted.size(), qsizetype(3)); // g and h together
}

/// A run that trains changes its row with every frame, and none of the thousand others is measured
/// anew for that.
void TestManyRuns::onlyChangedRowsAreMeasured() {
    class Watched : public RunListModel {
    public:
        using RunListModel::RunListModel;
        QVariant data(const QModelIndex& index, int role) const override {
            if (role == Qt::DisplayRole) asked.insert(index.row());
            return RunListModel::data(index, role);
        }
        mutable std::set<int> asked; ///< rows whose texts were
    };
    RunStore store;
    for (int i = 0; i < 30; ++i)
        addRun(store, "Run");
    Watched model(store);
    model.refresh();
    RunsPanel panel(model);
    panel.resize(280, 300);
    panel.show();
    constexpr int kSettles = 50; // ms, in which what is queued is done
    test::serveEvents(kSettles);
    QVERIFY(model.asked.contains(29)); // measured though it is far below
    QTableView& table = *panel.table();
    const int before = table.rowHeight(20);
    model.asked.clear();
    RunBatch next;
    for (int i = 0; i < 40; ++i) // of other lengths
        next.rows.push_back(StepRow(61 + i, 0).set(metric::Loss, 1.5f));
    store.writable(store.entries()[20].id)->append(std::move(next));
    model.refresh();
    test::serveEvents(kSettles);
    QVERIFY(model.asked.contains(20));
    QVERIFY(!model.asked.contains(29));
    store.rename(store.entries()[20].id, std::string(60, 'w') + " " + std::string(60, 'w'));
    model.refresh();
    QTRY_VERIFY2(table.rowHeight(20) > before, qPrintable(QString::number(before)));
    QVERIFY(!model.asked.contains(29));
    panel.resize(200, 300); // lines are broken anew
    QTRY_VERIFY(model.asked.contains(29));
    model.asked.clear();
    test::serveEvents(kSettles);
    QFont larger = table.font();
    larger.setPixelSize(2 * QFontInfo(larger).pixelSize());
    const int small = table.rowHeight(29);
    table.setFont(larger);
    table.resizeRowsToContents();
    QTRY_VERIFY2(table.rowHeight(29) > small, qPrintable(QString::number(small)));
}

/// Also where it was hidden while another run was shown.
void TestManyRuns::theListOpensAtTheShownRun() {
    RunStore store;
    std::vector<RunId> ids;
    for (int i = 0; i < 30; ++i)
        ids.push_back(addRun(store, "Run"));
    RunListModel model(store);
    const auto shows = [&](size_t run) {
        store.setCurrent(ids[run]);
        model.refresh();
    };
    shows(29);
    RunsPanel panel(model);
    panel.resize(280, 600);
    QTableView& table = *panel.table();
    const auto isInSight = [&table](int row) {
        return table.viewport()->rect().contains(table.visualRect(table.model()->index(row, 0)));
    };
    panel.show();
    QTRY_VERIFY(isInSight(29));
    QVERIFY(!isInSight(0));
    panel.hide();
    shows(0);
    panel.show();
    QTRY_VERIFY(isInSight(0));
}

} // namespace tst_many_runs

QTEST_MAIN(tst_many_runs::TestManyRuns)
#include "tst_many_runs.moc"
