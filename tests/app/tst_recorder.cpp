// resources/pytorch/halfscope_recorder.py beside trainings with the real PyTorch: what it writes is
// compared with what recorder_checks.py sees, and the runs are read as the window reads them. ./dev
// clients runs this.
#include "engine/runs/run_reader.h"
#include "tests/support/python.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_recorder {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Calls one of the checks with a folder; it prints nothing unless it fails.
const QString kCall = QStringLiteral(R"(
import sys
sys.dont_write_bytecode = True
sys.path[:0] = ["%1/resources/pytorch", "%1/tests/app"]
import recorder_checks
getattr(recorder_checks, sys.argv[1])(sys.argv[2])
)")
                          .arg(QStringLiteral(HALFSCOPE_SOURCE_DIR));

QString lanesIn(const Run& run) {
    QStringList names;
    for (const LaneInfo& lane : run.lanes())
        names << QString::fromStdString(lane.name);
    return names.join(' ');
}

QString missingIn(const Run& run) {
    QStringList parts;
    for (const MissingPart& part : run.info().missing)
        parts << QString::fromStdString(part.text().english());
    return parts.join(' ');
}

} // namespace

class TestRecorder : public QObject {
    Q_OBJECT

private slots:
    void records_data() {
        QTest::addColumn<QString>("check");
        QTest::addColumn<QString>("run");
        QTest::addColumn<QString>("lanes");
        QTest::addColumn<int64_t>("steps");
        QTest::addColumn<qsizetype>("counts");
        QTest::addColumn<QString>("missing");
        const auto row = [](const char* check, const char* run, const char* lanes, int64_t steps,
                            qsizetype counts, const char* missing = "") {
            QTest::newRow(check) << QString(check) << QString(run) << QString(lanes) << steps
                                 << counts << QString(missing);
        };
        row("values", "", "amp-fp16", 120, 40);
        row("accumulation", "", "amp-fp16", 12, 4);
        row("same_training", "/run", "amp-fp16", 40, 14);
        row("large_values", "", "amp-fp16", 2, 1);
        row("odd_parameters", "", "fp32", 3, 3);
        row("without_scaler", "", "amp-bf16", 5, 0);
        row("lost_loss", "", "amp-fp16", 2, 1);
        row("refused", "/run", "amp-fp16", 1, 1);
        row("killed", "/kill", "fp32", 50, 5, "summary.json");
        row("merged", "/both", "amp-fp16 amp-fp16-2 fp32", 34, 12);
    }
    void records() {
        if (lacksPython()) QSKIP(lacksPython());
        QFETCH(const QString, check);
        QFETCH(const QString, run);
        const QTemporaryDir folder;
        QCOMPARE(python(kCall, {check, folder.path()}), QString());

        const std::shared_ptr<Run> read = readRun((folder.path() + run).toStdString());
        QTEST(lanesIn(*read), "lanes");
        QTEST(read->step(), "steps");
        QTEST(missingIn(*read), "missing");
        QTEST(static_cast<qsizetype>(read->now().gradients(0).columns().size()), "counts");
        if (check != "values") return;
        const ScalerConfig& scaler = read->info().config.lanes[0].scaler;
        QCOMPARE(scaler.initScale, 16384.0);
        QCOMPARE(scaler.rules.growthInterval, int64_t{20});
        QCOMPARE(read->now().totals(0).last().step, int64_t{120});
        QVERIFY(read->now().totals(0).last().skippedSoFar() > 1);
        QCOMPARE(read->events()[0].kind, EventKind::Growth); // after 20 clean steps
        QCOMPARE(read->events()[1].kind, EventKind::Overflow);
        QCOMPARE(read->events()[1].step, int64_t{31});
        QVERIFY(!overflowedBeforeScaling(read->events()[1]));
    }
};

} // namespace tst_recorder

QTEST_GUILESS_MAIN(tst_recorder::TestRecorder)
#include "tst_recorder.moc"
