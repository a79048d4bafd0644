// Results that are read back: the same bits as were written, of real runs and of every odd value;
// and one sentence about each thing that no run writes.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/io/csv.h"
#include "engine/runs/run_files.h"
#include "engine/runs/saved_run.h"
#include "tests/support/thrown.h"
#include "tests/support/train_into.h"

#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>

using namespace halfscope;

namespace {

const std::vector<std::string> kLanes{"fp32", "amp-fp16"};

std::vector<StepRecord> rowsOf(const SavedRun& run) {
    std::vector<StepRecord> rows;
    for (const auto& piece : run.pieces)
        rows.insert(rows.end(), piece.begin(), piece.end());
    return rows;
}

/// The files have one word for every nan.
bool sameBits(float a, float b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}
bool sameBits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// As far as the files hold it.
bool sameRow(const StepRecord& a, const StepRecord& b) {
    constexpr uint32_t kKept = kSkipped | kGrew | kBackedOff | kLossNotFinite;
    return a.step == b.step && a.lane == b.lane && (a.flags & kKept) == b.flags &&
           sameBits(a.loss, b.loss) && sameBits(a.scale, b.scale) &&
           a.growthTracker == b.growthTracker && sameBits(a.learningRate, b.learningRate) &&
           sameBits(a.gradientNorm, b.gradientNorm) && sameBits(a.deviceSeconds, b.deviceSeconds) &&
           sameBits(a.wallSeconds, b.wallSeconds) && a.skippedSoFar == b.skippedSoFar;
}

bool sameEvent(const Event& a, const Event& b) {
    return a.kind == b.kind && a.step == b.step && a.lane == b.lane &&
           sameBits(a.scaleBefore, b.scaleBefore) && sameBits(a.scaleAfter, b.scaleAfter) &&
           a.tensor == b.tensor && a.text == b.text;
}

} // namespace

class TestSavedRuns : public QObject {
    Q_OBJECT
private slots:
    void init() {
        QVERIFY(m_folder.isValid());
        for (const char* name : {"steps.csv", "events.csv", "timing.csv", "summary.json"})
            std::filesystem::remove(path(name));
    }
    void realRun();
    void oddValues();
    void textsOfEvents();
    void manyRows();
    void stops();
    void missingFiles();
    void refusesRows_data();
    void refusesRows();
    void refusesHeaders_data();
    void refusesHeaders();
    void refusesEvents_data();
    void refusesEvents();
    void refusesTimes_data();
    void refusesTimes();
    void refusesWhatIsNoFile();
    void takesLineEndsOfOtherSystems();

private:
    std::string folder() const { return m_folder.path().toStdString(); }
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    std::string error() const {
        return thrownBy<InputError>([this] { readSavedRun(folder(), kLanes); });
    }
    QTemporaryDir m_folder;
};

void TestSavedRuns::realRun() {
    RunConfig config = presetNamed("overflow").config;
    config.task.side = 8;
    config.model.width = 8;
    config.steps = 60;
    config.device = "cpu";
    const auto trained = trainInto(folder(), config);
    const std::vector<std::string> lanes = laneNames(config);
    const auto run = readSavedRun(folder(), lanes);
    QVERIFY(run);
    QCOMPARE(run->steps, int64_t{60});
    QVERIFY(run->missing.empty());
    const std::vector<StepRecord> read = rowsOf(*run);
    QCOMPARE(read.size(), size_t{120});
    QCOMPARE(run->rows, int64_t{120});
    for (const StepRecord& record : read) {
        const std::string line = stepLine(record, lanes);
        StepRecord written = record;
        const StepRow row = trained->now().row(record.lane, record.step);
        written.loss = row.loss();
        written.scale = row.scale();
        written.growthTracker = static_cast<int32_t>(row.growthTracker());
        written.learningRate = row.learningRate();
        written.gradientNorm = row.gradientNorm();
        written.flags = row.flags();
        written.skippedSoFar = row.skippedSoFar();
        written.deviceSeconds = row.deviceSeconds();
        written.wallSeconds = row.wallSeconds();
        QVERIFY2(sameRow(written, record), line.c_str());
    }
    QVERIFY(read.back().skippedSoFar > 0); // or the flags would not be tested
    QCOMPARE(run->events.size(), trained->events().size());
    for (size_t i = 0; i < run->events.size(); ++i)
        QVERIFY2(sameEvent(trained->events()[i], run->events[i]), run->events[i].text.c_str());
}

