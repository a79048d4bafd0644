// The settings as an item model: it keeps Qt's rules at every change (QAbstractItemModelTester),
// accepts every field's text, and says what a change needs: nothing, the next step, or a restart.
#include "engine/core/error.h"
#include "engine/settings/run_length.h"
#include "tests/support/thrown.h"
#include "ui/models/config_model.h"

#include <QAbstractItemModelTester>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

namespace tst_config_model {

using namespace halfscope;

namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

bool set(ConfigModel& model, const char* key, int lane, const QString& text) {
    return model.setData(model.index(model.rowOf(key, lane)), text);
}

QVariant get(const ConfigModel& model, const char* key, int lane, int role) {
    return model.index(model.rowOf(key, lane)).data(role);
}

} // namespace

class TestConfigModel : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void everyFieldTakesItsText();
    void wrongValueChangesNothing();
    void commasAreExplained();
    void changedAndBack();
    void presetScalerFollowsPrecision();
    void restartNeeded();
    void sweptLanes();
    void liveEdits();
    void livePreset();
    void rulesOfAScalerThatIsToCome();
    void rulesOfAScalerThatIsOff();
    void editsWaitAtTheEnd();
    void guardsReachTheRunInTurn();
    void lengthAtTheEnd();
    void lengthsInEpochs();
    void liveEditWhileBuilding();
    void liveEditsAfterALaneWent();
    void laneThatComesDoesNotReachTheRun();
    void lanes();
    void saysWhyNothingCanBeTrained();
    void appliesFollowsEdits();
};

void TestConfigModel::everyFieldTakesItsText() {
    ConfigModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    for (const Preset& preset : presets()) {
        model.load(preset.config);
        for (int row = 0; row < model.rowCount(); ++row) {
            const QString text = model.text(row);
            QVERIFY2(model.setData(model.index(row), text),
                     qPrintable(QString::fromStdString(model.row(row).field->key)));
            QCOMPARE(model.text(row), text);
            QVERIFY(!model.index(row).data(ConfigModel::ChangedRole).toBool());
            QVERIFY(!model.index(row).data(Qt::ToolTipRole).toString().isEmpty());
        }
        QCOMPARE(configText(model.config()), configText(preset.config));
    }
}

void TestConfigModel::wrongValueChangesNothing() {
    ConfigModel model;
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    model.setRunning(model.config());
    QVERIFY(!set(model, "scaler.growth_interval", 1, QStringLiteral("0")));
    QVERIFY(!set(model, "optimizer.lr", -1, QStringLiteral("fast")));
    const QString error =
        get(model, "scaler.growth_interval", 1, ConfigModel::ErrorRole).toString();
    QVERIFY2(error.contains(QString::fromStdString(
                 allowedText(*findField("scaler.growth_interval")).english())),
             qPrintable(error));
    QCOMPARE(model.config().lanes[1].scaler.rules.growthInterval, int64_t(2000));
    QCOMPARE(live.count(), 0);
    QVERIFY(set(model, "scaler.growth_interval", 1, QStringLiteral("5")));
    QCOMPARE(get(model, "scaler.growth_interval", 1, ConfigModel::ErrorRole).toString(), QString());
    QCOMPARE(live.count(), 1);
}

/// A comma has two meanings, so it is refused.
void TestConfigModel::commasAreExplained() {
    ConfigModel model;
    const auto errorOf = [&model](const QString& text) {
        set(model, "optimizer.lr", -1, text);
        return get(model, "optimizer.lr", -1, ConfigModel::ErrorRole).toString();
    };
    const QString comma = errorOf(QStringLiteral("0,001"));
    QVERIFY2(comma.contains(QStringLiteral("point")), qPrintable(comma));
    QVERIFY(!errorOf(QStringLiteral("fast")).contains(QStringLiteral("point")));
    QCOMPARE(errorOf(QStringLiteral("0.001")), QString());
}

void TestConfigModel::changedAndBack() {
    ConfigModel model;
    QVERIFY(set(model, "model.width", -1, QStringLiteral("32")));
    QVERIFY(get(model, "model.width", -1, ConfigModel::ChangedRole).toBool());
    model.resetToPreset(model.rowOf("model.width"));
    QVERIFY(!get(model, "model.width", -1, ConfigModel::ChangedRole).toBool());
    QCOMPARE(model.config().model.width, model.preset().model.width);
}

void TestConfigModel::presetScalerFollowsPrecision() {
    ConfigModel model;
    QVERIFY(set(model, "precision", 1, QStringLiteral("amp-bf16")));
    QCOMPARE(model.config().lanes[1].scaler.rules.mode,
             defaultLane(Precision::AmpBf16).scaler.rules.mode);
}

