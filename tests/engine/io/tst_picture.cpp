// Pictures: PNG and JPEG of every kind, damaged and hostile ones, resizing. The reader is checked
// with samples that the test makes, not with our own writer.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/io/atomic_file.h"
#include "engine/io/picture.h"
#include "tests/support/picture_files.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <atomic>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include <pthread.h>
#include <sys/stat.h>

namespace tst_picture {

using namespace halfscope;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<uint16_t> randomSamples(size_t count, uint32_t limit) {
    const Philox random(2024, 5);
    std::vector<uint16_t> samples(count);
    for (size_t i = 0; i < count; ++i)
        samples[i] = static_cast<uint16_t>(random.below(i, limit));
    return samples;
}

// Removes the file before it writes a new one, thousands of times: file systems that wait for the
// disk when a file is replaced or emptied do not wait for a new one.
void overwrite(const std::string& path, const QByteArray& bytes) {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
}

constexpr int kWidth = 11, kHeight = 7; // odd: rows of 1, 2 and 4 bits end inside a byte

std::string somePng() {
    return encodePng({.colour = PNG_COLOR_TYPE_RGB}, kWidth, kHeight,
                     randomSamples(kWidth * kHeight * 3, 256));
}
std::string someJpeg(bool progressive = false) {
    std::vector<uint8_t> samples;
    for (const uint16_t sample : randomSamples(kWidth * kHeight * 3, 256))
        samples.push_back(static_cast<uint8_t>(sample));
    return encodeJpeg({JCS_RGB, 3, progressive}, kWidth, kHeight, samples);
}

} // namespace

class TestPicture : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }

private slots:
    void initTestCase() { QVERIFY(m_folder.isValid()); }
    void readPng_data();
    void readPng();
    void readJpeg_data();
    void readJpeg();
    void truncated_data();
    void truncated();
    void corrupted_data() { truncated_data(); }
    void corrupted();
    void notAPicture();
    void fewBits_data();
    void fewBits();
    void squares();
    void sizeBombs();
    void scanBomb();
    void decodingCanBeCancelled_data();
    void decodingCanBeCancelled();
    void onlyRegularFiles();
    void pngRoundTrip_data();
    void pngRoundTrip();
    void nanIsMagenta();
    void resizing();
    void square();
    void captions();
    void shares();
};

void TestPicture::readPng_data() {
    QTest::addColumn<PngKind>("kind");
    const auto row = [](const std::string& name, PngKind kind) {
        QTest::newRow(name.c_str()) << kind;
        kind.interlaced = true;
        QTest::newRow((name + " interlaced").c_str()) << kind;
    };
    for (const int depth : {1, 2, 4, 8, 16})
        row("grey " + std::to_string(depth), {.depth = depth});
    for (const int depth : {1, 2, 4, 8}) {
        PngKind kind{.colour = PNG_COLOR_TYPE_PALETTE, .depth = depth};
        for (int i = 0; i < 1 << depth; ++i)
            kind.palette.push_back({static_cast<uint8_t>(i * 7 + 1), static_cast<uint8_t>(250 - i),
                                    static_cast<uint8_t>(i * i)});
        row("palette " + std::to_string(depth), kind);
        kind.paletteAlpha = {0, 100};
        row("palette with alpha " + std::to_string(depth), kind);
    }
    for (const int depth : {8, 16}) {
        const std::string bits = std::to_string(depth);
        row("grey alpha " + bits, {.colour = PNG_COLOR_TYPE_GRAY_ALPHA, .depth = depth});
        row("rgb " + bits, {.colour = PNG_COLOR_TYPE_RGB, .depth = depth});
        row("rgb alpha " + bits, {.colour = PNG_COLOR_TYPE_RGB_ALPHA, .depth = depth});
    }
    PngKind keyed{.depth = 4, .transparentColour = true};
    keyed.transparent.gray = 3;
    row("grey with a transparent level", keyed);
}

