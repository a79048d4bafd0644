// gradients.csv read back: the columns of the window's plot as they were, the counts of the command
// line at their steps, in bounded memory; and one sentence for each thing that no run writes.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/gradient_file.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <array>

namespace tst_saved_gradients {

using namespace halfscope;

namespace {

using Counts = MagnitudeCounts;

const std::vector<std::string> kLanes{"fp32", "amp-fp16"};
constexpr int64_t kSteps = 40;

/// Returns three powers of two, zeros and now and then inf.
GradientRange rangeOf(int64_t step, float scale) {
    GradientRange range;
    range.step = step;
    range.scale = scale;
    range.type = DType::F16;
    for (int i = 0; i < 3; ++i)
        range.outputs.buckets[static_cast<size_t>((step + 7 * i) % Counts::kBuckets)] = 3 + i;
    range.weights.zeros = step % 5;
    range.weights.notFinite = step % 11 == 0 ? 2 : 0;
    return range;
}

/// Returns counts every few steps under a changing scale, and a stretch without any.
GradientHistory trained(int64_t steps, int64_t every) {
    GradientHistory history;
    for (int64_t step = 1; step <= steps; ++step) {
        StepRecord row;
        row.step = step;
        row.scale = step % 9 < 5 ? 1024.0f : 768.0f;
        if (step % 11 == 0) row.flags = kSkipped;
        if (step == steps / 2) history.interrupt();
        const bool blank = step >= steps / 2 && step < steps / 2 + 4;
        if (step % every == 1 % every && !blank) history.add(rangeOf(step, row.scale));
        history.stepDone(row);
    }
    return history;
}

bool same(const GradientColumn& a, const GradientColumn& b) {
    return a.from == b.from && a.to == b.to && a.merged == b.merged &&
           (a.merged || a.counted == b.counted) && a.shares.buckets == b.shares.buckets &&
           a.shares.zeros == b.shares.zeros && a.shares.notFinite == b.shares.notFinite;
}

bool same(const std::vector<GradientColumn>& a, const std::vector<GradientColumn>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same(x, y); });
}

/// Returns a row: its steps, the shares of zeros and of 2^-40.
std::string row(const std::string& steps, const std::string& zero = "0.25",
                const std::string& lowest = "0.75") {
    std::string text = steps + ',' + zero + ',' + lowest;
    for (int i = 1; i < Counts::kBuckets; ++i)
        text += ",0";
    return text + ",0\n";
}

} // namespace

class TestSavedGradients : public QObject {
    Q_OBJECT
private slots:
    void ofTheWindow_data();
    void ofTheWindow();
    void ofTheCommandLine();
    void standAsTheyWereSaved();
    void memoryIsBounded();
    void stops();
    void refusesRows_data();
    void refusesRows();

private:
    std::string path() const { return m_folder.filePath("gradients.csv").toStdString(); }
    std::string error() const {
        return thrownBy<InputError>([this] { readGradients(path(), kLanes, kSteps); });
    }
    QTemporaryDir m_folder;
};

void TestSavedGradients::ofTheWindow_data() {
    QTest::addColumn<int>("steps");
    QTest::addColumn<int>("every");
    QTest::newRow("few") << 40 << 3;
    QTest::newRow("every step") << 40 << 1;
    QTest::newRow("all columns") << static_cast<int>(GradientHistory::kMostColumns) + 5 << 1;
    QTest::newRow("means of several") << 3 * static_cast<int>(GradientHistory::kMostColumns) << 1;
}

void TestSavedGradients::ofTheWindow() {
    QFETCH(const int, steps);
    QFETCH(const int, every);
    const std::array<GradientHistory, 2> written{GradientHistory(), trained(steps, every)};
    const auto columns = written[1].columns();
    QVERIFY(columns.size() > 10);
    writeFileAtomically(path(), gradientText(written, kLanes));
    const auto read = readGradients(path(), kLanes, steps);
    QVERIFY(read);
    QVERIFY((*read)[0].empty());
    QVERIFY(same((*read)[1].columns(), columns));
    QVERIFY(!(*read)[1].type()); // the file has none
    const std::string text = readFile(path());
    writeFileAtomically(path(), gradientText(*read, kLanes));
    QVERIFY(readFile(path()) == text);
}

