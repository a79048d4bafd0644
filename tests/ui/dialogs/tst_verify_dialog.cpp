// "Verify against PyTorch" in the window: the table and its words, a comparison from start to end,
// and closing the window meanwhile.
#include "tests/support/opened_window.h"
#include "tests/support/under_sanitizer.h"
#include "ui/dialogs/verify_dialog.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QLocale>
#include <QPointer>
#include <QTableView>

namespace tst_verify_dialog {

using namespace halfscope;

class TestVerifyDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void table();
    void comparesAndTells();
    void headingsAreNotCut();
    void tellsWhatFailed();
    void closesWithoutWaiting();
};

void TestVerifyDialog::table() {
    VerifyModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    QCOMPARE(model.rowCount(), 0);
    VerifyReport report;
    report.device = "CPU";
    report.suites.resize(2);
    report.suites[0].name = "ops";
    report.suites[0].cases = report.suites[0].passed = 1432;
    report.suites[0].worst = 5e-8;
    report.suites[0].bound = 1e-7;
    report.suites[1].name = "scaler";
    report.suites[1].cases = report.suites[1].passed = 2;
    report.leftOut = {Message::data("runs: no training_runs.json")};
    model.show(report);
    const auto text = [&model](int row, int column) {
        return model.index(row, column).data().toString();
    };
    QCOMPARE(text(0, VerifyModel::CasesColumn), QStringLiteral("1432"));
    QCOMPARE(text(0, VerifyModel::WorstColumn), QStringLiteral("5e-08"));
    QCOMPARE(text(1, VerifyModel::BoundColumn), QStringLiteral("equal"));
    QVERIFY(model.index(0, 0).data(VerifyModel::PassedRole).toBool());
    QVERIFY(model.summary().startsWith(QStringLiteral("All passed: on CPU")));
    QVERIFY(model.summary().endsWith(QStringLiteral("Skipped: runs: no training_runs.json")));
    report.suites[1].passed = 1;
    report.suites[1].failed = {"trace 3: scale 1 instead of 2"};
    model.show(report);
    QVERIFY(!model.index(1, 0).data(VerifyModel::PassedRole).toBool());
    QVERIFY(model.summary().startsWith(QStringLiteral("Some cases failed: on CPU")));
    QVERIFY(
        model.summary().contains(QStringLiteral("scaler failed: trace 3: scale 1 instead of 2")));
    report.suites[1].failed.assign(25, "one");
    model.show(report);
    QVERIFY(model.summary().contains(QStringLiteral("scaler: 15 more failed")));
    report.suites[1].failed.clear();
    report.suites[1].illPosed = {"a run: cannot be decided"};
    model.show(report);
    QVERIFY(model.index(1, 0).data(VerifyModel::PassedRole).toBool());
    QVERIFY2(
        model.summary().startsWith(QStringLiteral("Nothing failed on CPU. Ill-posed cases: 1.")),
        qPrintable(model.summary()));
    QCOMPARE(text(0, VerifyModel::IllPosedColumn), QStringLiteral("0"));
    // failures come before undecidable cases, whatever the suites' order
    report.suites[0].illPosed = {"another"};
    report.suites[1].failed = {"wrong"};
    model.show(report);
    const QString all = model.summary();
    QVERIFY(all.indexOf(QStringLiteral("scaler failed: wrong")) > 0);
    QVERIFY(all.indexOf(QStringLiteral("scaler failed: wrong")) <
            all.indexOf(QStringLiteral("ops ill-posed: another")));
    QCOMPARE(text(1, VerifyModel::FailedColumn), QStringLiteral("1"));
    report.suites[0].illPosed.clear();
    report.suites[1].failed.clear();
    model.show(report);
    QCOMPARE(text(1, VerifyModel::IllPosedColumn), QStringLiteral("1"));
    QStringList headings, explanations;
    for (int column = 0; column < VerifyModel::Columns; ++column) {
        const auto head = [&](int role) {
            return model.headerData(column, Qt::Horizontal, role).toString();
        };
        headings << head(Qt::DisplayRole);
        explanations << head(Qt::ToolTipRole);
        QCOMPARE(head(Qt::AccessibleDescriptionRole), explanations.last());
        QCOMPARE(model.index(0, column).data(Qt::ToolTipRole).toString(), explanations.last());
    }
    QCOMPARE(headings.join(u' '),
             QStringLiteral("Suite Cases Passed Failed Ill-posed Worst Bound Compared"));
    QCOMPARE(explanations.removeDuplicates(), 0);
    QVERIFY(!explanations.contains(QString()));
    QVERIFY(explanations.at(VerifyModel::IllPosedColumn)
                .endsWith(QStringLiteral("count as neither passed nor failed.")));
    QVERIFY(model.summary().contains(QStringLiteral("scaler ill-posed: a run: cannot be decided")));
}