void TestPicture::readPng() {
    QFETCH(PngKind, kind);
    const bool palette = kind.colour == PNG_COLOR_TYPE_PALETTE;
    const auto stored = static_cast<size_t>(kind.channels());
    const std::vector<uint16_t> samples =
        randomSamples(kWidth * kHeight * stored, 1U << kind.depth);
    writeFileAtomically(path("a.png"), encodePng(kind, kWidth, kHeight, samples));
    const Picture picture = readPicture(path("a.png"));

    QCOMPARE(picture.width, kWidth);
    QCOMPARE(picture.height, kHeight);
    QCOMPARE(picture.channels, palette || stored >= 3 ? 3 : 1);
    const double white = palette ? 255 : (1U << kind.depth) - 1;
    const auto channels = static_cast<size_t>(picture.channels);
    QCOMPARE(picture.values.size(), kWidth * kHeight * channels);
    for (size_t i = 0; i < picture.values.size(); ++i) {
        const size_t pixel = i / channels, c = i % channels;
        const uint16_t sample = samples[pixel * stored + (palette ? 0 : c)];
        double value = sample / white, alpha = 1;
        if (palette) {
            const png_color& colour = kind.palette[sample];
            value = std::array{colour.red, colour.green, colour.blue}[c] / white;
            if (sample < kind.paletteAlpha.size()) alpha = kind.paletteAlpha[sample] / white;
        } else if (stored % 2 == 0) {
            alpha = samples[pixel * stored + stored - 1] / white;
        } else if (kind.transparentColour && sample == kind.transparent.gray) {
            alpha = 0;
        }
        const double expected = value * alpha + 1 - alpha;
        // Two quotients, a product, a difference and a sum, each rounded to float, all at most 1.
        const double bound = 5 * std::ldexp(1.0, -24);
        QVERIFY2(std::abs(static_cast<double>(picture.values[i]) - expected) <= bound,
                 qPrintable(QString("value %1 is %2, not %3")
                                .arg(i)
                                .arg(static_cast<double>(picture.values[i]))
                                .arg(expected)));
    }
}

void TestPicture::readJpeg_data() {
    QTest::addColumn<JpegKind>("kind");
    QTest::addColumn<int>("bound");
    // The tolerance, of 255: a flat block keeps its level to 1; YCbCr rounds three planes, and
    // 1.772 is the largest factor back to RGB.
    QTest::newRow("grey") << JpegKind{JCS_GRAYSCALE, 1, false} << 1;
    QTest::newRow("rgb") << JpegKind{JCS_RGB, 3, false} << 3;
    QTest::newRow("rgb progressive") << JpegKind{JCS_RGB, 3, true} << 3;
    QTest::newRow("four inks") << JpegKind{JCS_CMYK, 4, false} << 2;
}

void TestPicture::readJpeg() {
    QFETCH(JpegKind, kind);
    QFETCH(int, bound);
    constexpr int kBlocks = 3, kSide = 8 * kBlocks;
    const auto stored = static_cast<size_t>(kind.channels);
    const std::vector<uint16_t> levels = randomSamples(kBlocks * 2 * stored, 256);
    std::vector<uint8_t> samples;
    for (size_t y = 0; y < 16; ++y)
        for (size_t x = 0; x < kSide; ++x)
            for (size_t c = 0; c < stored; ++c)
                samples.push_back(
                    static_cast<uint8_t>(levels[((y / 8) * kBlocks + x / 8) * stored + c]));
    writeFileAtomically(path("a.jpg"), encodeJpeg(kind, kSide, 16, samples));
    const Picture picture = readPicture(path("a.jpg"));

    QCOMPARE(picture.width, kSide);
    QCOMPARE(picture.height, 16);
    QCOMPARE(picture.channels, kind.channels == 1 ? 1 : 3);
    const auto channels = static_cast<size_t>(picture.channels);
    for (size_t i = 0; i < picture.values.size(); ++i) {
        const size_t pixel = i / channels * stored;
        double expected = samples[pixel + i % channels];
        if (kind.channels == 4) expected *= samples[pixel + 3] / 255.0;
        const double value = static_cast<double>(picture.values[i]) * 255;
        QVERIFY2(std::abs(value - expected) <= bound + 1e-4,
                 qPrintable(QString("value %1 is %2, not %3").arg(i).arg(value).arg(expected)));
    }
}