/// Lanes take turns, and one count belongs to a step that was never finished.
void TestSavedGradients::ofTheCommandLine() {
    std::string text = gradientHeader();
    for (int64_t step = 1; step <= kSteps + 1; step += 5)
        for (const std::string& lane : kLanes)
            text += gradientLine(rangeOf(step, 1), lane);
    writeFileAtomically(path(), text);
    const auto read = readGradients(path(), kLanes, kSteps);
    QVERIFY(read);
    for (const GradientHistory& lane : *read) {
        const auto columns = lane.columns();
        QCOMPARE(columns.size(), size_t{9});
        for (size_t i = 0; i < columns.size(); ++i) {
            const int64_t step = 1 + 5 * static_cast<int64_t>(i);
            const auto shares = GradientShares::of(rangeOf(step, 1));
            QVERIFY(same(columns[i], GradientColumn{step, step + 1, step, false, shares}));
        }
    }
    // the same rows again, lane by lane
    writeFileAtomically(path(), gradientText(*read, kLanes));
    const auto sorted = [](const std::string& table) {
        auto lines = QByteArray::fromStdString(table).split('\n');
        std::sort(lines.begin(), lines.end());
        return lines;
    };
    QCOMPARE(sorted(readFile(path())), sorted(text));
}

/// Whatever scales the rows have and whatever is counted meanwhile, they stay as saved; skips are
/// those of the rows.
void TestSavedGradients::standAsTheyWereSaved() {
    const GradientHistory live = trained(kSteps, 3);
    GradientHistory saved = live.asSaved();
    QCOMPARE(saved.type(), std::optional(DType::F16));
    saved.add(rangeOf(kSteps + 1, 1));
    for (int64_t step = 1; step <= kSteps; ++step) {
        StepRecord record;
        record.step = step;
        record.scale = static_cast<float>(step);
        if (step % 11 == 0) record.flags = kSkipped;
        saved.add(rangeOf(step, 1));
        saved.stepDone(record);
    }
    QVERIFY(same(saved.columns(), live.columns()));
    QCOMPARE(saved.lastStep(), live.lastStep());
    for (int64_t step = 1; step <= kSteps; ++step) {
        const auto middle = static_cast<double>(step);
        QCOMPARE(saved.at(step).has_value(), live.at(step).has_value());
        QVERIFY(!saved.at(step) || same(*saved.at(step), *live.at(step)));
        QCOMPARE(saved.skipped(middle - 0.4, middle + 0.4),
                 live.skipped(middle - 0.4, middle + 0.4));
    }
    // the newest one, when the last step has none
    GradientHistory early = GradientHistory::ofSavedRun();
    early.addSaved({3, 4, 3, false, GradientShares::of(rangeOf(3, 1))});
    early.stepDone(StepRecord{.step = 9});
    QCOMPARE(early.at(std::nullopt)->counted, int64_t{3});
    QVERIFY(!early.at(9));
    QVERIFY(!early.type());
}

void TestSavedGradients::memoryIsBounded() {
    constexpr auto kMany = static_cast<int64_t>(GradientHistory::kMostSaved) + 1000;
    GradientHistory saved = GradientHistory::ofSavedRun();
    const auto shares = GradientShares::of(rangeOf(1, 1));
    for (int64_t step = 1; step <= kMany; ++step)
        saved.addSaved({step, step + 1, step, false, shares});
    const auto columns = saved.columns();
    QVERIFY(columns.size() <= GradientHistory::kMostSaved);
    QVERIFY(columns.size() > GradientHistory::kMostSaved / 3);
    QVERIFY(columns[columns.size() / 2].merged);
    QCOMPARE(columns.front().from, int64_t{1});
    QCOMPARE(columns.back().to, kMany + 1);
    QVERIFY(std::abs(columns[7].shares.total() - 1) < 1e-6);
}

