// What is said of an optimizer that was chosen without the settings that it needs.
#include "engine/settings/fields.h"
#include "engine/settings/optimizer_warnings.h"

#include <QTest>

namespace tst_optimizer_warnings {

using namespace halfscope;

class TestOptimizerWarnings : public QObject {
    Q_OBJECT

private slots:
    void names_data();
    void names();
    void presetsHaveNone();
};

void TestOptimizerWarnings::names_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QStringList>("warnings");
    const auto row = [](const char* name, const QStringList& settings,
                        const QStringList& warnings) {
        QTest::newRow(name) << settings << warnings;
    };
    const QString suits = "%1 has settings here that suit Adam: it may hardly learn. PyTorch's "
                          "defaults for it: %2.";
    const QString still = "optimizer.eps is zero in float16: with Adadelta, float16 weights never "
                          "change then; 1e-6 is large enough.";
    const QString adadelta = "optimizer.kind=adadelta", half = "lanes.1.precision=fp16";
    row("adam", {half}, {});
    row("rmsprop", {"optimizer.kind=rmsprop"}, {});
    row("adagrad", {"optimizer.kind=adagrad"},
        {suits.arg("Adagrad", "optimizer.lr 0.01, optimizer.eps 1e-10")});
    row("its epsilon is larger", {"optimizer.kind=adagrad", "optimizer.lr=0.01"}, {});
    row("adadelta", {adadelta},
        {suits.arg("Adadelta", "optimizer.lr 1, optimizer.eps 1e-06, optimizer.alpha 0.9")});
    row("its rate was chosen", {adadelta, "optimizer.lr=0.5", "optimizer.alpha=0.95"},
        {suits.arg("Adadelta", "optimizer.eps 1e-06")});
    row("all were chosen", {adadelta, "optimizer.lr=1", "optimizer.eps=1e-6"}, {});
    row("the schedule has rates", {"optimizer.kind=adagrad", "schedule.kind=one-cycle"}, {});
    row("second", {"model.networks=2", "optimizer.second_kind=adagrad"},
        {suits.arg("Adagrad", "optimizer.second_lr 0.01, optimizer.eps 1e-10")});
    row("no second network", {"optimizer.second_kind=adagrad"}, {});
    const QStringList chosen{adadelta, "optimizer.lr=1", "optimizer.eps=2e-8"};
    row("float32 weights", chosen, {});
    row("float16 weights", QStringList(chosen) << half, {still});
    row("rounded at the end",
        QStringList(chosen) << half << "lanes.1.precision.weight_rounding=stochastic", {});
    row("bfloat16 weights", QStringList(chosen) << "lanes.1.precision=bf16", {});
}

void TestOptimizerWarnings::names() {
    QFETCH(const QStringList, settings);
    QFETCH(const QStringList, warnings);
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    QStringList said;
    for (const Message& warning : optimizerWarnings(config))
        said << QString::fromStdString(warning.english());
    QCOMPARE(said, warnings);
}

void TestOptimizerWarnings::presetsHaveNone() {
    for (const Preset& preset : presets())
        QVERIFY2(optimizerWarnings(preset.config).empty(), preset.name.c_str());
}

} // namespace tst_optimizer_warnings

QTEST_GUILESS_MAIN(tst_optimizer_warnings::TestOptimizerWarnings)
#include "tst_optimizer_warnings.moc"