void TestPicture::truncated_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    row("png", somePng());
    row("png interlaced",
        encodePng({.interlaced = true}, kWidth, kHeight, randomSamples(kWidth * kHeight, 256)));
    row("jpeg", someJpeg());
    row("jpeg progressive", someJpeg(true));
}

void TestPicture::truncated() {
    QFETCH(QByteArray, bytes);
    const std::string name = path("cut");
    for (qsizetype size = 0; size < bytes.size(); ++size) {
        overwrite(name, bytes.left(size));
        const std::string text = thrownBy<InputError>([&] { readPicture(name); });
        QVERIFY2(isAbout(text, name, ""), qPrintable(QString::number(size)));
    }
    overwrite(name, bytes);
    QCOMPARE(readPicture(name).width, kWidth);
}

void TestPicture::corrupted() {
    QFETCH(QByteArray, bytes);
    const std::string name = path("damaged");
    for (qsizetype i = 0; i < bytes.size(); ++i)
        for (const int flip : {0x01, 0x80, 0xFF}) {
            QByteArray damaged = bytes;
            damaged[i] = static_cast<char>(damaged[i] ^ flip);
            overwrite(name, damaged);
            try {
                const Picture picture = readPicture(name);
                QCOMPARE(picture.values.size(),
                         static_cast<size_t>(picture.width * picture.height * picture.channels));
            } catch (const InputError& error) {
                QVERIFY2(isAbout(error.what(), name, ""), error.what());
            }
        }
}

void TestPicture::notAPicture() {
    const auto textOf = [](const std::string& name) {
        return thrownBy<InputError>([&] { readPicture(name); });
    };
    QVERIFY(isAbout(textOf(path("absent.png")), path("absent.png"), "No such file"));
    const std::string folder = m_folder.path().toStdString();
    QVERIFY(isAbout(textOf(folder), folder, "Is a directory"));
    writeFileAtomically(path("empty.png"), "");
    QVERIFY(isAbout(textOf(path("empty.png")), path("empty.png"), "empty"));
    writeFileAtomically(path("text.png"), "this is a text");
    QVERIFY(isAbout(textOf(path("text.png")), path("text.png"), "neither a PNG nor a JPEG"));
    // The name does not matter.
    writeFileAtomically(path("jpeg.png"), someJpeg());
    QCOMPARE(readPicture(path("jpeg.png")).height, kHeight);
}

void TestPicture::fewBits_data() {
    QTest::addColumn<PngKind>("kind");
    QTest::addColumn<int>("side");
    const std::vector<png_color> two{{0, 0, 0}, {255, 255, 255}};
    for (const bool interlaced : {false, true}) {
        const char* suffix = interlaced ? ", interlaced" : "";
        QTest::addRow("grey%s", suffix) << PngKind{.depth = 1, .interlaced = interlaced} << 512;
        QTest::addRow("palette%s", suffix) << PngKind{.colour = PNG_COLOR_TYPE_PALETTE,
                                                      .depth = 1,
                                                      .interlaced = interlaced,
                                                      .palette = two}
                                           << 256;
        QTest::addRow("large%s", suffix) << PngKind{.depth = 1, .interlaced = interlaced} << 8192;
    }
}

/// One colour with few bits a pixel: deflate packs it as tightly as it can, and each stored byte
/// becomes up to 24 decoded ones.
void TestPicture::fewBits() {
    QFETCH(PngKind, kind);
    QFETCH(int, side);
    const auto count = static_cast<size_t>(side) * static_cast<size_t>(side);
    const std::string bytes = encodePng(kind, side, side, std::vector<uint16_t>(count, 1));
    writeFileAtomically(path("few.png"), bytes);
    const Picture picture = readPicture(path("few.png"));
    QCOMPARE(picture.width, side);
    QVERIFY(std::all_of(picture.values.begin(), picture.values.end(),
                        [](float value) { return value == 1.0F; }));
}

