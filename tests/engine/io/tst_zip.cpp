// Zip archives and the arrays in them: what NumPy writes is read, and an archive that is damaged,
// cut off or lies about itself is refused in one sentence that names it.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/io/npz.h"
#include "engine/io/zip.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

namespace tst_zip {

using namespace halfscope;
using namespace std::string_literals;

namespace {

const std::string kInputs = npy("<f4", "(2, 3)", bytesOfValues<float>({1, 2, 3, 4, 5, 6}));
const std::string kTargets = npy("|u1", "(2,)", "\3\4");

std::string contentOf(const std::string& path, size_t entry) {
    ZipFile zip(path);
    ZipReader reader(zip, zip.entries()[entry]);
    std::string all, block(1000, '\0');
    while (const size_t count = reader.read(block))
        all.append(block, 0, count);
    return all;
}

} // namespace

class TestZip : public QObject {
    Q_OBJECT

private slots:
    void readsArrays_data();
    void readsArrays();
    void readsFiles();
    void refuses_data();
    void refuses();
    void everyByteMatters();
    void givesUpWhenAsked();
    void givesUpBetweenBlocks();

private:
    std::string file(const std::string& bytes) const {
        return writeBytes(m_folder.filePath("a.npz").toStdString(), bytes);
    }
    QTemporaryDir m_folder;
};

void TestZip::readsArrays_data() {
    QTest::addColumn<bool>("packed");
    QTest::newRow("numpy.savez") << false;
    QTest::newRow("numpy.savez_compressed") << true;
}

void TestZip::readsArrays() {
    QFETCH(const bool, packed);
    const std::string path = file(zipBytes(
        {{"x.npy", kInputs, packed}, {"notes.txt", "no array"}, {"y.npy", kTargets, packed}}));
    QCOMPARE(npzNames(path), (std::vector<std::string>{"x", "y"}));
    QCOMPARE(npzInfo(path, "x").shape, (std::vector<int64_t>{2, 3}));
    QCOMPARE(npzInfo(path, "x").name, "x"s);
    QCOMPARE(readNpz(path, "x").info.name, "x"s);
    QCOMPARE(readNpz(path, "x").at(5), 6.0);
    QCOMPARE(readNpz(path, "y").at(1), 4.0);
    QVERIFY(isAbout(thrownBy<InputError>([&] { readNpz(path, "z"); }), path,
                    "there is no array \"z\" in it"));
}

/// Reads files that are longer than the blocks they are read in, and files without a byte.
void TestZip::readsFiles() {
    std::string large;
    for (int64_t i = 0; i < 300'000; ++i)
        large += static_cast<char>(i * i >> 7);
    const std::string path = file(zipBytes(
        {{"large", large, true}, {"plain", large}, {"", "", true}, {"none", ""}}, "a comment"));
    QCOMPARE(contentOf(path, 0), large);
    QCOMPARE(contentOf(path, 1), large);
    QCOMPARE(contentOf(path, 2), std::string());
    QCOMPARE(contentOf(path, 3), std::string());
    QVERIFY(npzNames(file(zipBytes({}))).empty());
}

void TestZip::refuses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("about");
    const auto row = [](const char* what, const std::string& bytes, const char* about) {
        QTest::newRow(what) << QByteArray::fromStdString(bytes) << QString(about);
    };
    const std::string good = zipBytes({{"x.npy", kInputs, true}});
    const size_t list = good.find("PK\1\2"), end = good.find("PK\5\6");
    const auto with = [&](size_t at, const std::string& bytes) {
        return std::string(good).replace(at, bytes.size(), bytes);
    };
    row("empty", "", "it has no list of its files");
    row("a text", "step,loss\n", "it has no list of its files");
    row("cut", good.substr(0, good.size() - 5), "it has no list of its files");
    row("long list", with(end + 12, "\1\0\0\4"s), "the list of its files is damaged");
    row("list elsewhere", with(end + 16, "\xff\xff\xff\x7f"), "it was cut off");
    row("list is none", with(list, "PK\1\1"), "the list of its files is damaged");
    row("more files", with(end + 10, "\2"), "the list of its files is damaged");
    row("long name", with(list + 28, "\xff\xff"), "the list of its files is damaged");
    row("zip64", with(end + 10, "\xff\xff"), "it has more than 4 GiB or 65,534 files");
    row("zip64 of a file", with(list + 24, "\xff\xff\xff\xff"), "it has more than 4 GiB");
    row("encrypted", with(list + 8, "\1"), "x.npy is encrypted, or packed in another way");
    row("bzip2", with(list + 10, "\14"), "x.npy is encrypted, or packed in another way");
    row("checksum", with(list + 16, "abcd"), "x.npy in it is damaged");
    row("too many bytes", with(list + 24, "\xff\xff\xff\x7f"), "x.npy in it is damaged");
    row("fewer packed bytes", with(list + 20, "\x10"s + '\0'), "x.npy in it is damaged");
    row("more packed bytes", with(list + 20, "\xff\xff"), "x.npy in it is damaged");
    row("stored", with(list + 10, "\0"s), "x.npy in it is damaged");
    row("no header", with(0, "PK\3\3"), "x.npy in it is damaged");
    row("header elsewhere", with(list + 42, "\1"), "x.npy in it is damaged");
    row("twice", zipBytes({{"x.npy", kInputs}, {"y.npy", kTargets}, {"x.npy", kTargets}}),
        "a.npz: the array \"x\" is in it more than once");
    std::string noise(320'000, '\0'); // at most 315 MiB when it is unpacked
    for (uint32_t i = 0, state = 1; i < noise.size(); ++i)
        noise[i] = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    const std::string small = zipBytes({{"x.npy", noise, true}});
    row("much from little",
        std::string(small).replace(small.rfind("PK\1\2") + 24, 4, "\0\0\0\x13"s),
        "a.npz/x.npy: its values take 304 MiB, more than 200 times what they are packed in; above "
        "256 MiB, this is not allowed. numpy.savez, without compression, saves arrays that can be "
        "read.");
    row("no array", zipBytes({{"x.npy", "no array"}}),
        "a.npz/x.npy: cannot be read as an .npy file, because ");
}

void TestZip::refuses() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QString, about);
    const std::string path = file(bytes.toStdString());
    const std::string error = thrownBy<InputError>([&] { readNpz(path, "x"); });
    QVERIFY2(error.starts_with(path) && error.find(about.toStdString()) != std::string::npos,
             error.c_str());
}

