// Maps of settings: cells against single runs, the choice of lanes, stops, cells that fail, limits,
// the table of a map, and cells that become lanes.
#include "engine/core/error.h"
#include "engine/runs/column.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "engine/train/setting_grid.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QTest>

#include <bit>

namespace tst_setting_grid {

using namespace halfscope;
using halfscope::test::skippingRegression;

namespace {

constexpr size_t kAmp = 1; // the lane of skippingRegression() that scales

std::vector<Sweep> sweepsOf(std::initializer_list<const char*> texts) {
    std::vector<Sweep> sweeps;
    for (const char* text : texts)
        sweeps.push_back(parseSweep(text, SweptBy::Trainings));
    return sweeps;
}

GridCells trained(const SettingGrid& grid) {
    GridCells cells(grid.cells());
    GridListener listener;
    listener.finished = [&](size_t cell, const GridCell& one) { cells[cell] = one; };
    if (!trainGrid(grid, listener)) cells.clear();
    return cells;
}

/// Counts the gradients of a run like this at the last steps.
void addCounts(GridCell& cell, const RunConfig& config, int lane) {
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::vector<double> zeros, errors;
    while (!experiment.finished()) {
        experiment.advance(records, events);
        const int64_t steps = experiment.config().steps, left = steps - experiment.step();
        // at most 9 counts, no more than one for 8 steps, and one for fewer than those
        const int64_t first = steps >= 72 ? 24 : steps >= 16 ? 3 * (steps / 8 - 1) : 0;
        if (left > first || left % 3 != 0) continue;
        const GradientRange next = experiment.gradientRanges(true).at(static_cast<size_t>(lane));
        if (next.error) errors.push_back(*next.error);
        if (next.notFinite() == 0)
            zeros.push_back(static_cast<double>(next.zeros()) / static_cast<double>(next.total()));
    }
    if (!zeros.empty()) cell.zeroGradients = medianWithNan(zeros);
    if (!errors.empty()) cell.gradientError = medianWithNan(errors);
}

/// What a run with these settings comes to, lane by lane.
GridCell runOf(const RunConfig& config, int lane) {
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    LatestLosses losses;
    GridCell cell;
    for (const StepRecord& record : records) {
        if (record.lane != lane) continue;
        losses.add(static_cast<double>(record.loss));
        cell.lastLoss = static_cast<double>(record.loss);
        cell.score.skipped = record.skippedSoFar;
        if (record.validation) {
            cell.score.validationLoss = record.validation->loss;
            cell.score.accuracy = record.validation->accuracy;
        }
        ++cell.steps;
    }
    cell.score.loss = losses.median();
    cell.scale = experiment.lane(lane).scaler().scale;
    addCounts(cell, config, lane);
    return cell;
}

bool sameBits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool sameCells(const GridCell& a, const GridCell& b) {
    return sameBits(a.score.loss, b.score.loss) && sameBits(a.lastLoss, b.lastLoss) &&
           a.score.skipped == b.score.skipped && a.scale == b.scale && a.steps == b.steps &&
           a.zeroGradients == b.zeroGradients && a.gradientError == b.gradientError &&
           a.score.validationLoss == b.score.validationLoss && a.score.accuracy == b.score.accuracy;
}

} // namespace

class TestSettingGrid : public QObject {
    Q_OBJECT

private slots:
    /// The lanes of a run with the same settings have the same bits, whatever else the run has.
    void cellsEqualRuns() {
        const RunConfig config = skippingRegression();
        const SettingGrid grid(
            config, kAmp,
            sweepsOf({"scaler.init_scale=2^4,2^22", "scaler.growth_interval=3,1000"}));
        QCOMPARE(grid.rows(), size_t{2});
        QCOMPARE(grid.columns(), size_t{2});
        const GridCells cells = trained(grid);
        QCOMPARE(cells.size(), size_t{4});
        for (size_t cell = 0; cell < cells.size(); ++cell) {
            RunConfig run = config; // with FP32 beside it
            setField(run, 1, "scaler.init_scale", cell < 2 ? 0x1p4 : 0x1p22);
            setField(run, 1, "scaler.growth_interval", int64_t{cell % 2 == 0 ? 3 : 1000});
            QVERIFY2(sameCells(*cells[cell], runOf(run, 1)), qPrintable(QString::number(cell)));
            QVERIFY(cells[cell]->outcome == CellOutcome::Finished);
            QCOMPARE(cells[cell]->steps, config.steps);
        }
        QVERIFY(*cells[0]->scale > *cells[1]->scale); // which grew
        QVERIFY(cells[0]->score.loss != cells[2]->score.loss);
        QVERIFY(cells[2]->score.skipped > 0 && cells[1]->score.skipped == 0);
    }