/// A square equals the whole picture after it was cut and resized, bit for bit.
void TestPicture::squares() {
    for (const auto& [width, height] : {std::pair{57, 33}, {33, 57}, {40, 40}, {1, 9}}) {
        const auto samples = randomSamples(static_cast<size_t>(width * height * 3), 256);
        for (const bool interlaced : {false, true}) {
            writeFileAtomically(path("square.png"),
                                encodePng({.colour = PNG_COLOR_TYPE_RGB, .interlaced = interlaced},
                                          width, height, samples));
            for (const int side : {1, 7, 33, 40, 64}) {
                const Picture expected =
                    resized(centreSquare(readPicture(path("square.png"))), side, side);
                const Picture square = readSquare(path("square.png"), side);
                QCOMPARE(square.width, side);
                QCOMPARE(square.height, side);
                QCOMPARE(square.channels, 3);
                QVERIFY(square.values == expected.values);
            }
        }
    }
}

void TestPicture::sizeBombs() {
    // Headers that promise gigabytes; libpng corrects the PNG's checksum.
    const auto textOf = [&](const std::string& bytes) {
        writeFileAtomically(path("bomb"), bytes);
        return thrownBy<InputError>([&] { readPicture(path("bomb")); });
    };
    const auto png = [](int width, int height) {
        const std::vector<uint16_t> none(static_cast<size_t>(width * height), 0);
        return encodePng({}, width, height, none);
    };
    QVERIFY(
        isAbout(textOf(png(16385, 1)), path("bomb"), "16385 x 1 pixels; at most 16384 x 16384"));
    QVERIFY(isAbout(textOf(png(1, 20000)), path("bomb"), "at most 16384 x 16384"));
    writeFileAtomically(path("long"), png(16384, 2));
    QCOMPARE(readPicture(path("long")).width, 16384);
    // Valid, but gigabytes as a whole: readable only as a square without them.
    const std::string tight =
        encodePng({.depth = 1}, 16384, 4100, std::vector<uint16_t>(16384 * 4100));
    QVERIFY(isAbout(textOf(tight), path("bomb"), "such a file may have 67108864 samples"));
    QCOMPARE(readSquare(path("bomb"), 8).values, std::vector<float>(64, 0.0F));

    std::string jpeg = someJpeg();
    const size_t frame = jpeg.find("\xFF\xC0"); // marker, length (2), depth (1), height, width
    QVERIFY(frame != std::string::npos);
    const auto withSize = [&](const char* size) {
        return std::string(jpeg).replace(frame + 5, 4, size, 4);
    };
    QVERIFY(isAbout(textOf(withSize("\x40\x00\x40\x00")), path("bomb"), "the file is cut off"));
    QVERIFY(isAbout(textOf(withSize("\x40\x01\x00\x08")), path("bomb"), "8 x 16385 pixels"));
    // As many bytes as so large a JPEG may have, but gigabytes as a whole, or in several scans.
    const std::string large("\x10\x00\x20\x00", 4), filler(13000, '\0');
    const auto refused = [&](const std::string& text) {
        return isAbout(text, path("bomb"), "8192 x 4096 pixels in") &&
               text.ends_with("such a file may have 67108864 samples");
    };
    QVERIFY(refused(textOf(withSize(large.data()) + filler)));
    QVERIFY(thrownBy<InputError>([&] { readSquare(path("bomb"), 4); }).find("damaged JPEG") !=
            std::string::npos);
    std::string scans = someJpeg(true);
    const size_t progressive = scans.find("\xFF\xC2");
    QVERIFY(progressive != std::string::npos);
    scans.replace(progressive + 5, 4, large);
    QVERIFY(refused(textOf(scans + filler)));
    QVERIFY(refused(thrownBy<InputError>([&] { readSquare(path("bomb"), 4); })));

    // A PNG of 16384 x 16384 without its data: only the header, with the header's checksum.
    std::string header = somePng().substr(0, 33);
    header.replace(16, 8, std::string("\0\0\x40\0\0\0\x40\0", 8));
    uint32_t sum = 0xFFFFFFFF;
    for (size_t i = 12; i < 29; ++i) {
        sum ^= static_cast<uint8_t>(header[i]);
        for (int bit = 0; bit < 8; ++bit)
            sum = (sum >> 1) ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
    }
    sum = ~sum;
    for (size_t i = 0; i < 4; ++i)
        header[29 + i] = static_cast<char>(sum >> (24 - 8 * i));
    const std::string rest = somePng().substr(33);
    QVERIFY(isAbout(textOf(header + rest), path("bomb"), "the file is cut off"));
}