void TestSavedRuns::oddValues() {
    using Float = std::numeric_limits<float>;
    using Double = std::numeric_limits<double>;
    std::vector<float> odd{0.0f,
                           -0.0f,
                           1.0f / 3,
                           Float::denorm_min(),
                           -Float::denorm_min(),
                           Float::min(),
                           Float::max(),
                           Float::lowest(),
                           Float::infinity(),
                           -Float::infinity(),
                           Float::quiet_NaN()};
    Philox random(7, 1);
    std::vector<float> drawn(3000);
    random.fillUniform(drawn, -40.0f, 40.0f);
    for (const float x : drawn)
        odd.push_back(std::ldexp(x, static_cast<int>(x)));
    std::string steps = kStepHeader, times = kTimingHeader;
    std::vector<StepRecord> written;
    int64_t skipped = 0;
    for (size_t i = 0; i < odd.size(); ++i) {
        StepRecord record;
        record.step = static_cast<int64_t>(i) + 1;
        record.lane = 1;
        record.flags = static_cast<uint32_t>(i % 16);
        record.loss = odd[i];
        record.scale = std::isnan(odd[i]) ? 0 : std::abs(odd[i]);
        record.growthTracker = static_cast<int32_t>((i * 7919) % 2147483647);
        record.learningRate = odd[(i + 1) % odd.size()];
        record.gradientNorm = odd[(i + 2) % odd.size()];
        record.deviceSeconds = std::abs(static_cast<double>(drawn[i % drawn.size()])) / 3;
        record.wallSeconds = i == 5 ? Double::denorm_min() : static_cast<double>(i) / 7;
        if (record.flags & kSkipped) ++skipped;
        record.skippedSoFar = skipped;
        written.push_back(record);
        steps += stepLine(record, kLanes);
        times += timingLine(record, kLanes);
    }
    writeFileAtomically(path("steps.csv"), steps);
    writeFileAtomically(path("timing.csv"), times);
    const auto run = readSavedRun(folder(), kLanes);
    QVERIFY(run);
    const std::vector<StepRecord> read = rowsOf(*run);
    QCOMPARE(read.size(), written.size());
    for (size_t i = 0; i < read.size(); ++i)
        QVERIFY2(sameRow(written[i], read[i]), stepLine(written[i], kLanes).c_str());
    QCOMPARE(run->steps, int64_t{0}); // lane fp32 has none
}

void TestSavedRuns::textsOfEvents() {
    std::string text = kEventHeader;
    std::vector<Event> written;
    for (const char* words : {"", "plain", "with, commas", "\"quoted\"", "two\nlines, \"both\"\r\n",
                              "\"", ",", "\xC3\xA4"}) {
        Event event;
        event.step = static_cast<int64_t>(written.size());
        event.lane = written.size() % 3 == 2 ? -1 : static_cast<int32_t>(written.size() % 3);
        event.kind = static_cast<EventKind>(written.size() % 5);
        event.scaleBefore = 0.1f;
        event.scaleAfter = std::numeric_limits<float>::infinity();
        event.tensor = words;
        event.text = std::string("a ") + words;
        written.push_back(event);
        text += eventLine(event, kLanes);
    }
    std::string steps = kStepHeader;
    for (int64_t step = 1; step <= 8; ++step) {
        StepRecord record;
        record.step = step;
        steps += stepLine(record, kLanes);
    }
    writeFileAtomically(path("steps.csv"), steps);
    writeFileAtomically(path("events.csv"), text);
    const auto run = readSavedRun(folder(), kLanes);
    QVERIFY(run);
    QCOMPARE(run->events.size(), written.size());
    for (size_t i = 0; i < written.size(); ++i)
        QVERIFY2(sameEvent(written[i], run->events[i]), written[i].text.c_str());
}

