// Files of arrays: their content is read, and files that are damaged, cut off or inconsistent are
// refused in one sentence that names the file and what is wrong.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/io/gzip.h"
#include "engine/io/idx.h"
#include "engine/io/npy.h"
#include "engine/io/safetensors.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <numeric>

#include <sys/resource.h>
#include <sys/stat.h>

namespace tst_array_files {

using namespace halfscope;

namespace {

using namespace std::string_literals;

const std::string kF4 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
const std::string kSix = bytesOfValues<float>({1, 2, 3, 4, 5, 6});

void readAny(const std::string& path) {
    if (path.ends_with(".npy")) {
        readNpy(path);
    } else if (path.ends_with(".safetensors")) {
        const SafetensorsInfo info = safetensorsInfo(path);
        for (const ArrayInfo& each : info.arrays)
            readSafetensor(path, each);
    } else {
        readIdx(path);
    }
}

/// Returns the highest memory use of this process so far.
long peakKiB() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

} // namespace

class TestArrayFiles : public QObject {
    Q_OBJECT

private slots:
    void readsIdx_data();
    void readsIdx();
    void readsNpy_data();
    void readsNpy();
    void readsColumnsFirst();
    void readsSafetensors();
    void refuses_data();
    void refuses();
    void headersAloneAreEnough();
    void unpacksInBlocks();
    void smallFilesTakeLittleMemory();
    void valuesAreReadInPlace();
    void valuesFitTheMemory();
    void givesUpWhenAsked();
    void refusesWhatIsNoFile();
    void elementsAreNumbers();
    void writtenValuesAreAligned();

private:
    std::string file(const std::string& name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QString::fromStdString(name)).toStdString(), bytes);
    }
    QTemporaryDir m_folder;
};

void TestArrayFiles::readsIdx_data() {
    QTest::addColumn<QByteArray>("bytes");
    const std::string plain = idxBytes({2, 3}, "abcdef");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    row("plain", plain);
    row("gzip", gzipBytes(plain));
    row("gzip of two members", gzipBytes(plain.substr(0, 7)) + gzipBytes(plain.substr(7)));
    row("gzip with an empty member", gzipBytes("") + gzipBytes(plain) + gzipBytes(""));
}

void TestArrayFiles::readsIdx() {
    QFETCH(QByteArray, bytes);
    const std::string path = file("a.idx", bytes.toStdString());
    QCOMPARE(idxInfo(path).shape, (std::vector<int64_t>{2, 3}));
    const Array array = readIdx(path);
    QCOMPARE(array.info.shapeText(), "(2, 3)"s);
    QCOMPARE(array.bytes.size(), size_t{6});
    QCOMPARE(array.at(5), double{'f'});
}

void TestArrayFiles::readsNpy_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("type");
    QTest::addColumn<double>("last");
    const auto row = [](const char* type, const char* descr, const std::string& values, double last,
                        char version = 1) {
        const std::string dict =
            "{'descr': '"s + descr + "', 'fortran_order': False, 'shape': (2,), }";
        QTest::addRow("%s, version %d", descr, int{version})
            << QByteArray::fromStdString(npyBytes(dict, values, version)) << type << last;
    };
    row("bool", "|b1", bytesOfValues<uint8_t>({0, 1}), 1);
    row("uint8", "|u1", bytesOfValues<uint8_t>({0, 255}), 255);
    row("int8", "|i1", bytesOfValues<int8_t>({0, -128}), -128);
    row("uint16", "<u2", bytesOfValues<uint16_t>({0, 65535}), 65535);
    row("int16", "<i2", bytesOfValues<int16_t>({0, -32768}), -32768);
    row("uint32", "<u4", bytesOfValues<uint32_t>({0, 4294967295u}), 4294967295.0);
    row("int32", "<i4", bytesOfValues<int32_t>({0, -7}), -7);
    row("uint64", "<u8", bytesOfValues<uint64_t>({0, 1ull << 63}), 9223372036854775808.0);
    row("int64", "<i8", bytesOfValues<int64_t>({0, -9}), -9);
    row("float16", "<f2", bytesOfValues<uint16_t>({0, 0x3e00}), 1.5);
    row("float32", "<f4", bytesOfValues<float>({0, 0.25f}), 0.25, 2);
    row("float64", "<f8", bytesOfValues<double>({0, 0.1}), 0.1, 3);
    row("int16", ">i2", std::string("\0\0\xff\x80", 4), -128);
    row("uint32", ">u4", std::string("\0\0\0\0\x01\x02\x03\x04", 8), 16909060);
    row("float16", ">f2", std::string("\0\0\x3e\0", 4), 1.5);
    row("float32", ">f4", std::string("\0\0\0\0\x3e\x80\0\0", 8), 0.25);
    row("float64", ">f8", std::string("\0\0\0\0\0\0\0\0\xc0\x04\0\0\0\0\0\0", 16), -2.5);
}

