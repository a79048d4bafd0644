// Sentences about lanes whose gradients rounded to zero, each of several lanes where they share it.
#include "engine/settings/fields.h"
#include "tests/support/shown_lanes.h"
#include "ui/models/event_model.h"
#include "ui/models/zero_gradient_words.h"

#include <QTest>

#include <array>

namespace tst_zero_gradients {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns settings of four lanes: A in FP32, and B, C and D in fp16. The scaler of D is as given.
RunConfig fourLanes(ScalerMode ofTheLast = ScalerMode::Dynamic) {
    RunConfig config = defaultConfig();
    config.lanes.resize(4, config.lanes[1]);
    config.lanes[3].scaler.rules.mode = ofTheLast;
    return config;
}

} // namespace

class TestZeroGradients : public QObject {
    Q_OBJECT
private slots:
    void nearlyAllZero();
    void someGradientsLost();
    void anotherScaleIsNotBlamed();
    void unscaledEightBits();
    void lanesShareASentence();
    void lanesShareAnUnderflow();
    void underflowNowAndThen();
    void underflowIsOver();
};

/// Such a lane has no event, because some of its gradients are left.
void TestZeroGradients::nearlyAllZero() {
    RunModel model;
    const auto run = shownIn(model);
    for (const int64_t zeros : {40, 100}) {
        RunBatch counted;
        counted.gradients = {{rangeOf(DType::F32, 40, 0), rangeOf(DType::F16, zeros, 0)}};
        for (GradientRange& range : counted.gradients[0])
            range.step = zeros;
        run->append(std::move(counted));
        model.refresh();
        QCOMPARE(model.summary().endsWith(
                     QLatin1String("of the gradients of B are zero: its loss scale is too small.")),
                 zeros == 100);
        QCOMPARE(lostGradientsTexts(model),
                 zeros == 100
                     ? QStringList({QStringLiteral("100\u00a0% of the gradients of B are zero: "
                                                   "its loss scale is too small."),
                                    QStringLiteral("Nearly all gradients of B are zero.")})
                     : QStringList());
        if (zeros == 100) // few words have no figures, as with more lanes
            QCOMPARE(model.summaries().last(),
                     QStringLiteral("Nearly all gradients of B are zero."));
    }
}

/// A lane that still learns is told of, too, beside the one that keeps most.
void TestZeroGradients::someGradientsLost() {
    RunModel model;
    const auto run = shownIn(model);
    RunBatch counted;
    counted.gradients = {{rangeOf(DType::F32, 36, 0), rangeOf(DType::F16, 73, 0)}};
    run->append(std::move(counted));
    model.refresh();
    const QString text = lostGradientsTexts(model).value(0).replace(QChar::Nbsp, u' ');
    QCOMPARE(text, QStringLiteral("73 % of the gradients of B are zero (A: 36 %): its loss scale "
                                  "is too small."));
    QVERIFY2(model.summary().replace(QChar::Nbsp, u' ').endsWith(u' ' + text),
             qPrintable(model.summary()));
}

/// What was counted at another scale says nothing of the present one.
void TestZeroGradients::anotherScaleIsNotBlamed() {
    RunConfig config = defaultConfig();
    config.lanes[1].scaler.rules.mode = ScalerMode::Static;
    RunModel model;
    const auto run = shownIn(model, config);
    RunBatch counted;
    counted.rows = {rowAt(1, 0, 1), rowAt(1, 1, 0x1p-10F)};
    counted.gradients = {{rangeOf(DType::F32, 36, 0), rangeOf(DType::F16, 100, 0)}};
    counted.gradients[0][1].scale = 0x1p-10F;
    run->append(std::move(counted));
    model.refresh();
    QCOMPARE(lostGradientsTexts(model).size(), qsizetype(2));
    RunBatch later;
    later.rows = {rowAt(2, 0, 1), rowAt(2, 1, 0x1p15F)};
    run->append(std::move(later));
    model.refresh();
    QCOMPARE(lostGradientsTexts(model), QStringList());
}

/// Scales of the tensors come before one of the loss, whether the loss is scaled or not.
void TestZeroGradients::unscaledEightBits() {
    for (const ScalerMode mode : {ScalerMode::Off, ScalerMode::Static}) {
        RunConfig config = defaultConfig();
        config.lanes[1].precision = Precision::Fp8;
        config.lanes[1].fp8Scaling = Fp8Scaling::None;
        config.lanes[1].scaler.rules.mode = mode;
        RunModel model;
        const auto run = shownIn(model, config);
        RunBatch counted;
        counted.gradients = {{rangeOf(DType::F32, 0, 0), rangeOf(DType::F16, 62, 0)}};
        run->append(std::move(counted));
        model.refresh();
        QCOMPARE(lostGradientsTexts(model).value(0).replace(QChar::Nbsp, u' '),
                 QStringLiteral("62 % of the gradients of B are zero (A: 0 %): its FP8 scaling is "
                                "none. Set FP8 scaling to dynamic."));
    }
}

