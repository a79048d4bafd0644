// What a training keeps of the classes of its data, and when data count as others.
#include "engine/train/data_record.h"

#include "engine/settings/data_experiment.h"
#include "engine/settings/data_settings.h"
#include "engine/settings/run_task.h"
#include "tests/support/array_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <string>
#include <vector>

namespace tst_data_record {

using namespace halfscope;

using Names = std::vector<std::string>;

class TestDataRecord : public QObject {
    Q_OBJECT
private slots:
    void sameClasses_data();
    void sameClasses();
    void keepsNames();
    void leavesOutLongNames();
    void leavesOutFixedClasses();
    void settingsWrittenOtherwise();
    void missingValues();

private:
    /// Returns what is kept of a table with these two classes.
    DataRecord recordOf(const std::string& one, const std::string& other) const {
        std::string text = "size,kind\n";
        for (int i = 0; i < 12; ++i)
            text += std::to_string(i) + "," + (i % 2 == 0 ? one : other) + "\n";
        const std::string path =
            writeBytes(m_folder.filePath(QStringLiteral("kinds.csv")).toStdString(), text);
        const RunConfig config = *experimentOn(path);
        return dataRecordOf(config, *makeDataset(taskOf(config), 0));
    }
    QTemporaryDir m_folder;
};

void TestDataRecord::sameClasses_data() {
    QTest::addColumn<Names>("trained");
    QTest::addColumn<Names>("now");
    QTest::addColumn<QString>("told");
    QTest::addColumn<bool>("folders");
    const auto row = [](const char* name, const Names& trained, const Names& now, const char* told,
                        bool folders = false) {
        QTest::newRow(name) << trained << now << told << folders;
    };
    row("the same", {"a", "b"}, {"a", "b"}, "");
    row("not known", {}, {"a", "b"}, "");
    row("numbers written otherwise", {"1.0", "2.0"}, {"1", "2"}, "");
    row("folders that are numbers", {"01", "1"}, {"001", "01"},
        "class 0 is \"001\" in t.csv, and was \"01\" in the training", true);
    row("other numbers", {"1", "2"}, {"1", "3"},
        "class 1 is \"3\" in t.csv, and was \"2\" in the training");
    row("another order", {"a", "b"}, {"b", "a"},
        "class 0 is \"b\" in t.csv, and was \"a\" in the training");
    row("more of them", {"a", "b"}, {"a", "b", "c"}, "t.csv has 3 classes, and the training had 2");
    row("no UTF-8", {"caf\xe9", "tea"}, {"caf\xe9", "tea"}, "");
    row("no UTF-8, from a file", {"caf\xef\xbf\xbd", "tea"}, {"caf\xe9", "tea"}, "");
}

void TestDataRecord::sameClasses() {
    QFETCH(const Names, trained);
    QFETCH(const Names, now);
    QFETCH(const QString, told);
    QFETCH(const bool, folders);
    TaskConfig task;
    task.kind = folders ? TaskKind::Pictures : TaskKind::Csv;
    task.path = "t.csv";
    QCOMPARE(QString::fromStdString(otherClasses(trained, now, task).english()), told);
}

void TestDataRecord::keepsNames() {
    const DataRecord record = recordOf("even", "odd");
    QCOMPARE(record.classes, (Names{"even", "odd"}));
    QVERIFY(!record.print.empty());
}

/// They would not fit into the header of a file of weights, and so there would be no file.
void TestDataRecord::leavesOutLongNames() {
    const std::string name(600'000, 'x');
    const DataRecord record = recordOf(name + "1", name + "2");
    QVERIFY(record.classes.empty());
    QVERIFY(!record.print.empty());
}

/// A folder of MNIST's files may get another name, by which its classes are called.
void TestDataRecord::leavesOutFixedClasses() {
    RunConfig config;
    config.task.kind = TaskKind::Mnist;
    config.task.loss.kind = LossKind::CrossEntropy;
    QVERIFY(dataRecordOf(config, *makeDataset(config.task, 0)).classes.empty());
}

/// The numbers count, not the blanks between them or how they are written.
void TestDataRecord::settingsWrittenOtherwise() {
    RunConfig config;
    config.task.kind = TaskKind::Pictures;
    config.task.loss.kind = LossKind::CrossEntropy;
    config.task.mean = "0.5,0.5,0.5";
    config.task.deviation = ".5";
    const std::string trained = dataSettings(config);
    config.task.mean = "0.5, 0.5, 0.50";
    config.task.deviation = "0.5";
    QVERIFY(changedDataSettings(trained, config).empty());
    config.task.mean = "0.5, 0.5, 0.4";
    QCOMPARE(changedDataSettings(trained, config).size(), size_t{1});
    config.task.mean = "auto";
    QCOMPARE(changedDataSettings(trained, config).at(0).is, std::string("auto"));
    // what cannot be read is another value, and the others are compared all the same
    QCOMPARE(changedDataSettings(R"({"data.mean": "many", "data.side": "7"})", config).size(),
             size_t{2});
}

/// Where missing values were refused, there were none.
void TestDataRecord::missingValues() {
    RunConfig config;
    config.task.kind = TaskKind::Csv;
    const std::string refused = dataSettings(config);
    config.task.missing = Missing::Mean;
    QVERIFY(changedDataSettings(refused, config).empty());
    const std::string filled = dataSettings(config);
    config.task.missing = Missing::Drop;
    QCOMPARE(changedDataSettings(filled, config).size(), size_t{1});
}

} // namespace tst_data_record

QTEST_GUILESS_MAIN(tst_data_record::TestDataRecord)
#include "tst_data_record.moc"