void TestVerifyDialog::comparesAndTells() {
    VerifyOptions options;
    options.suites = {"scaler", "optim"};
    options.device = "cpu";
    VerifyDialog dialog(options);
    dialog.show();
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QCOMPARE(dialog.model().rowCount(), 2);
    QVERIFY2(dialog.summary().startsWith(QStringLiteral("All passed")),
             qPrintable(dialog.summary()));
    options.folder = "/no/such/folder";
    VerifyDialog failing(options);
    QTRY_VERIFY_WITH_TIMEOUT(!failing.running(), kPatience);
    QVERIFY2(failing.summary().contains(QStringLiteral("/no/such/folder")),
             qPrintable(failing.summary()));
}

void TestVerifyDialog::headingsAreNotCut() {
    VerifyOptions options;
    options.device = "cpu";
    if (halfscope::test::kUnderThreadSanitizer) options.suites = {"autocast", "scaler", "optim"};
    VerifyDialog dialog(options);
    dialog.show();
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    const auto* table = dialog.findChild<QTableView*>();
    for (int column = 0; column < VerifyModel::Columns; ++column) {
        const int wanted = table->horizontalHeader()->sectionSizeHint(column);
        QVERIFY2(table->columnWidth(column) >= wanted, qPrintable(QString::number(column)));
    }
    // all of it is in view: the last column says what is compared
    QVERIFY(table->horizontalHeader()->length() <= table->viewport()->width());
    QVERIFY2(table->verticalHeader()->length() <= table->viewport()->height(),
             qPrintable(QStringLiteral("%1 in %2")
                            .arg(table->verticalHeader()->length())
                            .arg(table->viewport()->height())));
}

/// One value in another folder's files is wrong: the table shows it, and the summary names it
/// first.
void TestVerifyDialog::tellsWhatFailed() {
    const QTemporaryDir folder;
    const QString name = QStringLiteral("optim_sched_clip.json");
    QFile golden(QStringLiteral(HALFSCOPE_SOURCE_DIR "/tests/golden/") + name);
    QVERIFY(golden.open(QIODevice::ReadOnly));
    QByteArray text = golden.readAll();
    const QByteArray right = "\"lr\":0.1";
    const qsizetype place = text.indexOf(right);
    QVERIFY(place > 0);
    text.replace(place, right.size(), "\"lr\":0.7");
    QVERIFY(!write(folder, name, text.toStdString()).isEmpty());
    VerifyOptions options;
    options.suites = {"optim"};
    options.device = "cpu";
    options.folder = folder.path().toStdString();
    VerifyDialog dialog(options);
    dialog.show();
    QTRY_VERIFY_WITH_TIMEOUT(!dialog.running(), kPatience);
    QVERIFY2(dialog.summary().startsWith(QStringLiteral("Some cases failed")),
             qPrintable(dialog.summary()));
    QCOMPARE(dialog.summary().section(u'\n', 1, 1).left(14), QStringLiteral("optim failed: "));
    QVERIFY(dialog.model().index(0, VerifyModel::FailedColumn).data().toInt() > 0);
}

/// A dialog that closes leaves its comparison to end by itself, and it does end.
void TestVerifyDialog::closesWithoutWaiting() {
    auto job = std::make_unique<VerifyJob>(VerifyOptions{});
    const QPointer<VerifyJob> left(job.get());
    job->start();
    VerifyJob::abandon(std::move(job));
    QVERIFY(left); // not joined
    QTRY_VERIFY_WITH_TIMEOUT(left.isNull(), kPatience);
    VerifyOptions wrong; // ends with an error, perhaps before it is left
    wrong.folder = "/no/such/folder";
    job = std::make_unique<VerifyJob>(wrong);
    const QPointer<VerifyJob> failed(job.get());
    job->start();
    QTest::qSleep(20);
    VerifyJob::abandon(std::move(job));
    QTRY_VERIFY_WITH_TIMEOUT(failed.isNull(), kPatience);
    const VerifyDialog closed(VerifyOptions{}); // while it compares
}

} // namespace tst_verify_dialog

QTEST_MAIN(tst_verify_dialog::TestVerifyDialog)
#include "tst_verify_dialog.moc"
