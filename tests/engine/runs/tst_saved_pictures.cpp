// Pictures in the folder of a run, some of which cannot be read: the others are shown, and saving
// the run there again deletes none.
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/lost_pictures.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tst_saved_pictures {

using namespace halfscope;

namespace {

/// Saves a run of the lanes fp32 and amp-fp16 with pictures of all kinds.
void saveIn(const std::string& folder) {
    const auto run = readRun(HALFSCOPE_SOURCE_DIR "/tests/engine/runs/data/overflow");
    RunBatch batch;
    batch.pictures = *run->now().pictures();
    batch.pictures->galleries.resize(3, {2, 1, 3, {0, 0, 0, 1, 1, 1}, "1/2"});
    batch.pictures->mistakes.resize(2, {1, 1, 3, {1, 0, 0}, "1/1"});
    run->append(std::move(batch));
    QCOMPARE(saveRun(run->snapshot(), folder).picturesError.english(), std::string());
}

std::vector<std::string> picturesIn(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& each : std::filesystem::directory_iterator(folder))
        if (each.path().extension() == ".png") names.push_back(each.path().filename().string());
    return names;
}

} // namespace

class TestSavedPictures : public QObject {
    Q_OBJECT
private slots:
    void theOthersAreRead_data();
    void theOthersAreRead();
    void aMissingOneIsTold();
    void noneAtAll();
};

void TestSavedPictures::theOthersAreRead_data() {
    QTest::addColumn<QByteArray>("lost");
    QTest::newRow("output_fp32.png") << QByteArray("lane fp32");
    QTest::newRow("output_amp-fp16.png") << QByteArray("lane amp-fp16");
    QTest::newRow("samples_fp32.png") << QByteArray("the samples of lane fp32");
    QTest::newRow("samples_target.png") << QByteArray("the samples with their true classes");
    QTest::newRow("mistakes_amp-fp16.png") << QByteArray("the mistakes of lane amp-fp16");
    QTest::newRow("target.png") << QByteArray("the target");
}

/// A damaged file stays as it is: another program may still read it.
void TestSavedPictures::theOthersAreRead() {
    QFETCH(const QByteArray, lost);
    const QTemporaryDir results;
    const std::string folder = results.path().toStdString();
    const std::string file = folder + "/" + QTest::currentDataTag();
    saveIn(folder);
    writeFileAtomically(file, "damaged");
    const std::vector<std::string> before = picturesIn(folder);
    QCOMPARE(before.size(), size_t{8});
    const auto run = readRun(folder);
    const auto pictures = run->now().pictures();
    QCOMPARE(pictures->outputs.size(), size_t{2});
    QCOMPARE(pictures->galleries.size(), size_t{3});
    QCOMPARE(pictures->mistakes.size(), size_t{2});
    QCOMPARE(lostPicturesText(run->now(), *pictures).english(),
             folder + ": some pictures of step " + std::to_string(run->step()) + " are damaged (" +
                 lost.data() + ")");
    const std::string told = saveRun(run->snapshot(), folder).picturesError.english();
    QVERIFY2(told.starts_with("Saved, but pictures cannot be read any more. Those that were "),
             told.c_str());
    QCOMPARE(picturesIn(folder).size(), before.size());
    QCOMPARE(readFile(file), std::string("damaged"));
}

/// Also where the manifest does not name it, because the run was saved without it.
void TestSavedPictures::aMissingOneIsTold() {
    const QTemporaryDir results;
    const std::string folder = results.path().toStdString();
    saveIn(folder);
    for (const char* name : {"output_amp-fp16.png", "manifest.json"})
        std::filesystem::remove(folder + "/" + name);
    const auto run = readRun(folder);
    QCOMPARE(run->now().pictures()->lost.outputs, std::vector<size_t>{1});
    QVERIFY(run->now().pictures()->outputs.at(0).width > 0);
    const MissingPart missing{MissingPart::Kind::All, "output_amp-fp16.png"};
    QVERIFY(std::ranges::find(run->info().missing, missing) != run->info().missing.end());
}

/// The headline tells what is missing; there is nothing to show.
void TestSavedPictures::noneAtAll() {
    const QTemporaryDir results;
    const std::string folder = results.path().toStdString();
    saveIn(folder);
    for (const std::string& name : picturesIn(folder))
        std::filesystem::remove(folder + "/" + name);
    const auto run = readRun(folder);
    QVERIFY(run->now().sharedPictures()->empty());
    QVERIFY(!run->info().missing.empty());
}

} // namespace tst_saved_pictures

QTEST_GUILESS_MAIN(tst_saved_pictures::TestSavedPictures)
#include "tst_saved_pictures.moc"
