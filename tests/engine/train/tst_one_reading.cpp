// However many lanes predict the samples of a file, the training data are read once; so they are
// for all cells of a map, whatever the seeds.
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/setting_grid.h"
#include "tests/support/array_files.h"
#include "tests/support/file_opens.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <string>

namespace tst_one_reading {

using namespace halfscope;
using test::opensOf;

class TestOneReading : public QObject {
    Q_OBJECT
private slots:
    /// A network for each lane opens the file to see whether it is still the same, but reads it no
    /// more.
    void ofAllLanes() {
        const QTemporaryDir folder;
        const auto write = [&folder](const char* name, const std::string& text) {
            return writeBytes(folder.filePath(QLatin1String(name)).toStdString(), text);
        };
        std::string rows = "size,kind\n";
        for (int i = 0; i < 200; ++i)
            rows += std::to_string(i) + (i < 100 ? ",small\n" : ",large\n");
        const std::string table = write("kinds.csv", rows), other = write("o.csv", "size\n1\n2\n");
        RunConfig config = *experimentOn(table);
        Experiment experiment(config);
        const auto opensFor = [&](int lane) {
            return opensOf(table, [&] { (void)predictedSamples(experiment, lane, other); });
        };
        const int first = opensFor(0); // facts that are kept are known from now on
        if (first < 0) QSKIP("this system does not tell which files are opened");
        config.lanes.resize(1);
        config.task.predictFile = other;
        std::shared_ptr<Task> data;
        QVERIFY(opensOf(table, [&] { data = makeTask(config); }) > 0);
        const int ofNetwork = opensOf(table, [&] { const Experiment alone(config, {}, data); });
        QCOMPARE(opensFor(kEveryLane) - opensFor(0), ofNetwork);
    }

    /// A cell opens the file as often where the seed changes with it as where another setting does,
    /// and its training is that of a run with its seed.
    void ofAllSeeds() {
        const QTemporaryDir folder;
        std::string rows = "size,price\n";
        for (int i = 0; i < 60; ++i)
            rows += std::to_string(i) + "," + std::to_string(i * i % 17) + "\n";
        const std::string table = writeBytes(folder.filePath("prices.csv").toStdString(), rows);
        RunConfig config = *experimentOn(table);
        config.device = "cpu";
        config.lanes = parseLanes("fp32");
        config.epochs = 0;
        config.steps = 3;
        const auto gridOf = [&](const char* columns) {
            return SettingGrid(config, 0,
                               {parseSweep("optimizer.lr=0.001,0.01", SweptBy::Trainings),
                                parseSweep(columns, SweptBy::Trainings)});
        };
        GridCells cells;
        const auto opensFor = [&](const SettingGrid& grid) {
            cells.assign(grid.cells(), std::nullopt);
            GridListener listener;
            listener.finished = [&](size_t cell, const GridCell& one) { cells[cell] = one; };
            return opensOf(table, [&] { QVERIFY(trainGrid(grid, listener)); });
        };
        const SettingGrid seeds = gridOf("run.seed=1,2,3");
        (void)opensFor(seeds); // facts that are kept are known from now on
        const int ofSeeds = opensFor(seeds);
        if (ofSeeds < 0) QSKIP("this system does not tell which files are opened");
        for (size_t cell = 0; cell < seeds.cells(); ++cell) {
            Experiment alone(seeds.config(cell));
            std::vector<StepRecord> records;
            std::vector<Event> events;
            while (!alone.finished())
                alone.advance(records, events);
            QCOMPARE(cells[cell].value().lastLoss, double{records.back().loss});
        }
        QVERIFY(cells[0]->lastLoss != cells[1]->lastLoss);
        QCOMPARE(ofSeeds, opensFor(gridOf("optimizer.eps=1e-8,1e-7,1e-6")));
    }
};

} // namespace tst_one_reading

QTEST_GUILESS_MAIN(tst_one_reading::TestOneReading)
#include "tst_one_reading.moc"