/// A changed byte in the packed data is noticed, or it changes nothing.
void TestZip::everyByteMatters() {
    const std::string good = zipBytes({{"x.npy", kInputs, true}});
    const size_t start = 30 + 5 + 4, end = good.find("PK\1\2");
    const auto values = readNpz(file(good), "x").bytes;
    for (size_t at = start; at < end; ++at) {
        std::string bytes = good;
        bytes[at] = static_cast<char>(bytes[at] ^ 4);
        const std::string path = file(bytes);
        try {
            QCOMPARE(readNpz(path, "x").bytes, values);
        } catch (const InputError& error) {
            QVERIFY2(std::string(error.what()).starts_with(path), error.what());
        }
    }
}

void TestZip::givesUpWhenAsked() {
    const std::string path = file(zipBytes({{"x.npy", kInputs}}));
    std::stop_source stop;
    stop.request_stop();
    const Cancellable cancellable(stop.get_token());
    QVERIFY_EXCEPTION_THROWN(readNpz(path, "x"), Cancelled);
}

/// Zeros are packed so well that all of the file is in memory after the first block.
void TestZip::givesUpBetweenBlocks() {
    ZipFile zip(file(zipBytes({{"zeros", std::string(1'000'000, '\0'), true}})));
    ZipReader reader(zip, zip.entries()[0]);
    std::string block(1000, '\0');
    std::stop_source stop;
    const Cancellable cancellable(stop.get_token());
    QCOMPARE(reader.read(block), block.size());
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(reader.read(block), Cancelled);
}

} // namespace tst_zip

QTEST_GUILESS_MAIN(tst_zip::TestZip)
#include "tst_zip.moc"