void TestArrayFiles::readsNpy() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, type);
    QFETCH(double, last);
    const std::string path = file("a.npy", bytes.toStdString());
    const Array array = readNpy(path);
    QCOMPARE(QString(nameOf(npyInfo(path).type)), type);
    QCOMPARE(array.info.shapeText(), "(2,)"s);
    QCOMPARE(array.at(1), last);
    float both[2];
    array.toFloats(0, both);
    QCOMPARE(both[1], static_cast<float>(last));
}

/// The file holds the 24 values of numpy.arange(24).reshape(2, 3, 4) with order="F".
void TestArrayFiles::readsColumnsFirst() {
    std::string values;
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 2; ++i)
                values += {'\0', static_cast<char>(12 * i + 4 * j + k)}; // big-endian, too
    const auto dict = [](const char* descr, const char* shape) {
        return "{'descr': '"s + descr + "', 'fortran_order': True, 'shape': " + shape + "}";
    };
    const Array array = readNpy(file("f.npy", npyBytes(dict(">i2", "(2, 3, 4)"), values)));
    QCOMPARE(array.info.shape, (std::vector<int64_t>{2, 3, 4}));
    for (int64_t i = 0; i < 24; ++i)
        QCOMPARE(array.at(i), static_cast<double>(i));
    std::string large; // more values than are read at a time
    for (int column = 0; column < 3; ++column)
        for (uint32_t i = 0; i < 50000; ++i)
            large += bytesOfValues<uint32_t>({3 * i + static_cast<uint32_t>(column)});
    const Array table = readNpy(file("f.npy", npyBytes(dict("<u4", "(50000, 3)"), large)));
    for (int64_t i = 0; i < 150000; ++i)
        QCOMPARE(table.at(i), static_cast<double>(i));
    const Array row = readNpy(file("f.npy", npyBytes(dict("|u1", "(3,)"), "abc")));
    QCOMPARE(row.at(2), double{'c'});
    QVERIFY(readNpy(file("f.npy", npyBytes(dict("|u1", "(3, 0)"), ""))).bytes.empty());
    QCOMPARE(readNpy(file("f.npy", npyBytes(dict("|u1", "()"), "a"))).at(0), double{'a'});
}

void TestArrayFiles::readsSafetensors() {
    const std::string header =
        R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[2,10]},)"
        R"("__metadata__":{"format":"pt"},"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},)"
        R"("none":{"dtype":"I64","shape":[0,3],"data_offsets":[10,10]}}  )";
    const std::string path =
        file("a.safetensors", safetensorsBytes(header, bytesOfValues<uint16_t>({0x3fc0}) +
                                                           bytesOfValues<float>({7, 8})));
    const SafetensorsInfo info = safetensorsInfo(path);
    QCOMPARE(info.metadata.at("format"), "pt"s);
    QCOMPARE(info.arrays.size(), size_t{3});
    QCOMPARE(info.arrays.front().name, "a"s);
    QVERIFY(info.find("c") == nullptr);
    QCOMPARE(readSafetensor(path, *info.find("a")).at(0), 1.5);
    QCOMPARE(readSafetensor(path, *info.find("b")).at(1), 8.0); // lies at an odd address for floats
    QVERIFY(readSafetensor(path, *info.find("none")).bytes.empty());
}

