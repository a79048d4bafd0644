// Archives as programs write them, by the rules of each; hostile and damaged ones, each with its
// sentence.
#include "engine/core/error.h"
#include "engine/io/tar.h"
#include "tests/support/array_files.h"
#include "tests/support/tar_files.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <string>
#include <vector>

namespace tst_tar {

using namespace halfscope;

namespace {

struct File {
    std::string name, content;
    friend bool operator==(const File&, const File&) = default;
};

std::vector<File> filesIn(const std::string& path) {
    TarReader reader(path);
    std::vector<File> files;
    TarEntry entry;
    while (reader.next(entry)) {
        files.push_back({entry.name, reader.content(entry, 1 << 20)});
        require(readTarEntry(path, entry) == files.back().content, "the same by another way");
    }
    return files;
}

} // namespace

class TestTar : public QObject {
    Q_OBJECT
private slots:
    void files();
    void longNames();
    void sizes();
    void otherPrograms_data();
    void otherPrograms();
    void refuses_data();
    void refuses();
    void cutOff();
    void takesWhatIsBeforeDamage();
    void contentAtMost();

private:
    std::string archive(const std::string& bytes) const {
        return writeBytes(m_folder.filePath("a.tar").toStdString(), bytes);
    }
    QTemporaryDir m_folder;
};

void TestTar::files() {
    const std::string block(512, 'x');
    const std::string path =
        archive(tarFile(TarHeader{"folder", {}, '5'}, "") + tarFile("folder/a.txt", "one") +
                tarFile("empty", "") + tarFile("block", block) + tarFile("old/", "") +
                tarFile(TarHeader{"b", {}, '\0', {}, ""}, "two") + tarEnd() + "rubbish behind");
    QCOMPARE(filesIn(path),
             (std::vector<File>{
                 {"folder/a.txt", "one"}, {"empty", ""}, {"block", block}, {"b", "two"}}));
}

void TestTar::longNames() {
    const std::string half(150, 'h'), whole = half + "/" + std::string(90, 'n');
    const std::string path = archive(
        tarFile(TarHeader{std::string(90, 'n'), {}, '0', half}, "ustar") +
        tarFile(TarHeader{"@LongLink", {}, 'L'}, whole + '\0') + tarFile("short", "gnu") +
        tarFile(TarHeader{"pax", {}, 'x'}, paxRecord("mtime=1.5") + paxRecord("path=" + whole)) +
        tarFile("short", "pax") + tarFile(TarHeader{"g", {}, 'g'}, paxRecord("comment=c")) +
        tarFile("last", "plain") + tarEnd());
    QCOMPARE(
        filesIn(path),
        (std::vector<File>{{whole, "ustar"}, {whole, "gnu"}, {whole, "pax"}, {"last", "plain"}}));
}

/// Sizes are written as octal digits with spaces, as a binary number, or as a pax record.
void TestTar::sizes() {
    std::string binary(12, '\0');
    binary[0] = '\x80';
    binary[11] = 3;
    const std::string path = archive(tarFile(TarHeader{"a", "         3 "}, "one") +
                                     tarFile(TarHeader{"b", binary}, "two") +
                                     tarFile(TarHeader{"pax", {}, 'x'}, paxRecord("size=5")) +
                                     tarFile(TarHeader{"c", "00000000000"}, "three") + tarEnd());
    QCOMPARE(filesIn(path), (std::vector<File>{{"a", "one"}, {"b", "two"}, {"c", "three"}}));
}

void TestTar::otherPrograms_data() {
    QTest::addColumn<QString>("format");
    for (const char* format : {"gnu", "oldgnu", "pax", "posix", "ustar", "v7"})
        QTest::newRow(format) << format;
}

void TestTar::otherPrograms() {
    QFETCH(const QString, format);
    const QString tar = QStandardPaths::findExecutable("tar");
    if (tar.isEmpty()) QSKIP("the program tar is not installed");
    const QTemporaryDir folder;
    const std::string name = "some/" + std::string(90, 'n') + ".cls";
    QVERIFY(QDir(folder.path()).mkpath("some"));
    writeBytes(folder.filePath("some/1.txt").toStdString(), "one");
    writeBytes(folder.filePath(QString::fromStdString(name)).toStdString(), "two");
    const QString path = folder.filePath("a.tar");
    QCOMPARE(QProcess::execute(tar, {"--format", format, "--sort=name", "-C", folder.path(), "-cf",
                                     path, "some"}),
             0);
    QCOMPARE(filesIn(path.toStdString()),
             (std::vector<File>{{"some/1.txt", "one"}, {name, "two"}}));
}

void TestTar::refuses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("part");
    const auto row = [](const char* what, const std::string& bytes, const char* part) {
        QTest::newRow(what) << QByteArray::fromStdString(bytes) << part;
    };
    const std::string first = tarFile("a", "one");
    const auto named = [&](const std::string& name) {
        return first + tarFile(name, "x") + tarEnd();
    };
    const auto sized = [&](const std::string& size, const std::string& content = "x") {
        return first + tarFile(TarHeader{"b", size}, content) + tarEnd();
    };
    row("empty", "", ", byte 0: the archive ends early");
    row("text", std::string(600, 'x'), ", byte 0: not a file header: its checksum is wrong");
    row("packed", gzipBytes(named("b")),
        ": the archive is compressed with gzip; decompress it first");
    row("parent", named("../b"), ", byte 1024: the name \"../b\" is not allowed");
    row("parent inside", named("a/../../b"), "the name \"a/../../b\" is not allowed");
    row("parent at the end", named("a/.."), "the name \"a/..\" is not allowed");
    row("absolute", named("/etc/passwd"), "the name \"/etc/passwd\" is not allowed");
    row("no name", named(""), "the name \"\" is not allowed");
    row("link", first + tarFile(TarHeader{"b", {}, '2'}, ""),
        "b is a link; only files and folders");
    row("hard link", first + tarFile(TarHeader{"b", {}, '1'}, ""), "b is a link");
    row("device", first + tarFile(TarHeader{"b", {}, '3'}, ""), "b is neither a file nor a folder");
    row("pipe", first + tarFile(TarHeader{"b", {}, '6'}, ""), "b is neither a file nor a folder");
    row("sparse", first + tarFile(TarHeader{"b", {}, 'S'}, ""), "b is neither a file nor a folder");
    row("huge", sized("77777777777"), "b has 8589934591 bytes, and the archive ends after 1536");
    row("negative", sized("-0000000001"), "the size of b is not allowed");
    row("negative binary", sized(std::string(12, '\xff')), "the size of b is not allowed");
    row("huge binary", sized("\x80" + std::string(11, '\x7f')), "the size of b is not allowed");
    row("size of words", sized("twelve bytes"), "the size of b is not allowed");
    row("longer by one", sized("00000003001"), "b has 1537 bytes, and the archive ends after 1536");
    const auto pax = [&](const std::string& records) {
        return first + tarFile(TarHeader{"p", {}, 'x'}, records) + tarFile("b", "x") + tarEnd();
    };
    row("pax parent", pax(paxRecord("path=../b")), "the name \"../b\" is not allowed");
    row("pax negative", pax(paxRecord("size=-1")), "\"-1\" is not allowed as the size of a file");
    row("pax huge", pax(paxRecord("size=9223372036854775807")), "b has 9223372036854775807 bytes");
    row("pax larger", pax(paxRecord("size=99999999999999999999")), "is not allowed as the size");
    row("pax length", pax("999 path=b\n"), "the extended header is damaged");
    row("pax no length", pax("path=b\n"), "the extended header is damaged");
    row("pax short", pax("2 \n"), "the extended header is damaged");
    row("long name",
        first + tarFile(TarHeader{"L", {}, 'L'}, "../b") + tarFile("b", "x") + tarEnd(),
        "the name \"../b\" is not allowed");
    std::string wrong = named("b");
    wrong[1024 + 5] = 'x';
    row("checksum", wrong, ", byte 1024: not a file header: its checksum is wrong");
}

