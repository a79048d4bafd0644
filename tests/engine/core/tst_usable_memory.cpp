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
};

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
    for (const QString& each : files) {
        const QStringList parts = each.split(' ');
        const QString path = root.filePath(parts[0]);
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(parts[1].toUtf8() + '\n');
    }
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

} // namespace tst_usable_memory

QTEST_GUILESS_MAIN(tst_usable_memory::TestUsableMemory)
#include "tst_usable_memory.moc"