/// A scan that changes nothing takes few bytes, but the time of a pass over the picture.
void TestPicture::scanBomb() {
    constexpr int kSide = 2048;
    const std::vector<uint8_t> grey(size_t{kSide} * kSide * 3, 128);
    const std::string bytes = encodeJpeg({.manyScans = true}, kSide, kSide, grey);
    writeFileAtomically(path("scans.jpg"), bytes);
    QElapsedTimer clock;
    clock.start();
    const std::string text = thrownBy<InputError>([&] { readPicture(path("scans.jpg")); });
    QVERIFY2(isAbout(text, path("scans.jpg"), "takes too long for a file of its size"),
             text.c_str());
    qInfo("%zu bytes refused after %lld ms", bytes.size(), clock.elapsed());
    // a picture with so many scans may be small
    const std::vector<uint8_t> small(size_t{64} * 64 * 3, 128);
    writeFileAtomically(path("scans.jpg"), encodeJpeg({.manyScans = true}, 64, 64, small));
    QCOMPARE(readPicture(path("scans.jpg")).width, 64);
}

void TestPicture::decodingCanBeCancelled_data() {
    QTest::addColumn<QByteArray>("bytes");
    constexpr int kSide = 3000;
    const std::vector<uint8_t> grey(size_t{kSide} * kSide * 3, 128);
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()));
    };
    row("png", encodePng({.depth = 1}, 16384, 4000, std::vector<uint16_t>(16384 * 4000)));
    row("jpeg", encodeJpeg({}, kSide, kSide, grey));
    row("jpeg progressive", encodeJpeg({.progressive = true}, kSide, kSide, grey));
}

void TestPicture::decodingCanBeCancelled() {
    QFETCH(QByteArray, bytes);
    overwrite(path("long"), bytes);
    const auto timeOf = [](clockid_t clock) { // ms
        timespec time{};
        return clock_gettime(clock, &time) == 0
                   ? 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec)
                   : -1e9;
    };
    std::atomic<double> ended{0};
    std::jthread reader([&](std::stop_token stop) {
        const Cancellable scope(std::move(stop));
        try {
            while (true)
                readSquare(path("long"), 4);
        } catch (const Cancelled&) {
            ended = timeOf(CLOCK_THREAD_CPUTIME_ID);
        }
    });
    QTest::qWait(20);
    clockid_t clock{}; // of the time that the reader has computed: others may keep it waiting
    QCOMPARE(pthread_getcpuclockid(reader.native_handle(), &clock), 0);
    const double asked = timeOf(clock);
    reader.request_stop();
    reader.join();
    QVERIFY(ended > 0);
    QVERIFY2(ended - asked < 200, QByteArray::number(ended - asked));
}