/// More than a piece, and lines across the reader's blocks.
void TestSavedRuns::manyRows() {
    const auto rows = static_cast<int64_t>(2 * SavedRun::kPieceRows + 3);
    std::string text = kStepHeader;
    for (int64_t i = 0; i < rows; ++i) {
        StepRecord record;
        record.step = i / 2 + 1;
        record.lane = static_cast<int32_t>(i % 2);
        record.loss = static_cast<float>(i);
        text += stepLine(record, kLanes);
    }
    writeFileAtomically(path("steps.csv"), text);
    std::vector<double> told;
    const auto run = readSavedRun(folder(), kLanes, [&](double share) {
        told.push_back(share);
        return true;
    });
    QVERIFY(run);
    QCOMPARE(run->rows, rows);
    QCOMPARE(run->steps, rows / 2);
    QCOMPARE(run->pieces.size(), size_t{3});
    QCOMPARE(run->pieces[1].size(), SavedRun::kPieceRows);
    const std::vector<StepRecord> read = rowsOf(*run);
    for (int64_t i = 0; i < rows; ++i)
        QCOMPARE(read[static_cast<size_t>(i)].loss, static_cast<float>(i));
    QCOMPARE(told.size(), size_t{2});
    QVERIFY(told[0] > 0.3 && told[0] < told[1] && told[1] <= 1);
}

void TestSavedRuns::stops() {
    manyRows();
    int asked = 0;
    QVERIFY(!readSavedRun(folder(), kLanes, [&](double) { return ++asked < 2; }));
    QCOMPARE(asked, 2);
}

void TestSavedRuns::missingFiles() {
    QVERIFY(!holdsSavedRun(folder()));
    QVERIFY2(isAbout(error(), path("steps.csv"), "cannot read: No such file"), error().c_str());
    writeFileAtomically(path("steps.csv"), kStepHeader);
    QVERIFY(holdsSavedRun(folder()));
    const auto run = readSavedRun(folder(), kLanes);
    QVERIFY(run);
    QCOMPARE(run->steps, int64_t{0});
    QCOMPARE(run->missing, (std::vector<std::string>{"timing.csv", "events.csv"}));
}

