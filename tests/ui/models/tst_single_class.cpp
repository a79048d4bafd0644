// What is told of a run whose samples all have the same class, and of the loss that it has; and by
// what a run is judged whose two classes are one number.
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/shown_lanes.h"
#include "ui/models/event_model.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_single_class {

using namespace halfscope;
using namespace halfscope::test;

class TestSingleClass : public QObject {
    Q_OBJECT
private slots:
    void aSingleClassIsNoSuccess();
    void twoClassesAsOneNumber();
};

/// The accuracy of 100 % is no success, and the loss, which is -0, is shown as 0.
void TestSingleClass::aSingleClassIsNoSuccess() {
    const QTemporaryDir folder;
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Arrays;
    config.task.x = folder.filePath("x.npy").toStdString();
    config.task.loss.kind = LossKind::CrossEntropy;
    config.task.validation = 0.5;
    QString fewest;
    const auto told = [&](const char* name, const std::string& labels) {
        config.task.y = folder.filePath(name).toStdString();
        writeBytes(config.task.x, npy("<f4", "(4, 1)", std::string(16, '\0')));
        writeBytes(config.task.y, npy("|u1", "(4,)", labels));
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch step;
        for (const int lane : {0, 1})
            step.rows.push_back(
                rowAt(1, lane, 1).set(metric::Loss, -0.0f).set(metric::Accuracy, 1.0F));
        run->append(std::move(step));
        model.refresh();
        fewest = model.summaries().last().replace(QChar::Nbsp, u' ');
        return model.summary().replace(QChar::Nbsp, u' ');
    };
    const QString warning = QStringLiteral(
        " All samples have the same class, so there is nothing to learn: any network has an "
        "accuracy of 100 %.");
    const QString text = told("one.npy", std::string(4, '\0'));
    QVERIFY2(text.contains(" 100.00 % (2 of 2, training loss 0).") && text.endsWith(warning),
             qPrintable(text));
    QVERIFY2(fewest.contains(" 100.00 % (2 of 2)"), qPrintable(fewest));
    QVERIFY(!told("two.npy", std::string("\0\1\0\1", 4)).contains("All samples"));
}

/// A card tells before the first validation what it will show, and of a run of an earlier version
/// what was measured.
void TestSingleClass::twoClassesAsOneNumber() {
    using Judged = LaneFacts::Judged;
    const QTemporaryDir folder;
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Arrays;
    config.task.loss.kind = LossKind::BceWithLogits;
    config.task.x = folder.filePath("x.npy").toStdString();
    writeBytes(config.task.x, npy("<f4", "(4, 1)", std::string(16, '\0')));
    const auto judged = [&](const char* name, float last, bool wasJudged) {
        config.task.y = folder.filePath(name).toStdString();
        writeBytes(config.task.y, npy("<f4", "(4,)", bytesOfValues<float>({0, 1, 0, last})));
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch step;
        step.rows.push_back(rowAt(1, 0, 1).set(metric::ValidationLoss, 0.5f));
        if (wasJudged) run->append(std::move(step));
        return laneFactsOf(run->now(), false).front().judged;
    };
    QVERIFY(judged("sides.npy", 1, false) == Judged::ByAccuracy);
    QVERIFY(judged("earlier.npy", 1, true) == Judged::ByLoss);
    QVERIFY(judged("shares.npy", 0.5f, false) == Judged::ByLoss);
}

} // namespace tst_single_class

QTEST_GUILESS_MAIN(tst_single_class::TestSingleClass)
#include "tst_single_class.moc"