    /// A preset of a map leaves what was given beside it to this lane.
    void presetsLeaveWhatIsGiven() {
        std::vector<Sweep> sweeps = sweepsOf({"scaler.preset=keras,megatron"});
        for (const char* given : {"scaler.growth_interval=7", "lanes.0.scaler.floor=2"})
            sweeps[0].given.push_back(parseAssignment(given));
        const SettingGrid grid(skippingRegression(), kAmp, sweeps);
        const ScalerRules rules = grid.config(1).lanes[0].scaler.rules;
        QCOMPARE(rules.growthInterval, int64_t{7});
        QCOMPARE(rules.hysteresis, int64_t{2});
        QCOMPARE(rules.floor, 1.0);
    }

    /// A smaller scale loses more gradients to zero, and a lane in float32 has no error.
    void gradientsOfCells() {
        const RunConfig config = presetNamed("static-scales").config;
        const SettingGrid grid(config, 1, sweepsOf({"scaler.init_scale=2^-12,1,2^10"}), 30);
        const GridCells cells = trained(grid);
        QCOMPARE(cells.size(), size_t{3});
        for (const auto& cell : cells)
            QVERIFY(cell->zeroGradients && cell->gradientError);
        QVERIFY(*cells[0]->zeroGradients > 0.5 && *cells[1]->zeroGradients < 0.5);
        QVERIFY(*cells[0]->gradientError > 10 * *cells[2]->gradientError);
        const GridCells broken =
            trained(SettingGrid(config, 1, sweepsOf({"scaler.init_scale=2^40"}), 5));
        QVERIFY(!broken.at(0)->zeroGradients && !broken[0]->gradientError);
        const SettingGrid full(config, 1, sweepsOf({"precision=fp32"}), 5);
        const GridCells wide = trained(full);
        QVERIFY(wide.at(0)->zeroGradients && !wide[0]->gradientError);
        QVERIFY(gridCsv(full, wide).find(",5,finished,") != std::string::npos);
    }

    /// Of a training that ended before its time, the gradients after its last step are counted.
    void gradientsWhereOneEndedEarly() {
        RunConfig config = presetNamed("moons").config;
        config.device = "cpu";
        config.steps = 2000; // its last steps are far away
        config.optimizer.lr = 0.1;
        config.patience = 1;
        const GridCells cells =
            trained(SettingGrid(config, kAmp, sweepsOf({"scaler.init_scale=2^10"})));
        QVERIFY(cells.at(0)->steps < 1000 && !cells[0]->reason.empty());
        QVERIFY(cells[0]->zeroGradients && cells[0]->gradientError);
    }

    /// A cell that comes first although more of its gradients are zero is no proof.
    void zerosSetTheBestInDoubt() {
        const SettingGrid grid(skippingRegression(), kAmp, sweepsOf({"scaler.init_scale=1,2"}));
        const auto cell = [](double loss, std::optional<double> zeros) {
            return GridCell{.score = {{}, {}, loss, 0}, .zeroGradients = zeros};
        };
        const auto words = [&](const GridCells& cells) {
            return QString::fromStdString(zerosOfBest(grid, cells).english());
        };
        QCOMPARE(words({cell(1, 0.604), cell(2, 0.422)}),
                 QStringLiteral("In the best cell, 60 % of the gradients are zero, in others as "
                                "few as 42 %: that it does best may be chance"));
        QVERIFY(!words({cell(1, 0.6), cell(2, 0.5)}).isEmpty());
        QVERIFY(words({cell(1, 0.999), cell(2, 0.5)}).contains(QStringLiteral(", 99 % of")));
        QCOMPARE(words({cell(1, 0.6), cell(2, 0.51)}), QString());
        QCOMPARE(words({cell(2, 0.6), cell(1, 0.1)}), QString()); // the best has the fewest
        QCOMPARE(words({cell(1, {}), cell(2, 0.1)}), QString());
        QCOMPARE(words({cell(1, 0.6), cell(2, {})}), QString());
        QCOMPARE(words({cell(1, 0.6), cell(NAN, 0.1)}), QString());
        QCOMPARE(words({cell(1, 0.6), std::nullopt}), QString());
        // with a rate at which units die, zeros are right
        const SettingGrid rates(skippingRegression(), kAmp, sweepsOf({"optimizer.lr=0.1,0.2"}));
        QVERIFY(zerosOfBest(rates, {cell(1, 0.6), cell(2, 0.1)}).empty());
    }