void TestArrayFiles::refuses_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* what, const char* name, const std::string& bytes,
                        const char* about) {
        QTest::newRow(what) << QByteArray(name) << QByteArray::fromStdString(bytes)
                            << QByteArray(about);
    };
    const std::string idx = idxBytes({2, 3}, "abcdef"), packed = gzipBytes(idx);
    row("idx: empty", "a.idx", "", "ends after 0 bytes; 4 are expected");
    row("idx: a text", "a.idx", "step,loss\n", "it must begin with two zeros");
    row("idx: floats", "a.idx", idxBytes({1}, "abcd", 0x0d), "the IDX type 13");
    row("idx: no axes", "a.idx", idxBytes({}, ""), "0 axes is not read: 1 to 4");
    row("idx: many axes", "a.idx", idxBytes({1, 1, 1, 1, 1}, "a"), "5 axes is not read");
    row("idx: cut header", "a.idx", idx.substr(0, 9), "ends after 9 bytes; 12 are expected");
    row("idx: cut values", "a.idx", idx.substr(0, 13), "ends after 13 bytes; 18 are expected");
    row("idx: more values", "a.idx", idx + "g", "goes on after the 18 bytes");
    row("idx: huge shape", "a.idx", idxBytes({4294967295u, 4294967295u}, "abc"),
        "too short for the shape (4294967295, 4294967295)");
    row("gzip: cut", "a.gz", packed.substr(0, packed.size() - 9), "ends early");
    row("gzip: cut checksum", "a.gz", packed.substr(0, packed.size() - 4), "ends early");
    std::string damaged = packed;
    damaged[packed.size() - 6] ^= 1; // a byte of the checksum
    row("gzip: checksum", "a.gz", damaged, "damaged gzip file: incorrect data check");
    row("gzip: header alone", "a.gz", packed.substr(0, 2), "ends early");
    row("gzip: other method", "a.gz", "\x1f\x8b\x07" + packed.substr(3), "damaged gzip file");
    row("gzip: more behind it", "a.gz", packed + "abc", "damaged gzip file: incorrect header");
    row("gzip: huge shape", "a.gz", gzipBytes(idxBytes({1u << 30, 4}, "abc")),
        "too short for the shape (1073741824, 4)");
    row("gzip: less than its shape", "a.gz", gzipBytes(idxBytes({7000}, "abc")),
        "ends after 11 bytes; 7008 are expected");

    const std::string npy = npyBytes(kF4, kSix);
    row("npy: empty", "a.npy", "", "cut off");
    row("npy: a text", "a.npy", "0.5 0.25 0.125\n", "it does not begin as one");
    row("npy: version", "a.npy", npyBytes(kF4, kSix, 4), "version 4 is not known: 1 to 3");
    row("npy: large version", "a.npy", npyBytes(kF4, kSix, '\xb9'), "version 185 is not known");
    row("npy: cut", "a.npy", npy.substr(0, npy.size() - 1), "23 bytes of values are not the shape");
    row("npy: too much", "a.npy", npy + "x", "25 bytes of values are not the shape (2, 3)");
    row("npy: header cut", "a.npy", npy.substr(0, 40), "cut off");
    row("npy: long header", "a.npy", "\x93NUMPY\2\0\xff\xff\xff\x7f"s, "2147483647 bytes");
    const auto dict = [&](const char* what, const char* text, const char* about) {
        row(what, "a.npy", npyBytes(text, kSix), about);
    };
    dict("npy: no dict", "[1, 2]", "lacks \"{\" before \"[1, 2]");
    dict("npy: objects", "{'descr': '|O', 'fortran_order': False, 'shape': (6,)}",
         "its type \"|O\" is neither numbers nor bool; numpy.unique(a, return_inverse=True)[1] "
         "numbers classes, and a.astype(numpy.float32) makes numbers of it where it can");
    dict("npy: words", "{'descr': '<U5', 'fortran_order': False, 'shape': (6,)}",
         "numpy.unique(a, return_inverse=True)[1] numbers classes");
    dict("npy: complex", "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}",
         "its type \"<c8\" is complex numbers; numpy.stack([a.real, a.imag], 1) makes numbers");
    dict("npy: long double", "{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}",
         "its type \"<f16\" is numpy.longdouble; of such numbers float16, float32 and float64 are "
         "read, and a.astype(numpy.float64) makes them so");
    dict("npy: times", "{'descr': '<M8[D]', 'fortran_order': False, 'shape': (3,)}",
         "is neither numbers nor bool; a.astype(numpy.float32) makes numbers of it where it can");
    dict("npy: no truth", "{'descr': '<f4', 'fortran_order': 0, 'shape': (6,)}",
         "fortran_order must be True or False");
    dict("npy: twice", "{'descr': '<f4', 'descr': '<f4', 'shape': (6,)}",
         "the key \"descr\" twice");
    dict("npy: another key", "{'descr': '<f4', 'note': 1, 'fortran_order': False, 'shape': (6,)}",
         "a.npy: cannot be read as an .npy file, because its header has the key \"note\", which is "
         "not "
         "known");
    dict("npy: no shape", "{'descr': '<f4', 'fortran_order': False}", "lacks descr");
    dict("npy: negative", "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
         "not a list of whole numbers");
    dict("npy: overflow",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}",
         "24 bytes of values are not the shape");
    dict("npy: structured", "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (6,)}",
         "it holds records, not numbers; x['name'] is the array of one of their fields");
    dict("npy: type of no quotes", "{'descr': <f4, 'fortran_order': False, 'shape': (6,)}",
         "lacks a quoted word");
    std::string axes = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < 33; ++i)
        axes += "1,";
    dict("npy: many axes", (axes + ")}").c_str(), "its shape has more than 32 axes");
    dict("npy: more", "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} 1",
         "goes on after the dict");

    const auto safe = [&](const char* what, const std::string& header, const char* about) {
        row(what, "a.safetensors", safetensorsBytes(header, kSix), about);
    };
    const std::string a = R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})";
    row("safetensors: empty", "a.safetensors", "", "cut off");
    row("safetensors: length", "a.safetensors", "\xff\xff\xff\xff\xff\xff\xff\xff{}"s,
        "does not fit: the file has 10");
    row("safetensors: a text", "a.safetensors", "root:x:0:0:root:/root:/bin/sh\n",
        "it does not begin as one");
    row("safetensors: cut", "a.safetensors", safetensorsBytes("{" + a + "}", kSix.substr(1)),
        "bytes 0 to 24 are outside the 23 bytes");
    safe("safetensors: no JSON", "{a}",
         "because its header is wrong (line 1, column 2: not valid JSON");
    safe("safetensors: a list", "[]", "must be an object");
    safe("safetensors: no array", R"({"a":1})", "because in the entry of a, there must be dtype");
    safe("safetensors: twice", "{" + a + "," + a + "}", "a: the key occurs twice");
    safe("safetensors: dtype", R"({"a":{"dtype":"F8","shape":[6],"data_offsets":[0,24]}})",
         "because in the entry of a, the dtype \"F8\" is not known");
    safe("safetensors: eight bits",
         R"({"a":{"dtype":"F8_E4M3","shape":[24],"data_offsets":[0,24]}})",
         "because in the entry of a, the dtype \"F8_E4M3\" has 8 bits; x.float() in PyTorch makes "
         "float32 of it");
    safe("safetensors: negative", R"({"a":{"dtype":"F32","shape":[-6],"data_offsets":[0,24]}})",
         "-6 is not a whole number from 0 up");
    safe("safetensors: backwards", R"({"a":{"dtype":"F32","shape":[6],"data_offsets":[24,0]}})",
         "bytes 24 to 0 are outside");
    safe("safetensors: outside", R"({"a":{"dtype":"F32","shape":[7],"data_offsets":[0,28]}})",
         "bytes 0 to 28 are outside the 24 bytes");
    safe("safetensors: shape", R"({"a":{"dtype":"F32","shape":[5],"data_offsets":[0,24]}})",
         "24 bytes are not the shape (5,) of float32");
    safe("safetensors: overflow",
         R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})",
         "0 bytes are not the shape");
    safe("safetensors: overlap",
         "{" + a + R"(,"b":{"dtype":"F32","shape":[1],)" + R"("data_offsets":[4,8]}})",
         "in the entry of b, the values overlap");
    safe("safetensors: gap", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
         "4 bytes before the values belong to no array");
    safe("safetensors: rest", R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
         "20 bytes at its end belong to no array");
    safe("safetensors: metadata", R"({"__metadata__":{"a":1}})", "an object of texts");
    safe("safetensors: long name",
         R"({")" + std::string(5000, 'n') + R"(":{"dtype":"F32","shape":[1],)" +
             R"("data_offsets":[0,40]}})",
         "bytes 0 to 40 are outside");
}