void TestConfigModel::restartNeeded() {
    ConfigModel model;
    QVERIFY(!model.restartNeeded()); // nothing runs yet
    set(model, "model.width", -1, QStringLiteral("32"));
    QVERIFY(!model.restartNeeded());
    model.setRunning(model.config());
    QVERIFY(!model.restartNeeded());
    set(model, "optimizer.lr", -1, QStringLiteral("0.01")); // live
    QVERIFY(!model.restartNeeded());
    set(model, "model.width", -1, QStringLiteral("16"));
    QVERIFY(model.restartNeeded());
    QVERIFY(get(model, "model.width", -1, ConfigModel::WaitingRole).toBool());
    set(model, "model.width", -1, QStringLiteral("32")); // back to the running value
    QVERIFY(!model.restartNeeded());
    model.addLane();
    QVERIFY(model.restartNeeded());
}

/// A lane keeps its place in the run when one of the values is its own, so that the others can
/// continue from it.
void TestConfigModel::sweptLanes() {
    ConfigModel model; // fp32, amp-fp16
    set(model, "scaler.growth_interval", 1, QStringLiteral("50"));
    model.setRunning(model.config());
    const ConfigModel::Edits before = model.edits();
    model.sweep(parseSweep("scaler.init_scale=2^8,2^16,2^20"));
    QCOMPARE(model.config().lanes.size(), size_t{4});
    QCOMPARE(model.runsAs(0), std::optional(0));
    QCOMPARE(model.runsAs(1), std::optional<int>());
    QCOMPARE(model.runsAs(2), std::optional(1));
    QCOMPARE(model.runsAs(3), std::optional<int>());
    QVERIFY(model.waiting() == ConfigModel::Waiting::NewLanes);
    for (int lane = 1; lane < 4; ++lane) { // each is still compared with the lane's preset
        QCOMPARE(get(model, "scaler.init_scale", lane, ConfigModel::ChangedRole).toBool(),
                 lane != 2);
        QVERIFY(get(model, "scaler.growth_interval", lane, ConfigModel::ChangedRole).toBool());
    }
    model.restore(before);
    QCOMPARE(model.config().lanes.size(), size_t{2});
    QVERIFY(!model.restartNeeded());
    const auto tooMany = [&] { model.sweep(parseSweep("scaler.init_scale=1,2,4,8,16,32")); };
    QVERIFY(thrownBy<InputError>(tooMany).starts_with("These values make 7 lanes"));
    QCOMPARE(model.config().lanes.size(), size_t{2});
}

void TestConfigModel::liveEdits() {
    ConfigModel model;
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    set(model, "optimizer.lr", -1, QStringLiteral("0.5"));
    QCOMPARE(live.count(), 0); // nothing runs
    model.setRunning(model.config());
    set(model, "optimizer.lr", -1, QStringLiteral("0.25"));
    set(model, "optimizer.lr", -1, QStringLiteral("0.25")); // the same again
    QCOMPARE(live.count(), 1);
    QCOMPARE(live.front().at(0).toInt(), -1);
    QCOMPARE(live.front().at(1).value<std::string>(), std::string("optimizer.lr"));
    QCOMPARE(std::get<double>(live.front().at(2).value<FieldValue>()), 0.25);
}

/// The preset's rules take effect at once and are reported once; its initial scale waits for a
/// restart.
void TestConfigModel::livePreset() {
    ConfigModel model;
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    model.setRunning(model.config());
    set(model, "scaler.preset", 1, QStringLiteral("apex")); // the same initial scale
    QCOMPARE(live.count(), 1);
    QVERIFY(!model.restartNeeded());
    set(model, "scaler.preset", 1, QStringLiteral("megatron"));
    QCOMPARE(live.count(), 2);
    QCOMPARE(live.back().at(1).value<std::string>(), std::string("scaler.preset"));
    QCOMPARE(model.running()->lanes[1].scaler.rules, model.config().lanes[1].scaler.rules);
    QCOMPARE(model.running()->lanes[1].scaler.initScale, 65536.0);
    QVERIFY(model.restartNeeded());
    model.setRunning(RunConfig(*model.running())); // nothing of it is left to send
    QCOMPARE(live.count(), 2);
}

