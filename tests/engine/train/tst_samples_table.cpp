// The table of the validation samples that the window saves of a lane.
#include "engine/train/samples_table.h"

#include "engine/core/error.h"
#include "engine/data/known_facts.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/run_task.h"
#include "engine/train/lane_file.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"
#include "tests/support/trained_experiment.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_samples_table {

using namespace halfscope;

class TestSamplesTable : public QObject {
    Q_OBJECT
private slots:
    void linesOfTheFileAreNumbered();
    void textsStandBesideTheirClasses();
    void savingKeepsTheFacts();
    void numbersKeepTheirColumns();
    void tooManyNumbersAreRefused();

private:
    std::string write(const char* name, const std::string& bytes) {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Returns an experiment on the file that has trained for two steps.
    static std::unique_ptr<Experiment> trained(const std::string& path);
    static LaneFileBytes saved(Experiment& experiment, LaneFile file) {
        return laneFileBytes(experiment, file, 1, "1").value();
    }
    static QStringList linesOf(const std::string& text) {
        return QString::fromStdString(text).trimmed().split('\n');
    }
    QTemporaryDir m_folder;
};

std::unique_ptr<Experiment> TestSamplesTable::trained(const std::string& path) {
    RunConfig config = *experimentOn(path);
    config.device = "cpu";
    return trainedFor(2, config);
}

/// A line without a target is left out but counts, an empty one does not; each target is that of
/// its line.
void TestSamplesTable::linesOfTheFileAreNumbered() {
    std::string text = "size,kind\n7,\n\n";
    for (int i = 1; i <= 100; ++i)
        text += std::to_string(i) + (i <= 50 ? ",\"small, cheap\"\n" : ",large\n");
    const QStringList file = linesOf(text);
    const auto experiment = trained(write("kinds.csv", text));
    const std::string name = experiment->laneName(1);
    const QStringList lines = linesOf(saved(*experiment, LaneFile::Samples).bytes);
    QCOMPARE(lines[0], QStringLiteral("sample,target,") + QString::fromStdString(name));
    Predictions all;
    experiment->lane(1).evaluate(std::atomic<bool>{false}, &all);
    QCOMPARE(lines.size(), 1 + all.samples);
    const auto taken = predictedClasses(all, experiment->view().classes);
    for (qsizetype i = 1; i < lines.size(); ++i) {
        const QString number = lines[i].section(',', 0, 0);
        QVERIFY(number.toInt() > 0);
        // behind the heading and the empty line
        const QString target = file[number.toInt() + 2].section(',', 1);
        const QString own = QString::fromStdString(taken[static_cast<size_t>(i - 1)].name);
        QCOMPARE(lines[i],
                 number + ',' + target + ',' + (own.contains(',') ? '"' + own + '"' : own));
    }
}

/// A text that is no longer what was trained on would stand beside another one's prediction.
void TestSamplesTable::textsStandBesideTheirClasses() {
    std::string table = "review,mood\n";
    for (int i = 0; i < 200; ++i)
        table += std::string(i % 2 ? "a good" : "a bad") + " film of 19" + std::to_string(i / 2) +
                 (i % 2 ? ",up\n" : ",down\n");
    const QStringList file = linesOf(table);
    const std::string path = write("reviews.csv", table);
    const auto experiment = trained(path);
    QCOMPARE(experiment->config().task.kind, TaskKind::TextClasses);
    const LaneFileBytes whole = saved(*experiment, LaneFile::Samples);
    QVERIFY(whole.note.empty());
    const QStringList lines = linesOf(whole.bytes);
    QVERIFY(lines[0].startsWith(QLatin1String("sample,text,target,")));
    for (const QString& line : lines.mid(1))
        QCOMPARE(line.section(',', 1, 2), file[line.section(',', 0, 0).toInt() + 1]);
    write("reviews.csv", QString::fromStdString(table).replace("film", "play").toStdString());
    const LaneFileBytes changed = saved(*experiment, LaneFile::Samples);
    QCOMPARE(changed.note.english(), path + " changed after it was read, so there are no texts "
                                            "beside the predictions.");
    const QStringList without = linesOf(changed.bytes);
    QCOMPARE(without.size(), lines.size());
    QVERIFY(without[0].startsWith(QLatin1String("sample,target,")));
    QCOMPARE(without[1], lines[1].section(',', 0, 0) + ',' + lines[1].section(',', 2));
    write("reviews.csv", "mood\n"); // cannot be read as before
    QCOMPARE(saved(*experiment, LaneFile::Samples).bytes, changed.bytes);
    QVERIFY(QFile::remove(QString::fromStdString(path)));
    const LaneFileBytes gone = saved(*experiment, LaneFile::Samples);
    QCOMPARE(gone.bytes, changed.bytes);
    QCOMPARE(gone.note.english(), changed.note.english());
}

/// A run goes on with the facts of the table that it began with: a live edit counts its steps anew.
void TestSamplesTable::savingKeepsTheFacts() {
    std::string table = "review,mood\n";
    for (int i = 0; i < 200; ++i)
        table += std::string(i % 2 ? "a good" : "a bad") + " song of 19" + std::to_string(i / 2) +
                 (i % 2 ? ",up\n" : ",down\n");
    const std::string path = write("songs.csv", table);
    const auto experiment = trained(path);
    const TaskConfig task = taskOf(experiment->config());
    const int64_t samples = factsOf(task).train;
    const auto keepsThem = [&] {
        if (saved(*experiment, LaneFile::Samples).note.empty()) return false; // nothing changed
        const std::optional<FactsAnswer> known = knownFacts().find(task);
        return known && known->facts && known->facts->train == samples;
    };
    write("songs.csv", table + table.substr(table.find('\n') + 1));
    QVERIFY(keepsThem());
    QVERIFY(QFile::remove(QString::fromStdString(path)));
    QVERIFY(keepsThem());
    QVERIFY(!laneFileBytes(*experiment, LaneFile::Onnx, 1, "1")->bytes.empty());
}

void TestSamplesTable::numbersKeepTheirColumns() {
    Predictions one;
    one.samples = one.outputs = 2;
    one.values = {0.5f, 1.0f, 2.0f, 0.1f};
    one.targets = {1.0f, 2.0f, 3.0f, 4.0f};
    one.numbers = {7, 12};
    Predictions other = one;
    other.values[3] = 9;
    const LanePredictions lanes[] = {{"fp32", one}, {"b", other}};
    QCOMPARE(samplesCsv(lanes, nullptr, {}, WithTargets::Yes),
             std::string("sample,target_0,target_1,fp32_0,fp32_1,b_0,b_1\n"
                         "7,1,2,0.5,1,0.5,1\n12,3,4,2,0.1,2,9\n"));
    QCOMPARE(samplesCsv(std::span(lanes, 1), nullptr, {}, WithTargets::No),
             std::string("sample,fp32_0,fp32_1\n7,0.5,1\n12,2,0.1\n"));
}

void TestSamplesTable::tooManyNumbersAreRefused() {
    const auto trainedOn = [&](const char* name, int outputs) {
        const auto zeros = [](int values) {
            return std::string(static_cast<size_t>(4 * values), '\0');
        };
        const std::string y = "(40, " + std::to_string(outputs) + ")";
        return trained(write(name, zipBytes({{"x.npy", npy("<f4", "(40, 2)", zeros(80))},
                                             {"y.npy", npy("<f4", y, zeros(40 * outputs))}})));
    };
    const auto most = trainedOn("most.npz", 16), more = trainedOn("more.npz", 17);
    QVERIFY(saved(*most, LaneFile::Samples).bytes.starts_with("sample,target_0,target_1,"));
    QVERIFY(!saved(*more, LaneFile::Predictions).bytes.empty());
    more->requestStop(); // it is refused before any sample is judged, which would end in nothing
    QCOMPARE(thrownBy<InputError>([&] { saved(*more, LaneFile::Samples); }),
             std::string("A table has no room for the 17 numbers of each sample that this network "
                         "predicts: save them as .npy."));
}

} // namespace tst_samples_table

QTEST_GUILESS_MAIN(tst_samples_table::TestSamplesTable)
#include "tst_samples_table.moc"