    /// An accuracy that guesses reach, too, is no proof either: 30 of 120 with 4 equal classes, of
    /// which two standard deviations are 9.5.
    void anAccuracyThatMayBeChance() {
        const auto cell = [](int64_t right, int64_t most) {
            return GridCell{.score = {double(right) / 120, 1.0, 1, 0},
                            .classes = JudgedClasses{120, right, most}};
        };
        const auto words = [&](const GridCells& cells) {
            return QString::fromStdString(chanceOfBest(cells).english());
        };
        QCOMPARE(words({cell(30, 30), cell(34, 30)}),
                 QStringLiteral("In the best cell, 34 of 120 predicted classes are right, and "
                                "always naming the most frequent class gets 30 right: its accuracy "
                                "may be chance"));
        QVERIFY(!words({cell(39, 30)}).isEmpty());
        QCOMPARE(words({cell(40, 30), cell(34, 30)}), QString());
        QVERIFY(!words({cell(110, 108)}).isEmpty());                     // of rare classes
        QVERIFY(!words({cell(120, 120)}).isEmpty());                     // all of one class
        QCOMPARE(words({GridCell{.score = {{}, {}, 1, 0}}}), QString()); // of numbers
        QCOMPARE(words({std::nullopt}), QString());
    }

    /// A cell is a run of its own, so it may differ from the others in settings of the run, too.
    void learningRatesAndPrecisions() {
        const RunConfig config = skippingRegression();
        const SettingGrid grid(config, kAmp,
                               sweepsOf({"optimizer.lr=0.001,0.02", "precision=amp-fp16,bf16"}));
        const GridCells cells = trained(grid);
        QCOMPARE(cells.size(), size_t{4});
        for (size_t cell = 0; cell < cells.size(); ++cell) {
            RunConfig run = config;
            run.lanes = {config.lanes[kAmp]};
            setField(run, -1, "optimizer.lr", cell < 2 ? 0.001 : 0.02);
            setField(run, 0, "precision", std::string(cell % 2 == 0 ? "amp-fp16" : "bf16"));
            GridCell alone = runOf(run, 0);
            if (cell % 2 == 1) alone.scale.reset(); // bf16 has none
            QVERIFY2(sameCells(*cells[cell], alone), qPrintable(QString::number(cell)));
        }
        QVERIFY(cells[0]->score.loss != cells[2]->score.loss);
    }

    /// All lanes of a run have one learning rate: that of the cells.
    void cellsThatSetTheRun() {
        RunConfig config = skippingRegression();
        const SettingGrid grid(config, kAmp,
                               sweepsOf({"optimizer.lr=0.001,0.02", "scaler.init_scale=2^4,2^8"}));
        const std::vector<size_t> ofOneRate{2, 3}, ofTwo{0, 3};
        const RunConfig before = config;
        QVERIFY(thrownBy<InputError>([&] {
                    applyCells(config, grid, ofTwo);
                }).starts_with("optimizer.lr is the same in all lanes of a run"));
        QCOMPARE(config.lanes.size(), before.lanes.size());
        QCOMPARE(config.optimizer.lr, before.optimizer.lr);
        applyCells(config, grid, ofOneRate);
        QCOMPARE(config.optimizer.lr, 0.02);
        QCOMPARE(config.lanes.size(), size_t{3}); // FP32 beside them
        QCOMPARE(config.lanes[1].scaler.initScale, 0x1p4);
        QCOMPARE(config.lanes[2].scaler.initScale, 0x1p8);
    }

