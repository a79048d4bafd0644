// Targets for the loss that takes shares: numbers from 0 to 1, in tables and in arrays.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_shares {

using namespace halfscope;

class TestShares : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void tables_data();
    void tables();
    void tablesOfTheirOwn();
    void arrays();
    void arraysOfTheirOwn();

private:
    std::string file(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder->filePath(QLatin1String(name)).toStdString(), bytes);
    }
    TaskConfig csv(const std::string& text) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = file("t.csv", text);
        task.validation = 0;
        task.loss.kind = LossKind::BceWithLogits;
        return task;
    }
    std::string floats(const char* name, std::initializer_list<float> values) const {
        return file(name, npy("<f4", "(" + std::to_string(values.size()) + ",)",
                              bytesOfValues<float>(values)));
    }
    TaskConfig arrays(std::initializer_list<float> y) const {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.x = floats("x.npy", {1, 2, 4});
        task.y = floats("y.npy", y);
        task.validation = 0;
        task.loss.kind = LossKind::BceWithLogits;
        return task;
    }
    /// Returns what is said when the samples are read, which is also said when they are looked at.
    static std::string refused(const TaskConfig& task) {
        const std::string said = thrownBy<InputError>([&] { makeDataset(task, 0); });
        return thrownBy<InputError>([&] { factsOf(task); }) == said ? said : "something else";
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestShares::tables_data() {
    QTest::addColumn<QString>("value");
    QTest::newRow("above") << "1.0625";
    QTest::newRow("below") << "-1";
    QTest::newRow("per cent") << "50";
}

void TestShares::tables() {
    QFETCH(const QString, value);
    TaskConfig task = csv("a,p\n1,0\n2,1\n3,0.25\n4,true\n");
    const Batch batch = allOf(*makeDataset(task, 0), Split::Train);
    const auto targets = batch.floats(kTarget);
    QCOMPARE(std::vector<float>(targets.begin(), targets.end()),
             (std::vector<float>{0, 1, 0.25f, 1}));
    for (const char* input : {"2", "word"}) { // which is met in a second reading
        std::string text =
            std::string("a,p\n") + input + ",0\n" + input + "," + value.toStdString();
        for (int i = 0; i < 10; ++i)
            text += std::string("\n") + input + ",1";
        task = csv(text);
        QCOMPARE(refused(task), task.path + ", line 3: \"" + value.toStdString() +
                                    "\" in the column \"p\" is not allowed: 0 to 1, as the loss "
                                    "bce-with-logits takes");
    }
    task.loss.kind = LossKind::Mse; // takes any numbers
    makeDataset(task, 0);
}

void TestShares::tablesOfTheirOwn() {
    const std::string other = file("other.csv", "p,a\n0.5,1\n7,2\n");
    for (std::string TaskConfig::*setting : {&TaskConfig::validationPath, &TaskConfig::testPath}) {
        TaskConfig task = csv("a,p\n1,0\n2,1\n3,0.5\n4,1\n");
        task.validation = 0.5;
        task.*setting = other;
        QCOMPARE(refused(task), other + ", line 3: \"7\" in the column \"p\" is not allowed: 0 to "
                                        "1, as the loss bce-with-logits takes");
    }
}

void TestShares::arrays() {
    QCOMPARE(allOf(*makeDataset(arrays({0, 0.25, 1}), 0), Split::Train).floats(kTarget)[1], 0.25f);
    for (const float value : {2.0f, -0.5f}) {
        const TaskConfig task = arrays({0, 1, value});
        QCOMPARE(refused(task), "data.y: " + task.y + ": sample 2 has the target " +
                                    (value > 0 ? "2" : "-0.5") +
                                    ": 0 to 1 are allowed, as the loss bce-with-logits takes");
    }
    TaskConfig any = arrays({0, 1, 2});
    any.loss.kind = LossKind::Mse;
    makeDataset(any, 0);
}

void TestShares::arraysOfTheirOwn() {
    TaskConfig task = arrays({0, 1, 0.5});
    task.xVal = floats("x_val.npy", {1, 2});
    task.yVal = floats("y_val.npy", {1, 3});
    QCOMPARE(refused(task), "data.y_val: " + task.yVal +
                                ": sample 1 has the target 3: 0 to 1 are allowed, as the loss "
                                "bce-with-logits takes");
}

} // namespace tst_shares

QTEST_GUILESS_MAIN(tst_shares::TestShares)
#include "tst_shares.moc"