/// A lane without a loss scaler does not get the rules of the one that it has after a restart.
void TestConfigModel::rulesOfAScalerThatIsToCome() {
    ConfigModel model;
    set(model, "precision", 1, QStringLiteral("fp16"));
    model.setRunning(model.config());
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    const auto waits = [&](const char* key) {
        return get(model, key, 1, ConfigModel::WaitingRole).toBool();
    };
    set(model, "precision", 1, QStringLiteral("amp-fp16"));
    QVERIFY(!waits("scaler.growth_factor"));
    set(model, "scaler.growth_interval", 1, QStringLiteral("1"));
    QCOMPARE(live.count(), 0);
    QVERIFY(waits("precision") && waits("scaler.growth_interval"));
    QVERIFY(model.running()->lanes[1].scaler.rules.growthInterval != 1);
    model.setRunning(model.config()); // the restart takes both
    QCOMPARE(live.count(), 0);
    QVERIFY(!model.restartNeeded());
}

/// They reach the run once it goes on; what was undone until then does not.
void TestConfigModel::editsWaitAtTheEnd() {
    ConfigModel model;
    model.setRunning(model.config());
    const RunConfig before = *model.running();
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    model.hold(true);
    set(model, "scaler.growth_interval", 1, QStringLiteral("9"));
    const ConfigModel::Edits nine = model.edits();
    set(model, "optimizer.lr", -1, QStringLiteral("0.25"));
    model.restore(nine);
    set(model, "scaler.mode", 1, QStringLiteral("off"));
    QCOMPARE(live.count(), 0);
    QVERIFY(configText(*model.running()) == configText(before));
    QVERIFY(!model.restartNeeded());
    RunConfig longer = before; // a change of the run that it had made before
    longer.patience = 7;
    model.follow(longer);
    QCOMPARE(model.config().patience, int64_t(7));
    QCOMPARE(model.config().lanes[1].scaler.rules.growthInterval, int64_t(9));
    model.hold(false);
    QVERIFY(live.count() > 0);
    QCOMPARE(model.running()->lanes[1].scaler.rules.mode, ScalerMode::Off);
    QCOMPARE(model.running()->optimizer.lr, before.optimizer.lr);
    // a rule of a scaler that waits waits with it, and not for a restart
    model.hold(true);
    set(model, "scaler.mode", 1, QStringLiteral("dynamic"));
    set(model, "scaler.growth_interval", 1, QStringLiteral("50"));
    QVERIFY(!model.restartNeeded());
    model.hold(false);
    QCOMPARE(model.running()->lanes[1].scaler.rules.growthInterval, int64_t(50));
}

/// A run checks each edit by itself: a ceiling below the floor that it has is refused, unless the
/// lower floor comes first.
void TestConfigModel::guardsReachTheRunInTurn() {
    ConfigModel model;
    RunConfig config = model.config();
    config.lanes[1].scaler.rules.floor = 1024;
    config.lanes[1].scaler.rules.ceiling = 1 << 20;
    model.load(config);
    RunConfig run = model.config();
    const auto rules = [&run] { return run.lanes[1].scaler.rules; };
    int refused = 0;
    connect(&model, &ConfigModel::liveEdited, &model,
            [&](int lane, const std::string& key, const FieldValue& value) {
                RunConfig next = run;
                setField(next, lane, key, value);
                try {
                    checkEdited(next, *findField(key));
                    run = next;
                } catch (const InputError&) {
                    ++refused;
                }
            });
    model.setRunning(run);
    model.hold(true);
    set(model, "scaler.floor", 1, QStringLiteral("16"));
    set(model, "scaler.ceiling", 1, QStringLiteral("512"));
    model.hold(false);
    QCOMPARE(refused, 0);
    QCOMPARE(rules().floor, 16.0);
    QCOMPARE(rules().ceiling, 512.0);
    model.hold(true); // and up again
    set(model, "scaler.ceiling", 1, QStringLiteral("4096"));
    set(model, "scaler.floor", 1, QStringLiteral("1024"));
    model.hold(false);
    QCOMPARE(refused, 0);
    QCOMPARE(rules().floor, 1024.0);
    model.startBuilding(); // edits made meanwhile are sent together, too
    set(model, "scaler.floor", 1, QStringLiteral("4"));
    set(model, "scaler.ceiling", 1, QStringLiteral("8"));
    model.setRunning(run);
    QCOMPARE(refused, 0);
    QCOMPARE(rules().floor, 4.0);
    QCOMPARE(rules().ceiling, 8.0);
    model.hold(true); // what no order makes right is sent all the same: the run says why
    set(model, "scaler.ceiling", 1, QStringLiteral("2"));
    model.hold(false);
    QCOMPARE(refused, 1);
    QCOMPARE(rules().ceiling, 8.0);
}