/// A pipe that nobody writes to would hold the program for ever.
void TestPicture::onlyRegularFiles() {
    QCOMPARE(mkfifo(path("pipe.png").c_str(), 0600), 0);
    QCOMPARE(thrownBy<InputError>([&] { readPicture(path("pipe.png")); }),
             path("pipe.png") + ": cannot read: it is a pipe, not a file");
    QCOMPARE(thrownBy<InputError>([] { readPicture("/dev/zero"); }),
             std::string("/dev/zero: cannot read: it is a device, not a file"));
}

void TestPicture::pngRoundTrip_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("channels");
    for (const int channels : {1, 3})
        for (const auto& [width, height] : {std::pair{1, 1}, {31, 33}, {257, 2}, {16, 16}})
            QTest::addRow("%d x %d x %d", width, height, channels) << width << height << channels;
}

void TestPicture::pngRoundTrip() {
    QFETCH(int, width);
    QFETCH(int, height);
    QFETCH(int, channels);
    Picture picture{width, height, channels, {}};
    for (const uint16_t sample : randomSamples(static_cast<size_t>(width * height * channels), 256))
        picture.values.push_back(static_cast<float>(sample) / 255.0F);
    writePng(picture, path("round.png"));
    const Picture back = readPicture(path("round.png"));
    QCOMPARE(back.width, width);
    QCOMPARE(back.height, height);
    QCOMPARE(back.channels, channels);
    QVERIFY(back.values == picture.values);

    // values outside [0, 1] are clamped; a value between two levels becomes the nearer one
    picture.values.assign(picture.values.size(), 7.0F);
    picture.values[0] = -7.0F;
    writePng(picture, path("round.png"));
    const Picture clamped = readPicture(path("round.png"));
    for (size_t i = 0; i < clamped.values.size(); ++i)
        QCOMPARE(clamped.values[i], i == 0 ? 0.0F : 1.0F);
    for (const auto& [level, nearest] : {std::pair{100.4F, 100.0F}, {100.6F, 101.0F}}) {
        picture.values.assign(picture.values.size(), level / 255.0F);
        writePng(picture, path("round.png"));
        QCOMPARE(readPicture(path("round.png")).values.back(), nearest / 255.0F);
    }
}

void TestPicture::nanIsMagenta() {
    const std::string name = path("nan.png");
    writePng({2, 1, 1, {0.2F, kNan}}, name);
    const Picture grey = readPicture(name);
    QCOMPARE(grey.channels, 3);
    QCOMPARE(grey.values, (std::vector<float>{0.2F, 0.2F, 0.2F, 1, 0, 1}));
    writePng({2, 1, 3, {0, 1, 0, 0.2F, kNan, 0.2F}}, name);
    QCOMPARE(readPicture(name).values, (std::vector<float>{0, 1, 0, 1, 0, 1}));
    for (const float infinite : {kInfinity, -kInfinity}) { // black or white would look painted
        writePng({2, 1, 1, {0.2F, infinite}}, name);
        QCOMPARE(readPicture(name).values, grey.values);
    }
}

void TestPicture::resizing() {
    const Picture source{4, 2, 1, {1, 3, 5, 7, 2, 4, 6, 8}};
    QVERIFY(resized(source, 4, 2).values == source.values);
    QCOMPARE(resized(source, 2, 1).values, (std::vector<float>{2.5F, 6.5F}));
    QCOMPARE(resized(source, 1, 2).values, (std::vector<float>{4, 5}));
    QCOMPARE(resized(source, 8, 2).values[3], 3.0F);
    // 3 cells become 2: each covers one and a half
    const Picture three{3, 1, 1, {0, 3, 6}};
    QCOMPARE(resized(three, 2, 1).values, (std::vector<float>{1, 5}));
    const Picture colours{2, 2, 3, {1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9}};
    QCOMPARE(resized(colours, 1, 1).values, (std::vector<float>{4, 5, 6}));
    // A flat picture stays flat: weights add up to 1, within 2 x 257 additions in double.
    const Picture flat{257, 31, 1, std::vector<float>(257 * 31, 0.7F)};
    for (const float value : resized(flat, 33, 100).values)
        QCOMPARE(value, 0.7F);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, resized(source, 0, 3));
}