    void aShorterMapHasAScheduleOfItsLength() {
        RunConfig config = skippingRegression();
        config.schedule.kind = ScheduleKind::OneCycle;
        const SettingGrid grid(config, kAmp, sweepsOf({"scaler.init_scale=2^4"}), 7);
        const GridCells cells = trained(grid);
        config.steps = 7;
        config.lanes = {config.lanes[1]};
        config.lanes[0].scaler.initScale = 0x1p4;
        QVERIFY(sameCells(*cells.at(0), runOf(config, 0)));
        QCOMPARE(cells[0]->steps, int64_t{7});
        QVERIFY(cells[0]->zeroGradients); // one count at the end
    }

    void classesAreJudged() {
        RunConfig config = presetNamed("moons").config;
        config.device = "cpu";
        const SettingGrid grid(config, kAmp, sweepsOf({"scaler.init_scale=2^10,2^60"}), 30);
        const GridCells cells = trained(grid);
        QVERIFY(cells.at(0)->score.accuracy && cells[0]->score.validationLoss);
        QVERIFY(*cells[0]->score.accuracy > *cells.at(1)->score.accuracy);
        QCOMPARE(rankedCells(cells), (std::vector<size_t>{0, 1}));
        for (const auto& cell : cells) {
            QVERIFY(cell->classes && cell->classes->all > 0);
            QCOMPARE(double(cell->classes->right) / double(cell->classes->all),
                     *cell->score.accuracy);
            QVERIFY(cell->classes->mostFrequent * 2 >= cell->classes->all); // of two classes
            QVERIFY(cell->classes->mostFrequent < cell->classes->all);
        }
    }

    /// A preset of the scaler sets the other settings, so it is set before them.
    void presetsComeFirst() {
        const RunConfig config = skippingRegression();
        const auto sweeps = sweepsOf({"scaler.growth_interval=5,7", "scaler.preset=pytorch,apex"});
        const SettingGrid grid(config, kAmp, sweeps);
        for (size_t cell = 0; cell < grid.cells(); ++cell)
            QCOMPARE(grid.config(cell).lanes[0].scaler.rules.growthInterval,
                     int64_t{cell < 2 ? 5 : 7});
        QVERIFY(!sameSettings(grid.config(0), 0, grid.config(1), 0));
    }

    void lanesInWhichSettingsMeanSomething() {
        RunConfig config = skippingRegression();
        const auto scale = sweepsOf({"scaler.init_scale=1,2"});
        QCOMPARE(lanesForSweeps(config, scale), (std::vector<size_t>{1}));
        config.lanes.push_back(config.lanes[1]);
        QCOMPARE(lanesForSweeps(config, scale), (std::vector<size_t>{1, 2}));
        config.lanes[2].scaler.rules.mode = ScalerMode::Static;
        QCOMPARE(lanesForSweeps(config, sweepsOf({"scaler.growth_interval=1,2"})),
                 (std::vector<size_t>{1}));
        // there are dynamic lanes in this map
        QCOMPARE(lanesForSweeps(config, sweepsOf({"scaler.growth_interval=1,2",
                                                  "scaler.mode=static,dynamic"})),
                 (std::vector<size_t>{1, 2}));
    }

    /// A setting may mean something beside some values of the other one only.
    void cellsInWhichASettingMeansNothing() {
        const auto words = [](std::initializer_list<const char*> sweeps) {
            const SettingGrid grid(skippingRegression(), kAmp, sweepsOf(sweeps));
            return QString::fromStdString(idleInCells(grid).english());
        };
        QCOMPARE(words({"scaler.mode=static,dynamic", "scaler.growth_interval=1,2,3"}),
                 QStringLiteral("Without effect in 3 of 6 cells: scaler.growth_interval"));
        QCOMPARE(words({"scaler.init_scale=1,2", "scaler.mode=off,static,dynamic"}),
                 QStringLiteral("Without effect in 2 of 6 cells: scaler.init_scale"));
        QCOMPARE(words({"scaler.init_scale=1,2", "scaler.growth_interval=1,2"}), QString());
    }

