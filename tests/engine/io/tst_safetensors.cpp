// Files of arrays that this program writes: this program reads them again, and so does the
// safetensors package. Damaged files are in tst_array_files.
#include "engine/core/error.h"
#include "engine/io/output_folder.h"
#include "engine/io/safetensors.h"
#include "tests/support/python.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include <unistd.h>

namespace tst_safetensors {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Arrays of every type, with odd extents, an empty one and a single value; each byte differs from
/// its neighbours.
struct Samples {
    std::vector<std::vector<std::byte>> values;
    std::vector<ArrayView> arrays;

    Samples() {
        const std::vector<std::vector<int64_t>> shapes{{3, 5}, {}, {0, 4}, {7}};
        for (int type = 0; type <= static_cast<int>(ElementType::F64); ++type)
            for (const auto& shape : shapes) {
                const auto element = static_cast<ElementType>(type);
                std::vector<std::byte> bytes(static_cast<size_t>(*checkedBytes(element, shape)));
                for (size_t i = 0; i < bytes.size(); ++i) // a bool may only be 0 or 1
                    bytes[i] = std::byte(element == ElementType::Bool ? i % 2 : 5 * i + 1);
                values.push_back(std::move(bytes));
                arrays.push_back({nameOf(element) + ("." + std::to_string(shape.size())) +
                                      (shape.size() == 2 ? std::to_string(shape[0]) : ""),
                                  element, shape, values.back()});
            }
    }
};

const SafetensorsMetadata kMetadata{{"format", "pt"}, {"a \"key\"", "two\nlines, \xc3\xa9"}};

} // namespace

