// Limits on the memory of a program: control groups of both versions, and the address space.
#include "engine/core/usable_memory.h"
#include "tests/support/address_limit.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

namespace tst_usable_memory {

using namespace halfscope;

class TestUsableMemory : public QObject {
    Q_OBJECT

private slots:
    void groupsLimit_data();
    void groupsLimit();
    void addressSpaceLimits();
    void freeInTheMachine();
    void groupsLeave_data();
    void groupsLeave();
    void noMoreIsFreeThanThereIs();
};

namespace {

/// Writes files, each given as "path content".
void writeIn(const QTemporaryDir& root, const QStringList& files) {
    for (const QString& each : files) {
        const qsizetype end = each.indexOf(' ');
        const QString path = root.filePath(each.left(end));
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(each.mid(end + 1).toUtf8() + '\n');
    }
}

} // namespace

void TestUsableMemory::groupsLimit_data() {
    QTest::addColumn<QStringList>("files"); ///< "path content"
    QTest::addColumn<QByteArray>("groups");
    QTest::addColumn<qint64>("limit"); ///< -1: none
    const auto row = [](const char* name, const QStringList& files, const QByteArray& groups,
                        qint64 limit) { QTest::newRow(name) << files << groups << limit; };
    row("no groups", {}, "", -1);
    row("version 2", {"a/b/memory.max 5000"}, "0::/a/b\n", 5000);
    row("without line end", {"a/b/memory.max 5000"}, "0::/a/b", 5000);
    row("no limit", {"a/memory.max max"}, "0::/a\n", -1);
    row("the outer one is lower", {"a/memory.max 40", "a/b/memory.max 50"}, "0::/a/b\n", 40);
    row("the inner one is lower", {"a/memory.max 60", "a/b/memory.max 50"}, "0::/a/b\n", 50);
    row("in a container", {"memory.max 70"}, "0::/\n", 70);
    row("a path from outside", {"memory.max 70"}, "0::/docker/123\n", 70);
    row("another group's", {"c/memory.max 10"}, "0::/a\n", -1);
    row("version 1", {"memory/a/memory.limit_in_bytes 80"}, "9:cpu:/x\n4:memory:/a\n", 80);
    row("several controllers", {"memory/a/memory.limit_in_bytes 80"}, "4:hugetlb,memory:/a\n", 80);
    row("another controller", {"memory/a/memory.limit_in_bytes 80"}, "4:cpu:/a\n", -1);
    row("both versions", {"memory/a/memory.limit_in_bytes 80", "b/memory.max 60"},
        "4:memory:/a\n0::/b\n", 60);
    row("no number", {"a/memory.max 12x"}, "0::/a\n", -1);
    row("damaged lines", {"memory.max 70"}, "x\n0:\n0::a\n\n", -1);
}

void TestUsableMemory::groupsLimit() {
    QFETCH(QStringList, files);
    QFETCH(QByteArray, groups);
    QFETCH(qint64, limit);
    const QTemporaryDir root;
    writeIn(root, files);
    const auto found = groupLimit(groups.toStdString(), root.path().toStdString());
    QCOMPARE(found ? static_cast<qint64>(*found) : -1, limit);
}

void TestUsableMemory::addressSpaceLimits() {
    constexpr size_t kMebibyte = size_t{1} << 20;
    QVERIFY(usableMemory() > 0);
    QVERIFY(hasAddressSpace(1024 * kMebibyte));
    const AddressLimit limit(64 * kMebibyte);
    QVERIFY(usableMemory() <= limit.bytes());
    QVERIFY(hasAddressSpace(32 * kMebibyte));
    QVERIFY(!hasAddressSpace(1024 * kMebibyte));
}

void TestUsableMemory::freeInTheMachine() {
    const auto text = "MemTotal:       24684092 kB\nMemFree:        18381144 kB\n"
                      "MemAvailable:   23696128 kB\nBuffers:           87572 kB\n";
    QCOMPARE(freeInMachine(text), std::optional(size_t{23696128} << 10));
    QCOMPARE(freeInMachine("MemAvailable: 0 kB"), std::optional(size_t{0}));
    for (const char* const none : {"", "MemFree: 12 kB\n", "MemAvailable:\n", "MemAvailable: x\n",
                                   "NoMemAvailable: 12 kB\n", "MemAvailable:    "})
        QVERIFY2(!freeInMachine(none), none);
}

void TestUsableMemory::groupsLeave_data() {
    QTest::addColumn<QStringList>("files"); ///< "path content"
    QTest::addColumn<QByteArray>("groups");
    QTest::addColumn<qint64>("left"); ///< -1: nothing limits them
    const auto row = [](const char* name, const QStringList& files, const QByteArray& groups,
                        qint64 left) { QTest::newRow(name) << files << groups << left; };
    const QStringList second{"a/memory.max 5000", "a/memory.current 3000"};
    row("version 2", second, "0::/a\n", 2000);
    row("files in the cache are given back",
        second + QStringList{"a/memory.stat anon 9\ninactive_file 700\nactive_file 200\n"
                             "inactive_file_x 5"},
        "0::/a\n", 2900);
    row("so is what is known of files",
        second + QStringList{"a/memory.stat active_file 200\nslab_reclaimable 90\nslab 95"},
        "0::/a\n", 2290);
    row("more cached than used", second + QStringList{"a/memory.stat active_file 4000"}, "0::/a\n",
        5000);
    row("the outer group is fuller",
        {"a/memory.max 900", "a/memory.current 850", "a/b/memory.max 500",
         "a/b/memory.current 100"},
        "0::/a/b\n", 50);
    row("no limit", {"a/memory.max max", "a/memory.current 850"}, "0::/a\n", -1);
    row("use is not known", {"a/memory.max 900"}, "0::/a\n", 900);
    row("more used than allowed", {"a/memory.max 900", "a/memory.current 950"}, "0::/a\n", 0);
    row("version 1",
        {"memory/a/memory.limit_in_bytes 900", "memory/a/memory.usage_in_bytes 850",
         "memory/a/memory.stat inactive_file 1\ntotal_inactive_file 20\ntotal_active_file 10"},
        "4:memory:/a\n", 80);
}

void TestUsableMemory::groupsLeave() {
    QFETCH(QStringList, files);
    QFETCH(QByteArray, groups);
    QFETCH(qint64, left);
    const QTemporaryDir root;
    writeIn(root, files);
    const auto found = freeInGroups(groups.toStdString(), root.path().toStdString());
    QCOMPARE(found ? static_cast<qint64>(*found) : -1, left);
}

void TestUsableMemory::noMoreIsFreeThanThereIs() {
    const std::optional<size_t> free = freeMemory();
    QVERIFY(free && *free > 0 && *free <= usableMemory());
}

} // namespace tst_usable_memory

QTEST_GUILESS_MAIN(tst_usable_memory::TestUsableMemory)
#include "tst_usable_memory.moc"