    void endsWithinAStep() {
        const SettingGrid grid(skippingRegression(), kAmp, sweepsOf({"scaler.init_scale=1,2,4,8"}));
        std::stop_source stop;
        GridListener listener;
        int finished = 0, after = 0;
        listener.stepped = [&](size_t cell, int64_t step) {
            after += stop.stop_requested() ? 1 : 0;
            if (cell == 1 && step == 5) stop.request_stop();
        };
        listener.finished = [&](size_t, const GridCell&) { ++finished; };
        QVERIFY(!trainGrid(grid, listener, stop.get_token()));
        QCOMPARE(finished, 1); // the cell that was being trained is not told
        QCOMPARE(after, 0);
        QVERIFY(!trainGrid(grid, listener, stop.get_token())); // before it begins
        QCOMPARE(finished, 1);
    }

    void aCellThatFailsLeavesTheOthers() {
        RunConfig config = skippingRegression();
        config.lanes[1].scaler.rules.floor = 16; // a first scale below it is refused
        const SettingGrid grid(config, kAmp, sweepsOf({"scaler.init_scale=2^10,4,2^12"}));
        const GridCells cells = trained(grid);
        QVERIFY(cells.at(0)->outcome == CellOutcome::Finished);
        QVERIFY(cells.at(1)->outcome == CellOutcome::Failed);
        QVERIFY(cells.at(2)->outcome == CellOutcome::Finished);
        QVERIFY2(cells[1]->reason.english().find("scaler.init_scale") != std::string::npos,
                 cells[1]->reason.english().c_str());
        QCOMPARE(rankedCells(cells).size(), size_t{2});
        const std::string csv = gridCsv(grid, cells);
        QVERIFY2(csv.find("\n4,,,,,,,,,,failed,") != std::string::npos, csv.c_str());
    }

    void aCellMayStopEarly() {
        RunConfig config = skippingRegression();
        ScalerConfig& scaler = config.lanes[1].scaler;
        scaler.rules.floor = 0x1p20;
        scaler.rules.atFloor = FloorAction::Stop;
        const SettingGrid grid(config, kAmp, sweepsOf({"scaler.floor=2^22,0"}));
        const GridCells cells = trained(grid);
        QVERIFY(cells.at(0)->outcome == CellOutcome::Stopped);
        QVERIFY(cells[0]->steps < config.steps && cells[0]->steps > 0);
        QVERIFY(cells[0]->reason.english().find("reached its floor") != std::string::npos);
        QVERIFY(cells.at(1)->outcome == CellOutcome::Finished);
        QCOMPARE(rankedCells(cells), (std::vector<size_t>{1, 0})); // a shorter training comes last
        QCOMPARE(bestCell(cells), std::optional<size_t>(1));
        QCOMPARE(bestCell({cells[0], std::nullopt}), std::nullopt);
        QCOMPARE(bestCell({std::nullopt, cells[1]}), std::optional<size_t>(1));
    }

    void aCellThatIsNotFiniteIsNeverTheBest() {
        const GridCell lost{.score = {0.9, NAN, NAN, 30}}, fair{.score = {0.1, 2.0, 2.0, 0}};
        QCOMPARE(bestCell({lost, lost}), std::nullopt);
        QCOMPARE(bestCell({lost, fair}), std::optional<size_t>(1));
        QCOMPARE(rankedCells({lost, fair}), (std::vector<size_t>{1, 0}));
    }

    /// An error that all cells have in common is no map of failures.
    void dataThatCannotBeRead() {
        RunConfig config = skippingRegression();
        config.task.kind = TaskKind::Csv;
        config.task.path = "/no/such/table.csv";
        const SettingGrid grid(config, kAmp, sweepsOf({"scaler.init_scale=1,2"}));
        const std::string text = thrownBy<InputError>([&] { trained(grid); });
        QVERIFY2(text.find("/no/such/table.csv") != std::string::npos, text.c_str());
    }

    void limits_data() {
        QTest::addColumn<QStringList>("sweeps");
        QTest::addColumn<int>("lane");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const QStringList& sweeps, int lane,
                            const char* message) {
            QTest::newRow(name) << sweeps << lane << QString::fromUtf8(message);
        };
        QStringList numbers;
        for (int i = 1; i <= 21; ++i)
            numbers << QString::number(i);
        const QString many = numbers.join(u',');
        const QString scale = QStringLiteral("scaler.init_scale=1,2");
        row("none", {}, 1, "A map has one or two settings, not 0");
        row("three",
            {scale, QStringLiteral("scaler.growth_interval=1,2"),
             QStringLiteral("scaler.floor=0,1")},
            1, "A map has one or two settings, not 3");
        row("twice", {scale, QStringLiteral("scaler.init_scale=4")}, 1,
            "scaler.init_scale is given twice: a map has two different settings");
        row("too many",
            {QStringLiteral("scaler.init_scale=") + many,
             QStringLiteral("scaler.growth_interval=") + many},
            1,
            "These values make a map of 441 cells, and a map has at most 400: give fewer values");
        row("no meaning", {scale}, 0, "scaler.init_scale means nothing in lane fp32");
    }