void TestArrayFiles::refuses() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, about);
    const std::string path = file(name.toStdString(), bytes.toStdString());
    const std::string error = thrownBy<InputError>([&] { readAny(path); });
    QVERIFY2(isAbout(error, path, about.toStdString()), error.c_str());
    QVERIFY2(error.size() < 600, error.c_str());
}

void TestArrayFiles::headersAloneAreEnough() {
    // the values of the packed file are damaged, but its header is not
    std::string values(100000, 'x');
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<char>(i * i >> 3);
    std::string packed = gzipBytes(idxBytes({100000}, values));
    packed.resize(packed.size() / 2);
    const std::string path = file("half.gz", packed);
    QCOMPARE(idxInfo(path).elements(), int64_t{100000});
    QVERIFY(isAbout(thrownBy<InputError>([&] { readIdx(path); }), path, "ends early"));
}

void TestArrayFiles::unpacksInBlocks() {
    std::string text;
    for (int i = 0; i < 50000; ++i)
        text += std::to_string(i);
    const std::string path = file("text.gz", gzipBytes(text));
    for (const size_t block : {size_t{1}, size_t{7}, size_t{65536}, size_t{1} << 20}) {
        UnpackedFile unpacked(path);
        QVERIFY(unpacked.packed() && unpacked.mostBytes() >= static_cast<int64_t>(text.size()));
        std::string all, part(block, '\0');
        while (const size_t count = unpacked.read(part))
            all.append(part, 0, count);
        QCOMPARE(all, text);
        if (block == 1) all.clear();
    }
}