void TestPicture::square() {
    const Picture wide{4, 2, 1, {1, 3, 5, 7, 2, 4, 6, 8}};
    const Picture square = centreSquare(wide);
    QCOMPARE(square.width, 2);
    QCOMPARE(square.height, 2);
    QCOMPARE(square.values, (std::vector<float>{3, 5, 4, 6}));
    const Picture tall{1, 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    QCOMPARE(centreSquare(tall).values, (std::vector<float>{4, 5, 6}));
}

/// A caption of one line of UTF-8 survives a file; anything else in a foreign file is left out.
void TestPicture::captions() {
    Picture picture{2, 1, 1, {0, 1}, "y = −4.99 x² + 3.00"};
    writePng(picture, path("said.png"));
    QCOMPARE(readPicture(path("said.png")).caption, picture.caption);
    QCOMPARE(readPicture(path("said.png")).values, picture.values);
    picture.caption.assign(kMostCaption, 'x'); // of many classes
    writePng(picture, path("names.png"));
    QCOMPARE(readPicture(path("names.png")).caption, picture.caption);
    picture.caption.clear();
    const std::string silent = pngBytes(picture);
    QVERIFY(silent.find("Description") == silent.npos);
    for (const std::string& bad : {std::string("two\nlines"), std::string(kMostCaption + 1, 'x')}) {
        picture.caption = bad;
        writePng(picture, path("bad.png"));
        QCOMPARE(readPicture(path("bad.png")).caption, std::string());
        QCOMPARE(readPicture(path("bad.png")).values, picture.values);
    }
}

/// A text beside the caption comes back as it is; neither one large text nor many may take all
/// memory, and what is left out does no harm to the picture.
void TestPicture::shares() {
    const Picture picture{2, 1, 1, {0, 1}, "1/2"};
    const std::string whole = pngBytes(picture, "0.5 0.25\nany text");
    const auto read = [this](const std::string& bytes) {
        std::ofstream(path("shares.png"), std::ios::binary) << bytes;
        return readWithShares(path("shares.png"));
    };
    QCOMPARE(read(whole).second, std::string("0.5 0.25\nany text"));
    QCOMPARE(read(whole).first.caption, picture.caption);
    QCOMPARE(read(whole).first.values, picture.values);
    QCOMPARE(readPicture(path("shares.png")).caption, picture.caption);
    QCOMPARE(read(pngBytes(picture)).second, std::string());
    QVERIFY(pngBytes(picture).find("Shares") == std::string::npos);
    const std::string most(size_t{15} << 20, '0');
    QVERIFY(read(pngBytes(picture, most)).second == most);
    const auto large = read(pngBytes(picture, most + most));
    QCOMPARE(large.second, std::string());
    QCOMPARE(large.first.values, picture.values);

    constexpr size_t kHead = 4, kAround = 12; // a chunk: its length, its name, data, a checksum
    const size_t from = whole.find("zTXt") - kHead;
    const auto length = static_cast<size_t>(static_cast<uint8_t>(whole[from + kHead - 1]));
    const std::string text = whole.substr(from, length + kAround);
    std::string many = whole;
    for (int i = 0; i < 100; ++i)
        many.insert(whole.find("iTXt") - kHead, text);
    QCOMPARE(read(many).first.caption, std::string()); // it comes behind the others
    QCOMPARE(read(many).second, std::string("0.5 0.25\nany text"));
    QCOMPARE(read(many).first.values, picture.values);
    std::string damaged = whole; // its checksum is wrong
    damaged[from + text.size() - 6] = static_cast<char>(damaged[from + text.size() - 6] ^ 1);
    QCOMPARE(read(damaged).second, std::string());
    QCOMPARE(read(damaged).first.values, picture.values);
}

} // namespace tst_picture

QTEST_GUILESS_MAIN(tst_picture::TestPicture)
#include "tst_picture.moc"