/// A run goes on to the last step that was set since its end, if that is behind it.
void TestConfigModel::lengthAtTheEnd() {
    ConfigModel model;
    RunConfig config = model.config();
    config.steps = 30;
    config.patience = 2;
    model.load(config);
    model.setRunning(model.config());
    model.hold(true);
    QVERIFY(!model.goesOn(30, 0));
    QCOMPARE(model.nextStop(30), int64_t(60));
    QVERIFY(!model.goesOn(29, 0)); // the last row has not arrived yet
    QCOMPARE(model.nextStop(29), int64_t(60));
    set(model, "run.steps", -1, QStringLiteral("45"));
    QVERIFY(model.goesOn(30, 0));
    QCOMPARE(model.nextStop(30), int64_t(45));
    set(model, "run.steps", -1, QStringLiteral("20"));
    QVERIFY(!model.goesOn(30, 0));
    QCOMPARE(model.nextStop(30), int64_t(60));
    // it has ended early
    set(model, "run.steps", -1, QStringLiteral("30"));
    QVERIFY(!model.goesOn(20, 2));
    set(model, "run.patience", -1, QStringLiteral("3"));
    QVERIFY(model.goesOn(20, 2));
    QCOMPARE(model.nextStop(20, true), int64_t(30));
    set(model, "run.steps", -1, QStringLiteral("10"));
    QVERIFY(!model.goesOn(20, 2));
}

/// What is edited while a scaler is off reaches it once it is on.
void TestConfigModel::rulesOfAScalerThatIsOff() {
    ConfigModel model;
    set(model, "scaler.growth_interval", 1, QStringLiteral("9"));
    set(model, "scaler.mode", 1, QStringLiteral("off"));
    const ConfigModel::Edits off = model.edits();
    set(model, "scaler.mode", 1, QStringLiteral("dynamic"));
    set(model, "scaler.growth_interval", 1, QStringLiteral("50"));
    model.setRunning(model.config());
    model.restore(off);
    QCOMPARE(model.running()->lanes[1].scaler.rules.mode, ScalerMode::Off);
    set(model, "scaler.mode", 1, QStringLiteral("dynamic"));
    QCOMPARE(model.running()->lanes[1].scaler.rules.mode, ScalerMode::Dynamic);
    QCOMPARE(model.running()->lanes[1].scaler.rules.growthInterval, int64_t(9));
}

/// A run that counts epochs is sent epochs, and steps only when the user sets those.
void TestConfigModel::lengthsInEpochs() {
    ConfigModel model;
    model.load(presetNamed("regression").config);
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    RunConfig built = model.config();
    built.steps = 1570; // as an Experiment sets it
    model.setRunning(built);
    QCOMPARE(live.count(), 0);
    QCOMPARE(model.text(model.rowOf("run.steps")), QStringLiteral("1570"));
    set(model, "task.batch", -1, QStringLiteral("100")); // waits: the run still has 1570 steps
    QCOMPARE(live.count(), 0);
    set(model, "task.batch", -1, QStringLiteral("64"));
    set(model, "run.epochs", -1, QStringLiteral("5"));
    QCOMPARE(live.count(), 1);
    QCOMPARE(live.back().at(1).value<std::string>(), std::string("run.epochs"));
    QCOMPARE(model.text(model.rowOf("run.steps")), QStringLiteral("785"));
    set(model, "run.steps", -1, QStringLiteral("1570")); // the value that it was built with
    QCOMPARE(live.count(), 2);
    QCOMPARE(live.back().at(1).value<std::string>(), std::string("run.steps"));
    QCOMPARE(model.config().epochs, int64_t{0});
    QCOMPARE(model.running()->epochs, int64_t{0});
    QCOMPARE(stepsOf(*model.running()), int64_t{1570});
    // its preset counts epochs, and so do the settings once the length is as it was
    const int length = model.rowOf("run.steps");
    const int64_t epochs = presetNamed("regression").config.epochs;
    QCOMPARE(model.presetText(length), QString::number(157 * epochs));
    set(model, "run.steps", -1, QStringLiteral("9"));
    model.resetToPreset(length);
    QCOMPARE(model.config().epochs, epochs);
    QCOMPARE(model.text(length), model.presetText(length));
}

void TestConfigModel::liveEditWhileBuilding() {
    ConfigModel model;
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    const RunConfig building = model.config();
    set(model, "scaler.growth_interval", 1, QStringLiteral("7"));
    model.setRunning(building); // built from the older value: the edit is sent after it
    QCOMPARE(live.count(), 1);
    QCOMPARE(live.front().at(0).toInt(), 1);
    model.setRunning(model.config());
    QCOMPARE(live.count(), 1);
}