    void limits() {
        QFETCH(const QStringList, sweeps);
        QFETCH(const int, lane);
        QFETCH(const QString, message);
        const std::string text = thrownBy<InputError>([&] {
            std::vector<Sweep> parsed;
            for (const QString& each : sweeps)
                parsed.push_back(parseSweep(each.toStdString()));
            const SettingGrid grid(skippingRegression(), static_cast<size_t>(lane), parsed);
        });
        QCOMPARE(QString::fromStdString(text), message);
    }

    void table() {
        const SettingGrid grid(
            skippingRegression(), kAmp,
            sweepsOf({"scaler.init_scale=2^10", "scaler.growth_interval=20,30"}));
        GridCells cells(2);
        QCOMPARE(gridCsv(grid, cells).find('\n') + 1, gridCsv(grid, cells).size()); // the header
        cells[1] = GridCell{.score = {0.5, 0.25, 0.125, 3},
                            .lastLoss = 2,
                            .scale = 1024.0f,
                            .zeroGradients = 0.75,
                            .gradientError = 0.0625,
                            .steps = 24};
        QCOMPARE(QString::fromStdString(gridCsv(grid, cells)),
                 QStringLiteral("scaler.init_scale,scaler.growth_interval,loss,last_loss,"
                                "validation_loss,accuracy,skipped_steps,final_scale,"
                                "zero_gradients,gradient_error,steps,outcome,reason\n"
                                "1024,30,0.125,2,0.25,0.5,3,1024,0.75,0.0625,24,finished,\n"));
        QCOMPARE(QString::fromStdString(cellText(grid, 1)),
                 QStringLiteral("init_scale 2^10, growth_interval 30"));
    }

    /// Lanes made of cells take the place of the mapped lane, and of those made before.
    void cellsBecomeLanes() {
        RunConfig config = skippingRegression();
        config.forks.push_back({5, 1, 0, config.lanes[1]});
        const SettingGrid grid(config, kAmp, sweepsOf({"scaler.init_scale=1,2,4,8,16,32"}));
        const auto scales = [&config] {
            std::vector<double> all;
            for (size_t i = 1; i < config.lanes.size(); ++i)
                all.push_back(config.lanes[i].scaler.initScale);
            return all;
        };
        QCOMPARE(applyCells(config, grid, std::vector<size_t>{0, 3}),
                 (std::vector<size_t>{0, 1, 1}));
        QCOMPARE(scales(), (std::vector<double>{1, 8}));
        QVERIFY(config.forks.empty());
        QVERIFY(config.lanes[0].precision == Precision::Fp32);
        applyCells(config, grid, std::vector<size_t>{1, 2, 4}); // others of the same map
        QCOMPARE(scales(), (std::vector<double>{2, 4, 16}));
        const RunConfig before = config;
        const std::vector<size_t> all{0, 1, 2, 3, 4, 5};
        QCOMPARE(thrownBy<InputError>([&] { applyCells(config, grid, all); }),
                 std::string("These cells make 7 lanes, and a run has at most 6: choose fewer "
                             "cells, or remove lanes first"));
        QCOMPARE(thrownBy<InputError>([&] { applyCells(config, grid, {}); }),
                 std::string("No cells are chosen"));
        QCOMPARE(config.lanes.size(), before.lanes.size());
        config.lanes = {config.lanes[0]}; // the mapped lane is gone
        QCOMPARE(applyCells(config, grid, std::vector<size_t>{5}), (std::vector<size_t>{0, 0}));
        QCOMPARE(scales(), (std::vector<double>{32}));
        checkConfig(config);
    }
};

} // namespace tst_setting_grid

QTEST_GUILESS_MAIN(tst_setting_grid::TestSettingGrid)
#include "tst_setting_grid.moc"