void TestSavedRuns::refusesRows_data() {
    QTest::addColumn<QByteArray>("rows");
    QTest::addColumn<QByteArray>("sentence");
    const QByteArray good = "1,fp32,0.5,1,0,0.01,1,0,0,0,0,0\n";
    const auto row = [](const char* name, const QByteArray& rows, const char* sentence) {
        QTest::newRow(name) << rows << QByteArray(sentence);
    };
    row("words for a number", "1,fp32,abc,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, loss: \"abc\" is not allowed: a number, nan, inf or -inf");
    row("a number with more", "1,fp32,0.5x,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, loss: \"0.5x\" is not allowed: a number, nan, inf or -inf");
    row("too large", "1,fp32,0.5,1e39,0,0.01,1,0,0,0,0,0\n",
        ", line 2, scale: \"1e39\" is not allowed: a number from 0 or inf");
    row("negative scale", "1,fp32,0.5,-1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, scale: \"-1\" is not allowed: a number from 0 or inf");
    row("scale nan", "1,fp32,0.5,nan,0,0.01,1,0,0,0,0,0\n",
        ", line 2, scale: \"nan\" is not allowed: a number from 0 or inf");
    row("another lane", "1,amp-bf16,0.5,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, lane: \"amp-bf16\" is not allowed: one of the lanes of experiment.json, fp32 or "
        "amp-fp16");
    row("of all lanes", "1,all,0.5,1,0,0.01,1,0,0,0,0,0\n", ", line 2, lane: \"all\" is not");
    row("a flag of 2", "1,fp32,0.5,1,0,0.01,1,0,2,0,0,0\n",
        ", line 2, grew: \"2\" is not allowed: a whole number from 0 to 1");
    row("negative tracker", "1,fp32,0.5,1,-1,0.01,1,0,0,0,0,0\n",
        ", line 2, growth_tracker: \"-1\" is not allowed: a whole number from 0 to 2147483647");
    row("starts later", "2,fp32,0.5,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, step: \"2\" is not allowed: the next step of fp32 is 1");
    row("a step twice", good + good,
        ", line 3, step: \"1\" is not allowed: the next step of fp32 is 2");
    row("a huge step", "99999999999,fp32,0.5,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, step: \"99999999999\" is not allowed: a whole number from 1 to 1000000000");
    row("skips that do not add up", "1,fp32,0.5,1,0,0.01,1,1,0,0,0,0\n",
        ", line 2, skipped_so_far: \"0\" is not allowed: 1");
    row("cut off in a row", good + "2,fp32,0.",
        ", line 3: the file is cut off behind \"2,fp32,0.\"");
    row("too few fields", good + "2,fp32,0.5\n",
        ", line 3: \"2,fp32,0.5\" has 3 fields: 12 are wanted");
    row("an empty line", good + "\n", ", line 3: \"\" has 1 fields: 12 are wanted");
    row("an open quotation mark", "1,\"fp32,0.5,1,0,0.01,1,0,0,0,0,0\n",
        " has a quotation mark without its pair");
    row("text behind a quoted one", "1,\"fp32\"x,0.5,1,0,0.01,1,0,0,0,0,0\n",
        " has text behind a quoted one: a comma is allowed there");
    row("half quoted", "1,fp\"32,\"0.5,1,0,0.01,1,0,0,0,0,0\n",
        " has a quotation mark without its pair");
    row("an endless line", QByteArray(3 << 20, 'x'), " is too long: a line has at most 1048576");
}

void TestSavedRuns::refusesRows() {
    QFETCH(QByteArray, rows);
    QFETCH(QByteArray, sentence);
    writeFileAtomically(path("steps.csv"), kStepHeader + rows.toStdString());
    const std::string text = error();
    QVERIFY2(text.starts_with(path("steps.csv") + ", line "), text.c_str());
    QVERIFY2(text.find(sentence.toStdString()) != std::string::npos, text.c_str());
    QVERIFY2(text.size() < path("steps.csv").size() + 300, text.c_str());
}

void TestSavedRuns::refusesHeaders_data() {
    QTest::addColumn<QByteArray>("header");
    QTest::addColumn<QByteArray>("sentence");
    const QByteArray all = QByteArray(kStepHeader).chopped(1);
    const auto row = [](const char* name, const QByteArray& header, const char* sentence) {
        QTest::newRow(name) << header << QByteArray(sentence);
    };
    row("one too few", all.left(all.lastIndexOf(',')),
        "column 12: \"\" is not allowed: in this version it is skipped_so_far");
    row("one too many", all + ",more",
        "column 13: \"more\" is not allowed: in this version the columns end before it");
    row("another one", QByteArray(all).replace(",loss,", ",error,"),
        "column 3: \"error\" is not allowed: in this version it is loss");
    row("none", {}, "column 1: \"\" is not allowed: in this version it is step");
}

void TestSavedRuns::refusesHeaders() {
    QFETCH(QByteArray, header);
    QFETCH(QByteArray, sentence);
    writeFileAtomically(path("steps.csv"), header.toStdString() + "\n");
    QCOMPARE(error(), path("steps.csv") + ", line 1, " + sentence.toStdString());
}

