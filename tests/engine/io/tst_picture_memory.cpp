// Pictures that come in several passes: what they take until the last one is limited, whatever is
// read of them.
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/picture.h"
#include "tests/support/address_limit.h"
#include "tests/support/picture_files.h"
#include "tests/support/processor_time.h"
#include "tests/support/thrown.h"
#include "tests/support/under_sanitizer.h"

#include <QTemporaryDir>
#include <QTest>

#include <zlib.h>

#include <optional>

namespace tst_picture_memory {

using namespace halfscope;

namespace {

/// Returns a file of the bytes that so large a picture needs when deflate packs it best.
std::string padded(std::string bytes) { return bytes.append(size_t{5} << 19, '\0'); }

std::string number(uint32_t value, int bytes) {
    std::string text;
    for (int shift = 8 * bytes; (shift -= 8) >= 0;)
        text += static_cast<char>(value >> shift & 255U);
    return text;
}

/// Returns an interlaced PNG of 8 bytes a pixel whose header has another size than its data.
std::string png(uint32_t width, uint32_t height) {
    constexpr size_t kType = 12, kSize = 16, kSum = 29;
    std::string bytes =
        encodePng({.colour = PNG_COLOR_TYPE_RGB_ALPHA, .depth = 16, .interlaced = true}, 8, 8,
                  std::vector<uint16_t>(8 * 8 * 4));
    bytes.replace(kSize, 8, number(width, 4) + number(height, 4));
    const auto* header = reinterpret_cast<const Bytef*>(bytes.data()) + kType;
    const auto sum = static_cast<uint32_t>(crc32(0, header, kSum - kType));
    return padded(bytes.replace(kSum, 4, number(sum, 4)));
}

/// Returns a progressive JPEG likewise.
std::string jpeg(JpegKind kind, uint32_t width, uint32_t height) {
    kind.progressive = true;
    std::string bytes = encodeJpeg(
        kind, 16, 16, std::vector<uint8_t>(size_t{16} * 16 * static_cast<size_t>(kind.channels)));
    const size_t frame = bytes.find("\xFF\xC2"); // marker, length (2), depth (1), height, width
    return padded(bytes.replace(frame + 5, 4, number(height, 2) + number(width, 2)));
}

} // namespace

class TestPictureMemory : public QObject {
    Q_OBJECT
private slots:
    void severalPasses_data();
    void severalPasses();
    void longTexts_data();
    void longTexts();

private:
    QTemporaryDir m_folder;
};

void TestPictureMemory::severalPasses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("refusal");
    const auto row = [](const char* name, const std::string& bytes, const char* refusal) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString(refusal);
    };
    const JpegKind inks{JCS_CMYK, 4};
    row("png", png(16384, 16384),
        "16384 x 16384 pixels, interlaced or progressive, take 2 GiB while they are read; at most "
        "512 MiB is allowed");
    row("png, a row too many", png(8192, 8193), "8192 x 8193 pixels, interlaced");
    row("png that may", png(8192, 8192), "damaged PNG");
    row("jpeg of four inks", jpeg(inks, 16384, 16384),
        "16384 x 16384 pixels, interlaced or progressive, take 2 GiB while they are read; at most "
        "512 MiB is allowed");
    row("jpeg of colours", jpeg({}, 16384, 8192), "take 768 MiB while they are read");
    row("jpeg, a row too many", jpeg(inks, 8192, 8193), "8192 x 8193 pixels, interlaced");
    row("jpeg that may", jpeg(inks, 8192, 8192), "damaged JPEG");
}

/// Nothing of them is allocated before they are refused.
void TestPictureMemory::severalPasses() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, refusal);
    const std::string path = m_folder.filePath("a picture").toStdString();
    writeFileAtomically(path, bytes.toStdString());
    std::optional<AddressLimit> limit; // sanitizers map more for themselves
    if (!test::kUnderSanitizer) limit.emplace(size_t{1} << 30);
    const std::string text = thrownBy<InputError>([&] { (void)readSquare(path, 4); });
    QVERIFY2(isAbout(text, path, refusal.toStdString()), text.c_str());
}

void TestPictureMemory::longTexts_data() {
    QTest::addColumn<QByteArray>("chunk");
    QTest::addColumn<QString>("refusal"); // empty: it is read
    const auto row = [](const char* name, const std::string& chunk, const char* refusal) {
        QTest::newRow(name) << QByteArray::fromStdString(chunk) << QString(refusal);
    };
    row("that is not there", std::string("\x61\0\0\0zTXtDescription\0\0", 21),
        "damaged PNG: Read Error");
    const auto whole = [](const std::string& type, std::string text) {
        text.append((size_t{32} << 20) + 1 - text.size(), 'x');
        const std::string summed = type + text;
        const auto sum = static_cast<uint32_t>(crc32(
            0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size())));
        return number(static_cast<uint32_t>(text.size()), 4) + summed + number(sum, 4);
    };
    row("that is there", whole("tEXt", std::string("Description\0", 12)), "");
    row("of another program", whole("prVt", ""), "");
}

/// A text may say that it has more bytes than its file: they are not asked for. Those that are
/// there do not keep a picture from being read.
void TestPictureMemory::longTexts() {
    QFETCH(const QByteArray, chunk);
    QFETCH(const QString, refusal);
    std::string bytes = encodePng({}, 2, 2, std::vector<uint16_t>(4, 255));
    const size_t at = bytes.find("IDAT");
    QVERIFY(at != std::string::npos);
    bytes.insert(at - 4, chunk.toStdString());
    if (!refusal.isEmpty()) bytes.resize(at - 4 + static_cast<size_t>(chunk.size()));
    const std::string path = m_folder.filePath("text").toStdString();
    writeFileAtomically(path, bytes);
    const double start = test::processorMs();
    if (refusal.isEmpty()) {
        QCOMPARE(readSquare(path, 2).values, std::vector<float>(4, 1));
        return;
    }
    const std::string text = thrownBy<InputError>([&] { (void)readSquare(path, 4); });
    QVERIFY2(isAbout(text, path, refusal.toStdString()), text.c_str());
    QVERIFY(test::processorMs() - start < 200); // 1.6 GB take longer
}

} // namespace tst_picture_memory

QTEST_GUILESS_MAIN(tst_picture_memory::TestPictureMemory)
#include "tst_picture_memory.moc"