void TestConfigModel::liveEditsAfterALaneWent() {
    ConfigModel model;
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    model.addLane(); // fp32, amp-fp16, amp-fp16
    model.startBuilding();
    const RunConfig building = model.config();
    model.removeLane(1); // while it is built
    model.setRunning(building);
    QCOMPARE(live.count(), 0);
    QVERIFY(model.restartNeeded());
    // settings of the whole run still reach it, and a lane's settings reach the lane that they were
    // for
    set(model, "run.steps", -1, QStringLiteral("77"));
    QCOMPARE(live.count(), 1);
    set(model, "scaler.growth_interval", 1, QStringLiteral("9"));
    QCOMPARE(live.count(), 2);
    QCOMPARE(live.back().at(0).toInt(), 2);
    QCOMPARE(model.running()->lanes[2].scaler.rules.growthInterval, int64_t(9));
    QVERIFY(model.running()->lanes[1].scaler.rules.growthInterval != 9);
    // no lane looks changed because its letter is another one now
    QVERIFY(!get(model, "precision", 1, ConfigModel::WaitingRole).toBool());
}

void TestConfigModel::laneThatComesDoesNotReachTheRun() {
    ConfigModel model;
    QSignalSpy live(&model, &ConfigModel::liveEdited);
    model.setRunning(model.config()); // fp32, amp-fp16
    model.removeLane(0);
    model.addLane(); // as many lanes as run, but other ones
    QVERIFY(model.restartNeeded());
    set(model, "scaler.growth_interval", 1, QStringLiteral("5"));
    QCOMPARE(live.count(), 0);
    set(model, "scaler.growth_interval", 0, QStringLiteral("6"));
    QCOMPARE(live.count(), 1);
    QCOMPARE(live.back().at(0).toInt(), 1);
    // while the next run is built, nothing is sent to the earlier one
    model.startBuilding();
    set(model, "scaler.growth_interval", 0, QStringLiteral("7"));
    QCOMPARE(live.count(), 1);
}

void TestConfigModel::lanes() {
    ConfigModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    const int before = model.rowCount();
    set(model, "scaler.init_scale", 1, QStringLiteral("1024"));
    while (model.addLane()) {
    }
    QCOMPARE(static_cast<int>(model.config().lanes.size()), ConfigModel::kMostLanes);
    QCOMPARE(get(model, "scaler.init_scale", 5, Qt::EditRole).toString(), QStringLiteral("2^10"));
    QVERIFY(get(model, "scaler.init_scale", 5, ConfigModel::ChangedRole).toBool());
    QVERIFY(model.removeLane(0));
    QCOMPARE(get(model, "precision", 0, Qt::EditRole).toString(), QStringLiteral("amp-fp16"));
    QVERIFY(!get(model, "precision", 0, ConfigModel::ChangedRole).toBool());
    while (model.removeLane(0)) {
    }
    QCOMPARE(static_cast<int>(model.config().lanes.size()), 1);
    QVERIFY(model.rowCount() < before);
    QVERIFY(!model.removeLane(-1));
    checkConfig(model.config());
}

void TestConfigModel::saysWhyNothingCanBeTrained() {
    ConfigModel model;
    QCOMPARE(model.trainingObstacle(), QString());
    set(model, "task.loss", -1, QStringLiteral("cross-entropy")); // allowed beside other data
    QVERIFY2(model.trainingObstacle().contains(QStringLiteral("\"Loss\"")),
             qPrintable(model.trainingObstacle()));
    QVERIFY(!set(model, "model.width", -1, QStringLiteral("many"))); // is not set
    model.resetToPreset(model.rowOf("task.loss"));
    QCOMPARE(model.trainingObstacle(), QString());
}

void TestConfigModel::appliesFollowsEdits() {
    ConfigModel model;
    QVERIFY(get(model, "task.frequency", -1, ConfigModel::AppliesRole).toBool());
    QVERIFY(!get(model, "task.image", -1, ConfigModel::AppliesRole).toBool());
    set(model, "data.kind", -1, QStringLiteral("image"));
    QVERIFY(!get(model, "task.frequency", -1, ConfigModel::AppliesRole).toBool());
    QVERIFY(get(model, "task.image", -1, ConfigModel::AppliesRole).toBool());
    QVERIFY(!get(model, "scaler.growth_interval", 0, ConfigModel::AppliesRole).toBool()); // fp32
    QVERIFY(get(model, "scaler.growth_interval", 1, ConfigModel::AppliesRole).toBool());
}

} // namespace tst_config_model

QTEST_GUILESS_MAIN(tst_config_model::TestConfigModel)
#include "tst_config_model.moc"