/// Three sentences would not fit above the pictures.
void TestZeroGradients::lanesShareASentence() {
    const auto textsOf = [](const std::array<int64_t, 4>& zeros, ScalerMode ofTheLast) {
        const RunConfig config = fourLanes(ofTheLast);
        const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
        RunModel model;
        model.setRun(run);
        RunBatch counted;
        counted.gradients.emplace_back();
        for (const int64_t share : zeros)
            counted.gradients[0].push_back(
                rangeOf(counted.gradients[0].empty() ? DType::F32 : DType::F16, share, 0));
        run->append(std::move(counted));
        model.refresh();
        const QStringList texts =
            lostGradientsTexts(model).replaceInStrings(QString(QChar::Nbsp), QStringLiteral(" "));
        return QStringList{texts.value(0), texts.value(1), model.summaries().last()};
    };
    const QString nearlyAll = QStringLiteral("Nearly all gradients of B, C and D are zero.");
    QCOMPARE(textsOf({40, 100, 100, 99}, ScalerMode::Dynamic),
             QStringList({QStringLiteral("Nearly all of the gradients of B, C and D are zero: "
                                         "their loss scales are too small."),
                          nearlyAll, nearlyAll}));
    QCOMPARE(textsOf({40, 100, 100, 100}, ScalerMode::Off),
             QStringList({QStringLiteral("100 % of the gradients of B and C are zero: their loss "
                                         "scales are too small. 100 % of the gradients of D are "
                                         "zero: it does not scale its loss. Switch its loss "
                                         "scaling on."),
                          nearlyAll, nearlyAll}));
    const QString many = QStringLiteral("Many gradients of B, C and D round to zero.");
    QCOMPARE(textsOf({36, 73, 80, 91}, ScalerMode::Dynamic),
             QStringList({QStringLiteral("73 % of the gradients of B, 80 % of those of C and 91 % "
                                         "of those of D are zero (A: 36 %): their loss scales are "
                                         "too small."),
                          many, many}));
}

/// Few words leave out figures that set lanes apart.
void TestZeroGradients::lanesShareAnUnderflow() {
    const RunConfig config = fourLanes();
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    RunModel model;
    model.setRun(run);
    RunBatch batch;
    for (int64_t step = 1; step <= 9; ++step)
        for (const int lane : {1, 2, 3}) {
            const bool zero = step == 4 || (step == 8 && lane < 3);
            batch.rows.push_back(
                rowAt(step, lane, 1).set(metric::GradientNorm, zero ? 0.0f : 1.0f));
        }
    for (const int lane : {1, 2, 3})
        batch.events.push_back({EventKind::Underflow, 4, lane, 1, 1, {}, {}});
    run->append(std::move(batch));
    model.refresh();
    QVERIFY2(model.summary().endsWith(QLatin1String(
                 " In 2 of 9 updates, first at step 4, all gradients of B and C rounded to zero: "
                 "their loss scales were too small. At step 4 all gradients of D rounded to zero: "
                 "its loss scale was too small.")),
             qPrintable(model.summary()));
    QCOMPARE(model.summaries().last(),
             QStringLiteral("All gradients of B, C and D rounded to zero at times: their loss "
                            "scales were too small."));
}

/// The first step is told, and how often it happened.
void TestZeroGradients::underflowNowAndThen() {
    RunModel model;
    const auto run = shownIn(model);
    RunBatch batch;
    for (int64_t step = 1; step <= 9; ++step)
        batch.rows.push_back(
            rowAt(step, 1, 1).set(metric::GradientNorm, step == 4 || step == 8 ? 0.0f : 1.0f));
    batch.events = {{EventKind::Underflow, 4, 1, 1, 1, {}, {}},
                    {EventKind::Underflow, 8, 1, 1, 1, {}, {}}};
    run->append(std::move(batch));
    model.refresh();
    QVERIFY2(model.summary().endsWith(QLatin1String(
                 " In 2 of 9 updates, first at step 4, all gradients of B rounded to zero: its "
                 "loss scale was too small.")),
             qPrintable(model.summary()));
}

/// After an overflow of the same lane, or another loss scale, its explanation would mislead; that
/// of an overflow likewise.
void TestZeroGradients::underflowIsOver() {
    const RunConfig config = fourLanes();
    const auto gravestWith = [&](EventKind first, int lane, EventKind kind, const char* tensor) {
        const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
        RunBatch batch;
        Event later{kind, 8, lane, 1, 1, {}, {}};
        later.tensor = tensor;
        batch.events = {{first, 4, 1, 1, 1, {}, {}}, later};
        run->append(std::move(batch));
        EventModel events;
        events.setRun(run);
        return events.gravest() ? events.gravest()->step : 0;
    };
    using enum EventKind;
    const char* const overflowed = "gradient of 4.bias";
    QCOMPARE(gravestWith(Underflow, 2, Overflow, overflowed), int64_t{4});
    QCOMPARE(gravestWith(Underflow, 1, Overflow, overflowed), int64_t{8});
    for (const EventKind first : {Underflow, Overflow}) {
        QCOMPARE(gravestWith(first, 1, Edit, "optimizer.lr"), int64_t{4});
        QCOMPARE(gravestWith(first, 2, Edit, kLiveScale), int64_t{4});
        QCOMPARE(gravestWith(first, 1, Edit, kLiveScale), int64_t{0});
    }
}

} // namespace tst_zero_gradients

QTEST_GUILESS_MAIN(tst_zero_gradients::TestZeroGradients)
#include "tst_zero_gradients.moc"