void TestArrayFiles::smallFilesTakeLittleMemory() {
    // 1 MiB that claims a hundred times as much, and holds twice as much
    const std::string zeros(1 << 20, '\0');
    std::string noise(1 << 20, '\0');
    uint32_t state = 1;
    for (char& byte : noise)
        byte = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
    const std::string path = file("lies.gz", gzipBytes(idxBytes({1u << 27}, noise + zeros)));
    const long before = peakKiB();
    const std::string error = thrownBy<InputError>([&] { readIdx(path); });
    QVERIFY2(isAbout(error, path, "ends after"), error.c_str());
    QVERIFY2(peakKiB() - before < 32 * 1024, qPrintable(QString::number(peakKiB() - before)));
    const std::string more = file("more.gz", gzipBytes(idxBytes({1u << 30}, noise + zeros)));
    for (const bool reads : {false, true})
        QCOMPARE(thrownBy<InputError>([&] { reads ? void(readIdx(more)) : void(idxInfo(more)); }),
                 more + ": its values take 1024 MiB, more than 200 times what they are packed in; "
                        "above 256 MiB, this is not allowed. gunzip unpacks the file.");
}

/// Values take the memory of one copy while they are read.
void TestArrayFiles::valuesAreReadInPlace() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("a sanitizer keeps memory that was given back");
#endif
    constexpr int64_t kSize = int64_t{96} << 20;
    const std::string zeros = gzipBytes(std::string(1 << 20, '\0'));
    std::string packed = gzipBytes(idxBytes({kSize}, "")); // members of a file follow each other
    for (int64_t i = 0; i < kSize >> 20; ++i)
        packed += zeros;
    const std::string idx = file("zeros.gz", packed);
    const std::string dict = "{'descr': '<f4', 'fortran_order': True, 'shape': (6144, 4096)}";
    const std::string npy = file("zeros.npy", npyBytes(dict, ""));
    QVERIFY(QFile::resize(QString::fromStdString(npy), QFileInfo(npy.c_str()).size() + kSize));
    const auto grew = [](const auto& read) {
        const long before = peakKiB();
        read();
        return (peakKiB() - before) >> 10;
    };
    const long once = grew([&] { QCOMPARE(readIdx(idx).info.elements(), kSize); });
    QVERIFY2(once > 64 && once < 112, QByteArray::number(qint64(once)));
    const long again = grew([&] { QCOMPARE(readNpy(npy).info.elements(), kSize / 4); });
    QVERIFY2(again < 16, QByteArray::number(qint64(again)));
}