class TestSafetensors : public QObject {
    Q_OBJECT

private slots:
    void comesBack();
    void valuesAreAligned();
    void theLibraryReadsIt();
    void nothingButNames();
    void manyArrays();
    void tooManyKeys();
    void replacesAndKeeps();
    void failsWhole();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

void TestSafetensors::comesBack() {
    const Samples samples;
    writeSafetensors(path("all.safetensors"), samples.arrays, kMetadata);
    const SafetensorsInfo info = safetensorsInfo(path("all.safetensors"));
    QCOMPARE(info.metadata, kMetadata);
    QCOMPARE(info.arrays.size(), samples.arrays.size());
    for (const ArrayView& each : samples.arrays) {
        const ArrayInfo* found = info.find(each.name);
        QVERIFY2(found, each.name.c_str());
        QCOMPARE(found->type, each.type);
        QCOMPARE(found->shape, each.shape);
        const std::vector<std::byte> bytes = readSafetensor(path("all.safetensors"), *found).bytes;
        QVERIFY2(std::ranges::equal(bytes, each.bytes), each.name.c_str());
    }
}

/// Programs that map the file want elements at multiples of their size.
void TestSafetensors::valuesAreAligned() {
    const Samples samples;
    writeSafetensors(path("all.safetensors"), samples.arrays, kMetadata);
    for (const ArrayInfo& each : safetensorsInfo(path("all.safetensors")).arrays)
        QVERIFY2(each.offset % static_cast<int64_t>(bytesOf(each.type)) == 0, each.name.c_str());
}

void TestSafetensors::theLibraryReadsIt() {
    if (lacksPython()) QSKIP(lacksPython());
    const Samples samples;
    writeSafetensors(path("all.safetensors"), samples.arrays, kMetadata);
    QString expected;
    for (const ArrayView& each : samples.arrays) {
        if (each.type == ElementType::U64 || each.type == ElementType::U32 ||
            each.type == ElementType::U16)
            continue; // older versions of PyTorch lack it
        QStringList shape;
        for (const int64_t extent : each.shape)
            shape << QString::number(extent);
        expected += QStringLiteral("%1 torch.%2 [%3] %4\n")
                        .arg(QString::fromStdString(each.name), nameOf(each.type), shape.join(", "),
                             QString::fromLatin1(
                                 QByteArray(reinterpret_cast<const char*>(each.bytes.data()),
                                            static_cast<qsizetype>(each.bytes.size()))
                                     .toHex()));
    }
    const QString script = QStringLiteral(R"(
import sys, torch
from safetensors import safe_open
with safe_open(sys.argv[1], "pt") as f:
    assert f.metadata() == {"format": "pt", 'a "key"': "two\nlines, é"}, f.metadata()
    for name in sys.argv[2:]:
        t = f.get_tensor(name)
        print(name, t.dtype, list(t.shape),
              bytes(t.reshape(-1).view(torch.uint8).tolist() if t.numel() else []).hex())
)");
    QStringList arguments{m_folder.filePath("all.safetensors")};
    for (const QString& line : expected.split('\n', Qt::SkipEmptyParts))
        arguments << line.section(' ', 0, 0);
    QString found;
    for (const QString& line : python(script, arguments).split('\n'))
        found += line.trimmed() + '\n';
    QString trimmed;
    for (const QString& line : expected.trimmed().split('\n'))
        trimmed += line.trimmed() + '\n';
    QCOMPARE(found, trimmed);
}

void TestSafetensors::nothingButNames() {
    writeSafetensors(path("none.safetensors"), {}, {});
    const SafetensorsInfo info = safetensorsInfo(path("none.safetensors"));
    QVERIFY(info.arrays.empty() && info.metadata.empty());
    const std::vector<std::byte> two(2);
    const ArrayView only{"only", ElementType::U8, {2}, two};
    writeSafetensors(path("only.safetensors"), std::span(&only, 1), {});
    QCOMPARE(safetensorsInfo(path("only.safetensors")).arrays.size(), size_t{1});
}

/// As many as a network may have: what is written is read again.
void TestSafetensors::manyArrays() {
    constexpr size_t kCount = 100'000;
    const std::vector<std::byte> values(kCount);
    std::vector<ArrayView> arrays;
    for (size_t i = 0; i < kCount; ++i)
        arrays.push_back(
            {std::to_string(i), ElementType::U8, {1}, std::span(values).subspan(i, 1)});
    writeSafetensors(path("many.safetensors"), arrays, {});
    const SafetensorsInfo info = safetensorsInfo(path("many.safetensors"));
    QCOMPARE(info.arrays.size(), kCount);
    const auto start = info.arrays.front().offset;
    for (size_t i = 0; i < kCount; ++i) {
        const ArrayInfo* const found = info.find(arrays[i].name);
        QVERIFY2(found && found->offset == start + static_cast<int64_t>(i), arrays[i].name.c_str());
    }
    QVERIFY(!info.find("") && !info.find("100000") && !info.find("x"));
}

/// Millions of short keys would take 40 times the memory of the file.
void TestSafetensors::tooManyKeys() {
    std::string header = R"({"__metadata__":{)";
    for (int i = 0; i <= 200'000; ++i)
        header += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":"")";
    header += "}}";
    const uint64_t length = header.size();
    QFile file(m_folder.filePath("keys.safetensors"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.write(header.data(), static_cast<qint64>(header.size()));
    file.close();
    const std::string name = path("keys.safetensors");
    for (const auto& read : {+[](const std::string& at) { safetensorsInfo(at); },
                             +[](const std::string& at) { safetensorsMetadata(at); }})
        QVERIFY(isAbout(thrownBy<InputError>([&] { read(name); }), name,
                        "more than 200000 keys in one object"));
}

/// The earlier file is kept whole under its other name, and no third one is left.
void TestSafetensors::replacesAndKeeps() {
    const QString place = m_folder.filePath("kept");
    const OutputFolder folder(place.toStdString());
    const auto content = [&place](const char* name) {
        QFile file(place + '/' + name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(missing)");
    };
    for (const char* now : {"1", "2", "3"}) {
        const std::string_view parts[] = {"state ", now};
        folder.write("now", parts, "before");
    }
    QCOMPARE(content("now"), "state 3");
    QCOMPARE(content("before"), "state 2");
    // as a kill between the two renames leaves it
    QFile::remove(place + "/before");
    QVERIFY(::link((place + "/now").toUtf8().data(), (place + "/before").toUtf8().data()) == 0);
    const std::string_view last = "state 4";
    folder.write("now", std::span(&last, 1), "before");
    QCOMPARE(content("now"), "state 4");
    QCOMPARE(content("before"), "state 3");
    QCOMPARE(QDir(place).entryList(QDir::Files | QDir::Hidden, QDir::Name),
             (QStringList{".halfscope.lock", "before", "now"}));
}

void TestSafetensors::failsWhole() {
    const std::vector<std::byte> values(8);
    const ArrayView array{"x", ElementType::F32, {2}, values};
    const auto write = [&](const std::string& to) {
        writeSafetensors(to, std::span(&array, 1), {});
    };
    const std::string nowhere = path("no/such/folder/x.safetensors");
    QVERIFY(thrownBy<RunError>([&] { write(nowhere); }).find("cannot write") != std::string::npos);
    const SafetensorsMetadata much{{"text", std::string(size_t{17} << 20, 'x')}};
    const auto tooLong = [&] { safetensorsHeader({}, much); };
    QVERIFY(thrownBy<RunError>(tooLong).find("the most that is read again") != std::string::npos);
}

} // namespace tst_safetensors

QTEST_GUILESS_MAIN(tst_safetensors::TestSafetensors)
#include "tst_safetensors.moc"
