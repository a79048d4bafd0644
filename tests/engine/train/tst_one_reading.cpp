// However many lanes predict the samples of a file, the training data are read once.
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_task.h"
#include "engine/train/predicted_samples.h"
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
};

} // namespace tst_one_reading

QTEST_GUILESS_MAIN(tst_one_reading::TestOneReading)
#include "tst_one_reading.moc"