/// More than any machine has.
void TestArrayFiles::valuesFitTheMemory() {
    const std::string head =
        npyBytes("{'descr': '|u1', 'fortran_order': False, 'shape': (1125899906842624,)}", "");
    size_t at = 0;
    const NpySource source{"large.npy", (int64_t{1} << 50) + int64_t(head.size()),
                           [&](std::span<char> into) {
                               const size_t count = head.copy(into.data(), into.size(), at);
                               at += count;
                               return count;
                           }};
    const std::string error = thrownBy<InputError>([&] { npyInfo(source); });
    QVERIFY2(isAbout(error, "large.npy", "its values take 1073741824 MiB; this machine has "),
             error.c_str());
    QVERIFY(error.ends_with(" MiB of memory for this program"));
}

void TestArrayFiles::givesUpWhenAsked() {
    std::stop_source stop;
    const std::string idx = file("c.idx", idxBytes({3}, "abc"));
    const std::string npy = file("c.npy", npyBytes(kF4, kSix));
    const Cancellable cancellable(stop.get_token());
    readIdx(idx);
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(readIdx(idx), Cancelled);
    QVERIFY_EXCEPTION_THROWN(readNpy(npy), Cancelled);
    QVERIFY_EXCEPTION_THROWN(safetensorsInfo(npy), Cancelled);
}

void TestArrayFiles::refusesWhatIsNoFile() {
    const std::string pipe = m_folder.filePath("pipe.idx").toStdString();
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& path : {pipe, m_folder.path().toStdString(), pipe + ".none"}) {
        QVERIFY(isAbout(thrownBy<InputError>([&] { readIdx(path); }), path, "cannot read"));
        QVERIFY(isAbout(thrownBy<InputError>([&] { readNpy(path); }), path, "cannot read"));
        QVERIFY(isAbout(thrownBy<InputError>([&] { safetensorsInfo(path); }), path, "cannot read"));
    }
}

void TestArrayFiles::elementsAreNumbers() {
    for (int i = 0; *nameOf(static_cast<ElementType>(i)) != '\0'; ++i) {
        const auto type = static_cast<ElementType>(i);
        Array array;
        array.info.type = type;
        array.info.shape = {3};
        array.bytes.assign(3 * bytesOf(type), std::byte{0});
        QCOMPARE(checkedBytes(type, array.info.shape), std::optional(int64_t(array.bytes.size())));
        QCOMPARE(array.at(2), 0.0);
        QVERIFY_EXCEPTION_THROWN(array.at(3), std::logic_error);
    }
    const int64_t negative[] = {2, -1}, wide[] = {int64_t{1} << 61, 8}, none[] = {0, 5};
    QVERIFY(!checkedBytes(ElementType::U8, negative) && !checkedBytes(ElementType::U8, wide));
    QCOMPARE(checkedBytes(ElementType::F64, none), std::optional(int64_t{0}));
}

/// NumPy maps files into memory: it writes values at a multiple of 64 bytes, whatever the header.
void TestArrayFiles::writtenValuesAreAligned() {
    constexpr size_t kHead = 10, kAligned = 64;
    const float value[] = {1.5f};
    for (size_t axes = 0; axes <= 32; ++axes) { // three more characters each
        const std::string npy = npyBytes(std::vector<int64_t>(axes, 1), value);
        const size_t start = npy.size() - sizeof value;
        QCOMPARE(start % kAligned, size_t{0});
        QCOMPARE(static_cast<uint8_t>(npy[8]) + 256U * static_cast<uint8_t>(npy[9]),
                 static_cast<unsigned>(start - kHead));
        QCOMPARE(npy[start - 1], '\n');
        QCOMPARE(readNpy(file("written.npy", npy)).at(0), 1.5);
    }
}

} // namespace tst_array_files

QTEST_GUILESS_MAIN(tst_array_files::TestArrayFiles)
#include "tst_array_files.moc"
