// One sentence for each thing in a run's tables that no run writes.
#include "engine/core/error.h"
#include "tests/support/run_tables.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <filesystem>

namespace tst_run_refusals {

using namespace halfscope;

class TestRunRefusals : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<RunFolder>(); }
    void refusesRows_data();
    void refusesRows();
    void refusesHeaders_data();
    void refusesHeaders();
    void refusesEvents_data();
    void refusesEvents();
    void refusesTimes_data();
    void refusesTimes();
    void refusesWhatIsNoFile();

private:
    std::string error() const {
        return thrownBy<InputError>([this] { static_cast<void>(m_folder->read()); });
    }
    std::unique_ptr<RunFolder> m_folder;
};

void TestRunRefusals::refusesRows_data() {
    QTest::addColumn<QByteArray>("rows");
    QTest::addColumn<QByteArray>("sentence");
    const QByteArray good = table::kRow;
    const auto row = [](const char* name, const QByteArray& rows, const char* sentence) {
        QTest::newRow(name) << rows << QByteArray(sentence);
    };
    row("words for a number", "1,fp32,abc,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, loss: \"abc\" is not allowed: a number, nan, inf or -inf");
    row("a number with more", "1,fp32,0.5x,1,0,0.01,1,0,0,0,0,0\n",
        ", line 2, loss: \"0.5x\" is not allowed: a number, nan, inf or -inf");
    row("nothing", "1,fp32,0.5,,0,0.01,1,0,0,0,0,0\n",
        ", line 2, scale: \"\" is not allowed: a number from 0 or inf");
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
    row("too few fields", good + "2,fp32,0.5\n",
        ", line 3: the number of fields in \"2,fp32,0.5\" is 3, but must be 12, as in the first "
        "line");
    row("after a line of spaces", good + " \n" + good, ", line 4, step: \"1\" is not allowed");
    row("after an empty line", good + "\n" + good, ", line 4, step: \"1\" is not allowed");
    row("an open quotation mark", "1,\"fp32,0.5,1,0,0.01,1,0,0,0,0,0\n",
        " has an unmatched quotation mark");
    row("text behind a quoted one", "1,\"fp32\"x,0.5,1,0,0.01,1,0,0,0,0,0\n",
        " has text after a closing quotation mark; only a comma may follow");
    row("half quoted", "1,fp\"32,\"0.5,1,0,0.01,1,0,0,0,0,0\n", " has an unmatched quotation mark");
    row("an endless line", QByteArray(3 << 20, 'x'), " is too long: a line has at most 1048576");
}

void TestRunRefusals::refusesRows() {
    QFETCH(QByteArray, rows);
    QFETCH(QByteArray, sentence);
    m_folder->put("steps.csv", table::kSteps + rows.toStdString());
    const std::string text = error(), file = m_folder->file("steps.csv");
    QVERIFY2(text.starts_with(file + ", line "), text.c_str());
    QVERIFY2(text.find(sentence.toStdString()) != std::string::npos, text.c_str());
    QVERIFY2(text.size() < file.size() + 300, text.c_str());
}

void TestRunRefusals::refusesHeaders_data() {
    QTest::addColumn<QByteArray>("header");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const QByteArray& header, const char* sentence) {
        QTest::newRow(name) << header << QByteArray(sentence);
    };
    row("no step", "lane,loss\n", ": there is no column step, which every such file has");
    row("no lane", "step,loss\n", ": there is no column lane, which every such file has");
    row("no values", "lane,step\n", ": steps.csv has no column of values beside step and lane");
    row("twice", "step,lane,loss,loss\n", ", column 4: \"loss\" appears twice");
    row("without a name", "step,lane,,loss\n",
        ", column 3: \"\" is not allowed: a name of 1 to 100 bytes on one line");
    row("no text", "step,lane,\xff\xfe\n",
        ", column 3: \"\\xff\\xfe\" is not allowed: a name of 1 to 100 bytes on one line");
    row("too many", "step,lane" + QByteArray(",x").repeated(300) + "\n",
        ": 302 columns are not allowed: at most 256");
}

void TestRunRefusals::refusesHeaders() {
    QFETCH(QByteArray, header);
    QFETCH(QByteArray, sentence);
    m_folder->put("steps.csv", header.toStdString());
    QCOMPARE(error(), m_folder->file("steps.csv") + ", line 1" + sentence.toStdString());
}

void TestRunRefusals::refusesEvents_data() {
    QTest::addColumn<QByteArray>("row");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const char* text, const char* sentence) {
        QTest::newRow(name) << QByteArray(text) << QByteArray(sentence);
    };
    const std::string notAKind = " is not allowed: a kind of event, such as overflow: 1 to 40 "
                                 "lower-case letters, digits and hyphens";
    row("no kind", "1,fp32,,1,1,,\n", (", line 2, kind: \"\"" + notAKind).c_str());
    row("no name of a kind", "1,fp32,Big <b>bang</b>,1,1,,\n",
        (", line 2, kind: \"Big <b>bang</b>\"" + notAKind).c_str());
    row("another kind without a scale", "1,fp32,bang,1,,,\n",
        ", line 2, scale_after: \"\" is not allowed: a number, nan, inf or -inf");
    row("another lane", "1,x,edit,1,1,,\n",
        ", line 2, lane: \"x\" is not allowed: one of the lanes of experiment.json, fp32 or "
        "amp-fp16 or all");
    row("no scale", "1,fp32,edit,,1,,\n",
        ", line 2, scale_before: \"\" is not allowed: a number, nan, inf or -inf");
}

void TestRunRefusals::refusesEvents() {
    QFETCH(QByteArray, row);
    QFETCH(QByteArray, sentence);
    m_folder->put("steps.csv", std::string(table::kSteps) + table::kRow);
    m_folder->put("events.csv", table::kEvents + row.toStdString());
    QCOMPARE(error(), m_folder->file("events.csv") + sentence.toStdString());
}

void TestRunRefusals::refusesTimes_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const QByteArray& text, const char* sentence) {
        QTest::newRow(name) << text << QByteArray(sentence);
    };
    const QByteArray header = table::kTiming;
    row("another step", header + "2,fp32,1,1\n", ", line 2, step: \"2\" is not allowed: 1");
    row("another lane", header + "1,amp-fp16,1,1\n",
        ", line 2, lane: \"amp-fp16\" is not allowed: fp32, as in this row of steps.csv");
    row("negative", header + "1,fp32,-1,1\n",
        ", line 2, device_seconds: \"-1\" is not allowed: a number from 0 or inf");
    row("a column of both", "step,lane,loss\n1,fp32,1\n",
        ", line 1: the column loss is in steps.csv too");
}

void TestRunRefusals::refusesTimes() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, sentence);
    m_folder->put("steps.csv", std::string(table::kSteps) + table::kRow);
    m_folder->put("timing.csv", text.toStdString());
    QCOMPARE(error(), m_folder->file("timing.csv") + sentence.toStdString());
}

void TestRunRefusals::refusesWhatIsNoFile() {
    const std::string file = m_folder->file("steps.csv");
    std::filesystem::create_directory(file);
    QCOMPARE(error(), file + ": cannot read: Is a directory");
    std::filesystem::remove(file);
    std::filesystem::create_symlink("/dev/zero", file);
    QCOMPARE(error(), file + ": cannot read: it is a device, not a file");
}

} // namespace tst_run_refusals

QTEST_GUILESS_MAIN(tst_run_refusals::TestRunRefusals)
#include "tst_run_refusals.moc"