void TestTar::refuses() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, part);
    const std::string path = archive(bytes.toStdString());
    const std::string error = thrownBy<InputError>([&] { filesIn(path); });
    QVERIFY2(error.starts_with(path), error.c_str());
    QVERIFY2(error.find(part.toStdString()) != error.npos, error.c_str());
}

/// An archive cut off at any byte before its end mark never gives fewer files silently.
void TestTar::cutOff() {
    const std::string whole = tarFile("a", "one") + tarFile("b", std::string(700, 'x'));
    for (size_t length = 0; length <= whole.size();
         length += length % 512 < 2 ? size_t{1} : size_t{85}) {
        const std::string path = archive(whole.substr(0, length));
        const std::string error = thrownBy<InputError>([&] { filesIn(path); });
        QVERIFY2(error.find("the archive ends") != error.npos, error.c_str());
    }
    QCOMPARE(filesIn(archive(whole + std::string(512, '\0'))).size(), size_t{2});
}

/// What stands before a place without a header is taken where that is asked for.
void TestTar::takesWhatIsBeforeDamage() {
    std::string bytes = tarFile("a", "one") + tarFile("b", "two") + tarEnd();
    bytes[1024 + 5] = 'x';
    TarReader reader(archive(bytes), CutTar::TakeWholeFiles);
    TarEntry entry;
    QVERIFY(reader.next(entry));
    QCOMPARE(entry.name, std::string("a"));
    QVERIFY(!reader.damagedAt() && reader.cut().empty());
    QVERIFY(!reader.next(entry));
    QCOMPARE(reader.damagedAt().value_or(0), int64_t{1024});
    QVERIFY(!reader.lacksOnlyEnd());
    QVERIFY(
        reader.cut().english().ends_with(", byte 1024: not a file header: its checksum is wrong"));
}

void TestTar::contentAtMost() {
    TarReader reader(archive(tarFile("a", "12345") + tarEnd()));
    TarEntry entry;
    QVERIFY(reader.next(entry));
    QCOMPARE(reader.content(entry, 5), std::string("12345"));
    QVERIFY(thrownBy<InputError>([&] {
                reader.content(entry, 4);
            }).ends_with(", byte 512: a has 5 bytes; at most 4 are read"));
    QVERIFY(!reader.next(entry)); // whatever was read in between
    entry.offset += 2000;         // as in an archive that has become shorter
    QVERIFY(thrownBy<InputError>([&] {
                reader.content(entry, 5);
            }).ends_with(", byte 2512: the archive ends in the middle of a"));
}

} // namespace tst_tar

QTEST_APPLESS_MAIN(tst_tar::TestTar)
#include "tst_tar.moc"
