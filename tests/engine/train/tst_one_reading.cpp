// However many lanes predict the samples of a file, the training data are read once.
#include "engine/io/open_folder.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_task.h"
#include "engine/train/predicted_samples.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include <sys/inotify.h>
#include <unistd.h>

namespace tst_one_reading {

using namespace halfscope;

namespace {

/// Returns how often the file is opened meanwhile; -1 where the system does not tell.
int opensOf(const std::string& file, const std::function<void()>& meanwhile) {
    const Descriptor watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    // closing is asked for, too: the system counts equal events in a row as one
    if (::inotify_add_watch(watch.number(), file.c_str(), IN_OPEN | IN_CLOSE) < 0) return -1;
    meanwhile();
    std::array<char, 4096> events{};
    int opens = 0;
    for (;;) {
        const ssize_t count = ::read(watch.number(), events.data(), events.size());
        if (count <= 0) return opens;
        inotify_event event{}; // of a file, it has no name behind it
        for (size_t at = 0; at < static_cast<size_t>(count); at += sizeof event + event.len) {
            std::memcpy(&event, events.data() + at, sizeof event);
            opens += (event.mask & IN_OPEN) != 0;
        }
    }
}

} // namespace

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