void TestSavedGradients::stops() {
    std::string text = gradientHeader();
    for (int step = 1; step <= 1000; ++step)
        text += row("fp32," + std::to_string(step) + ',' + std::to_string(step) + ',' +
                    std::to_string(step));
    writeFileAtomically(path(), text);
    std::vector<double> told;
    const auto listen = [&told](double share) {
        told.push_back(share);
        return told.size() != 5;
    };
    QVERIFY(readGradients(path(), kLanes, 1000, listen)); // reported three times
    QCOMPARE(told.size(), size_t{3});
    QVERIFY(told[0] > 0.2 && told[0] < told[1] && told[2] < 1);
    QVERIFY(!readGradients(path(), kLanes, 1000, listen));
    QCOMPARE(told.size(), size_t{5});
}

void TestSavedGradients::refusesRows_data() {
    QTest::addColumn<QByteArray>("rows");
    QTest::addColumn<QByteArray>("sentence");
    const auto refused = [](const char* name, const std::string& rows, const char* sentence) {
        QTest::newRow(name) << QByteArray::fromStdString(rows) << QByteArray(sentence);
    };
    refused("another lane", row("amp-bf16,1,1,1"),
            ", line 2, lane: \"amp-bf16\" is not allowed: one of the lanes of experiment.json, "
            "fp32 or amp-fp16");
    refused("of all lanes", row("all,1,1,1"), ", line 2, lane: \"all\" is not allowed: one of");
    refused("before the start", row("fp32,0,1,0"),
            ", line 2, first_step: \"0\" is not allowed: a whole number from 1 to 41");
    refused("after the end", row("fp32,40,42,40"),
            ", line 2, last_step: \"42\" is not allowed: a whole number from 40 to 41");
    refused("ends before it starts", row("fp32,5,4,5"),
            ", line 2, last_step: \"4\" is not allowed: a whole number from 5 to 41");
    refused("a step twice", row("fp32,1,3,1") + row("amp-fp16,1,1,1") + row("fp32,3,4,3"),
            ", line 4, first_step: \"3\" is not allowed: a whole number from 4 to 41");
    refused("counted later", row("fp32,5,9,6"),
            ", line 2, counted_step: \"6\" is not allowed: a whole number from 1 to 5");
    refused("a mean of one step", row("fp32,5,5,"),
            ", line 2, counted_step: \"\" is not allowed: a whole number from 1 to 5, or empty for "
            "several steps");
    refused("words", row("fp32,1,1,1", "half"),
            ", line 2, zero: \"half\" is not allowed: a number from 0 to 1");
    refused("nan", row("fp32,1,1,1", "nan"),
            ", line 2, zero: \"nan\" is not allowed: a number from 0 to 1");
    refused("negative", row("fp32,1,1,1", "0.25", "-0.75"),
            ", line 2, 2^-40: \"-0.75\" is not allowed: a number from 0 to 1");
    refused("more than all", row("fp32,1,1,1", "0", "1.01"),
            ", line 2, 2^-40: \"1.01\" is not allowed: a number from 0 to 1");
    refused("not all", row("fp32,1,1,1", "0.25", "0.5"),
            ", line 2: shares add up to 0.75; allowed is 1, or 0");
    refused("too few fields", "fp32,1,1\n",
            ", line 2: the number of fields in \"fp32,1,1\" is 3, but must be 70");
}

void TestSavedGradients::refusesRows() {
    QFETCH(const QByteArray, rows);
    QFETCH(const QByteArray, sentence);
    writeFileAtomically(path(), gradientHeader() + rows.toStdString());
    const std::string text = error();
    QVERIFY2(text.starts_with(path() + sentence.toStdString()), text.c_str());
    writeFileAtomically(path(), "lane,zero\n");
    const std::string missing = error();
    QVERIFY2(missing.starts_with(path()) && missing.find("first_step") != std::string::npos,
             missing.c_str());
}

} // namespace tst_saved_gradients

QTEST_GUILESS_MAIN(tst_saved_gradients::TestSavedGradients)
#include "tst_saved_gradients.moc"
