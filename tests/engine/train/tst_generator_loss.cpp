// The loss of a network that learns from a critic, beside the critic's: where it is measured, what
// it is, and where files have it. That PyTorch's is the same, tst_pytorch_samples shows.
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_reader.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/trainer.h"
#include "tests/support/missing_texts.h"
#include "tests/support/train_into.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_generator_loss {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns a few steps of a small network on 64 pixels.
RunConfig configOf(const QStringList& settings) {
    RunConfig config = presetNamed("checkerboard").config;
    config.device = "cpu";
    for (const QString& setting : QStringList{"task.side=8", "model.width=8", "model.depth=1",
                                              "model.norm=none", "run.steps=6"} +
                                      settings)
        applySetting(config, setting.toStdString());
    return config;
}

/// Returns log(1 + e^x).
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// Returns the lines of a table without a column.
std::string withoutColumn(const std::string& text, const QString& column) {
    QStringList lines = QString::fromStdString(text).split('\n');
    const qsizetype place = lines.front().split(',').indexOf(column);
    for (QString& line : lines) {
        QStringList cells = line.split(',');
        if (cells.size() > place) cells.removeAt(place);
        line = cells.join(',');
    }
    return lines.join('\n').toStdString();
}

} // namespace

class TestGeneratorLoss : public QObject {
    Q_OBJECT
private slots:
    void whereItIsMeasured_data();
    void whereItIsMeasured();
    void isThatOfItsFormula_data();
    void isThatOfItsFormula();
    void filesHaveIt();
};

void TestGeneratorLoss::whereItIsMeasured_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<bool>("measured");
    const QStringList gan{"model.adversary=gan"};
    QTest::newRow("gan") << gan << true;
    QTest::newRow("wgan-gp") << QStringList{"model.adversary=wgan-gp"} << true;
    QTest::newRow("steps of the critic alone") << gan + QStringList{"model.critic_steps=3"} << true;
    QTest::newRow("accumulation") << gan + QStringList{"gradients.accumulate=2"} << true;
    QTest::newRow("one network") << QStringList() << false;
    // its loss is the sum of two, each of which reaches both networks
    QTest::newRow("two networks") << QStringList{"model.networks=2"} << false;
}

/// In every step, as the critic's, also in those in which the first network does not take a step.
void TestGeneratorLoss::whereItIsMeasured() {
    QFETCH(const QStringList, settings);
    QFETCH(const bool, measured);
    Experiment experiment(configOf(settings));
    const std::vector<MetricId> extra = extraMetrics(experiment);
    QCOMPARE(std::ranges::count(extra, MetricId{metric::GeneratorLoss}), measured ? 1 : 0);
    int rows = 0;
    while (!experiment.finished()) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        experiment.advance(records, events);
        for (const StepRecord& record : records) {
            const StepRow row = rowOf(record);
            QCOMPARE(row.measured(metric::GeneratorLoss), measured);
            if (measured) QVERIFY(std::isfinite(row[metric::GeneratorLoss]));
            ++rows;
        }
    }
    QCOMPARE(rows, 12); // of two lanes
}

void TestGeneratorLoss::isThatOfItsFormula_data() {
    QTest::addColumn<QString>("adversary");
    QTest::addColumn<QString>("lanes");
    for (const char* adversary : {"gan", "wgan-gp"})
        for (const char* lanes : {"fp32", "amp-fp16"})
            QTest::addRow("%s, %s", adversary, lanes) << adversary << lanes;
}

/// A linear critic's scores follow from its two weights and the predictions. They are not scaled,
/// and in f32: a mean of 64 of them rounds as often.
void TestGeneratorLoss::isThatOfItsFormula() {
    QFETCH(const QString, adversary);
    QFETCH(const QString, lanes);
    RunConfig config = configOf({"model.adversary=" + adversary, "model.critic=nn.Linear(1, 1)"});
    config.lanes = parseLanes(lanes.toStdString());
    const auto data = makeTask(config);
    Trainer trainer(config, 0, "lane", *data, makeCpuExecutor(1));
    const Weights weights = trainer.weights();
    const double factor = double{weights.at("critic.weight")[0]};
    const double bias = double{weights.at("critic.bias")[0]};
    std::vector<Event> events;
    const StepRecord record = trainer.step(1, events).value();
    const std::vector<float> made = trainer.prediction();
    QCOMPARE(made.size(), size_t{64});
    double wanted = 0;
    for (const float each : made) {
        const double score = factor * double{each} + bias;
        wanted += adversary == "gan" ? softplus(-score) : -score;
    }
    wanted /= static_cast<double>(made.size());
    const double unit = std::ldexp(1.0, lanes == "fp32" ? -24 : -11);
    const double found = static_cast<double>(record.generatorLoss.value());
    QVERIFY2(std::abs(found - wanted) <= 64 * unit * std::max(1.0, std::abs(wanted)),
             qPrintable(QString("%1 against %2").arg(found).arg(wanted)));
    QVERIFY(found != double{record.loss}); // the critic's
}

/// The column comes back as it was, and runs that earlier versions saved lack it without a word.
void TestGeneratorLoss::filesHaveIt() {
    const QTemporaryDir folder;
    const std::string path = folder.path().toStdString();
    const RunConfig config = configOf({"model.adversary=wgan-gp"});
    const std::shared_ptr<Run> trained = trainInto(path, config);
    const std::string table = readFile(path + "/steps.csv");
    QVERIFY(
        QString::fromStdString(table).section('\n', 0, 0).split(',').contains("generator_loss"));
    const std::shared_ptr<Run> read = readRun(path);
    for (int lane = 0; lane < 2; ++lane)
        for (int64_t step = 1; step <= 6; ++step)
            QCOMPARE(read->now().row(lane, step)[metric::GeneratorLoss],
                     trained->now().row(lane, step)[metric::GeneratorLoss]);
    const QJsonObject summary =
        QJsonDocument::fromJson(QByteArray::fromStdString(readFile(path + "/summary.json")))
            .object();
    const QJsonObject lane = summary["lanes"].toArray()[1].toObject();
    QCOMPARE(static_cast<float>(lane["final_generator_loss"].toDouble()),
             static_cast<float>(trained->now().row(1, 6)[metric::GeneratorLoss]));
    writeFileAtomically(path + "/steps.csv", withoutColumn(table, "generator_loss"));
    QVERIFY(QFile::remove(folder.filePath("manifest.json"))); // it knows the other table
    const std::shared_ptr<Run> older = readRun(path);
    QCOMPARE(older->now().lastStep(), int64_t{6});
    QVERIFY(!older->now().has(metric::GeneratorLoss));
    const std::vector<std::string> missing = missingTexts(older->info());
    QVERIFY2(missing.empty(), missing.empty() ? "" : missing.front().c_str());
}

} // namespace tst_generator_loss

QTEST_GUILESS_MAIN(tst_generator_loss::TestGeneratorLoss)
#include "tst_generator_loss.moc"