void TestSavedRuns::refusesEvents_data() {
    QTest::addColumn<QByteArray>("row");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const char* text, const char* sentence) {
        QTest::newRow(name) << QByteArray(text) << QByteArray(sentence);
    };
    row("another kind", "1,fp32,bang,1,1,,\n",
        ", line 2, kind: \"bang\" is not allowed: one of overflow, growth, backoff, "
        "loss-not-finite, edit");
    row("a step far behind the end", "4,fp32,edit,1,1,,\n",
        ", line 2, step: \"4\" is not allowed: a whole number from 0 to 3");
    row("another lane", "1,x,edit,1,1,,\n",
        ", line 2, lane: \"x\" is not allowed: one of the lanes of experiment.json, fp32 or "
        "amp-fp16 or all");
    row("no scale", "1,fp32,edit,,1,,\n",
        ", line 2, scale_before: \"\" is not allowed: a number, nan, inf or -inf");
}

void TestSavedRuns::refusesEvents() {
    QFETCH(QByteArray, row);
    QFETCH(QByteArray, sentence);
    writeFileAtomically(path("steps.csv"),
                        std::string(kStepHeader) + "1,fp32,0.5,1,0,0.01,1,0,0,0,0,0\n");
    writeFileAtomically(path("events.csv"), kEventHeader + row.toStdString());
    QCOMPARE(error(), path("events.csv") + sentence.toStdString());
}

void TestSavedRuns::refusesTimes_data() {
    QTest::addColumn<QByteArray>("rows");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const char* text, const char* sentence) {
        QTest::newRow(name) << QByteArray(text) << QByteArray(sentence);
    };
    row("none", "", ": 0 rows are not allowed: as many as in steps.csv, 1");
    row("one more", "1,fp32,1,1\n2,fp32,1,1\n",
        ": 2 rows are not allowed: as many as in steps.csv, 1");
    row("another step", "2,fp32,1,1\n", ", line 2, step: \"2\" is not allowed: 1");
    row("another lane", "1,amp-fp16,1,1\n",
        ", line 2, lane: \"amp-fp16\" is not allowed: fp32, as in this row of steps.csv");
    row("negative", "1,fp32,-1,1\n",
        ", line 2, device_seconds: \"-1\" is not allowed: a number from 0 or inf");
}

void TestSavedRuns::refusesTimes() {
    QFETCH(QByteArray, rows);
    QFETCH(QByteArray, sentence);
    writeFileAtomically(path("steps.csv"),
                        std::string(kStepHeader) + "1,fp32,0.5,1,0,0.01,1,0,0,0,0,0\n");
    writeFileAtomically(path("timing.csv"), kTimingHeader + rows.toStdString());
    QCOMPARE(error(), path("timing.csv") + sentence.toStdString());
}

void TestSavedRuns::refusesWhatIsNoFile() {
    std::filesystem::create_directory(path("steps.csv"));
    QCOMPARE(error(), path("steps.csv") + ": cannot read: it is no file with rows");
    std::filesystem::remove(path("steps.csv"));
    std::filesystem::create_symlink("/dev/zero", path("steps.csv"));
    QCOMPARE(error(), path("steps.csv") + ": cannot read: it is no file with rows");
    std::filesystem::remove(path("steps.csv"));
    writeFileAtomically(path("steps.csv"), "");
    QVERIFY2(error().starts_with(path("steps.csv") + ", line 1, column 1: \"\" is not allowed"),
             error().c_str());
}

/// Of a table that went through another program.
void TestSavedRuns::takesLineEndsOfOtherSystems() {
    std::string header = kStepHeader;
    header.insert(header.size() - 1, "\r");
    writeFileAtomically(path("steps.csv"), header + "1,fp32,0.5,1,0,0.01,1,0,0,0,0,0\r\n");
    const auto run = readSavedRun(folder(), kLanes);
    QVERIFY(run);
    QCOMPARE(run->rows, int64_t{1});
}

QTEST_GUILESS_MAIN(TestSavedRuns)
#include "tst_saved_runs.moc"
