// Folders of runs on disks that are too small: what does not fit is named, and all else is there.
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_writer.h"
#include "engine/settings/fields.h"
#include "tests/support/growth_limit.h"
#include "tests/support/run_tables.h"
#include "tests/support/thrown.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <sys/mount.h>

#include <memory>
#include <string_view>

namespace tst_full_disks {

using namespace halfscope;

class TestFullDisks : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<RunFolder>(); }
    void aFileThatDoesNotFit();
    void filesOfTheEndThatDoNotFit();
    void aDiskWithRoomForTwo();

private:
    std::string folder() const { return m_folder->folder().toStdString(); }
    std::unique_ptr<RunFolder> m_folder;
};

/// The run goes on without a file that is too large for the disk; the one before stays, and a later
/// one that fits takes its place.
void TestFullDisks::aFileThatDoesNotFit() {
    RunInfo info = table::runInfo();
    RunWriter files(folder(), info, lanesOf(defaultConfig()), {1, 1, 1, {0}});
    const std::string name = m_folder->file("checkpoint.safetensors");
    const auto place = [&files](const std::string& content) {
        const std::string_view whole = content;
        return files.place("checkpoint.safetensors", {&whole, 1}, "checkpoint-before.safetensors");
    };
    files.append(table::batchOf(1));
    QVERIFY(place("first").empty());
    files.append(table::batchOf(2));
    {
        constexpr size_t kMost = 100000;
        const GrowthLimit limit(kMost);
        const Message problem = place(std::string(2 * kMost, 'x'));
        QVERIFY2(isAbout(problem.english(), name, "cannot write"), problem.english().c_str());
    }
    QCOMPARE(readFile(name), std::string("first"));
    for (const QString& each : QDir(m_folder->folder()).entryList(QDir::Files | QDir::Hidden))
        QVERIFY2(!each.endsWith(".tmp"), qPrintable(each));
    files.append(table::batchOf(3));
    QVERIFY(place("third").empty());
    QCOMPARE(readFile(name), std::string("third"));
    QCOMPARE(readFile(m_folder->file("checkpoint-before.safetensors")), std::string("first"));
    info.outcome = RunOutcome::Finished;
    files.finish(info, {});
    QVERIFY(manifestOf(readFile(m_folder->file("manifest.json"))).whole);
}

/// Each is named, and all others are there, the summary above all.
void TestFullDisks::filesOfTheEndThatDoNotFit() {
    RunInfo info = table::runInfo();
    info.outcome = RunOutcome::Finished;
    {
        RunWriter files(folder(), info, lanesOf(defaultConfig()), {1, 1, 1, {0}});
        files.append(table::batchOf(1));
        constexpr size_t kMost = 100'000;
        const std::string large(2 * kMost, 'x');
        const std::vector<MadeFile> made{{"weights_fp32.safetensors", large},
                                         {"weights_bf16.safetensors", "small"},
                                         {"weights_fp16.safetensors", large}};
        const GrowthLimit limit(kMost);
        QCOMPARE(thrownBy<RunError>([&] { files.finish(info, {}, made); }),
                 m_folder->file("weights_fp32.safetensors") +
                     ": cannot write: File too large; nor were these files written: "
                     "weights_fp16.safetensors");
    }
    QCOMPARE(readFile(m_folder->file("weights_bf16.safetensors")), std::string("small"));
    const std::string summary = readFile(m_folder->file("summary.json"));
    QVERIFY2(summary.find("\"outcome\": \"finished\"") != summary.npos, summary.c_str());
    QVERIFY(!manifestOf(readFile(m_folder->file("manifest.json"))).whole);
}

/// The file before makes room for the next one, where the one that has the name may stay alone.
void TestFullDisks::aDiskWithRoomForTwo() {
    const QTemporaryDir disk;
    if (::mount("tmpfs", qPrintable(disk.path()), "tmpfs", 0, "size=3m") != 0)
        QSKIP("a small file system cannot be mounted here (needs root)");
    const auto end = qScopeGuard([&disk] { ::umount(qPrintable(disk.path())); });
    const std::string run = disk.filePath("run").toStdString();
    RunWriter files(run, table::runInfo(), lanesOf(defaultConfig()), {1, 1, 1, {0}});
    const auto place = [&files](char content, OnFullDisk onFullDisk) {
        const std::string whole(1'200'000, content);
        const std::string_view part = whole;
        return files.place("now", {&part, 1}, "before", onFullDisk).english();
    };
    for (const char content : {'1', '2'})
        QCOMPARE(place(content, OnFullDisk::KeepBefore), std::string());
    QVERIFY(place('3', OnFullDisk::KeepBefore).ends_with("cannot write: No space left on device"));
    QCOMPARE(readFile(run + "/before").front(), '1');
    QCOMPARE(place('3', OnFullDisk::RemoveBefore), std::string());
    QCOMPARE(readFile(run + "/now").front(), '3');
    QCOMPARE(readFile(run + "/before").front(), '2');
}

} // namespace tst_full_disks

QTEST_GUILESS_MAIN(tst_full_disks::TestFullDisks)
#include "tst_full_disks.moc"
