// Pictures as bytes: the same bit for bit, small, and those of earlier versions.
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_store.h"
#include "engine/runs/session_values.h"
#include "tests/support/painted_runs.h"

#include <QTemporaryDir>
#include <QTest>

#include <zlib.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tst_picture_bytes {

using namespace halfscope;

namespace {

/// Returns bytes as version 1 had them.
std::vector<std::byte> packedBefore(const Picture& picture) {
    const int32_t head[] = {picture.width, picture.height, picture.channels};
    std::vector<std::byte> bytes(sizeof head + picture.values.size() * sizeof(float) +
                                 picture.caption.size());
    std::byte* at = bytes.data();
    std::memcpy(at, head, sizeof head);
    at += sizeof head;
    std::memcpy(at, picture.values.data(), picture.values.size() * sizeof(float));
    at += picture.values.size() * sizeof(float);
    std::memcpy(at, picture.caption.data(), picture.caption.size());
    return bytes;
}

/// Returns bytes as version 2 had them.
std::vector<std::byte> packedInVersion2(const Picture& picture) {
    uLongf size = compressBound(picture.values.size() * sizeof(float));
    std::vector<std::byte> values(size);
    compress2(reinterpret_cast<Bytef*>(values.data()), &size,
              reinterpret_cast<const Bytef*>(picture.values.data()),
              picture.values.size() * sizeof(float), Z_BEST_SPEED);
    const int32_t head[] = {picture.width, picture.height, -picture.channels,
                            static_cast<int32_t>(size)};
    std::vector<std::byte> bytes(sizeof head);
    std::memcpy(bytes.data(), head, sizeof head);
    bytes.insert(bytes.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size));
    for (const char c : picture.caption)
        bytes.push_back(static_cast<std::byte>(c));
    return bytes;
}

int64_t versionOf(const std::string& path) {
    const Database database(path, Database::Access::LeavesLog);
    Statement row = database.prepare("PRAGMA user_version");
    return row.next() ? row.whole(0) : -1;
}

} // namespace

class TestPictureBytes : public QObject {
    Q_OBJECT
private slots:
    void thoseOfVersion1AreRead();
    void thoseOfVersion2AreRead();
    void comeBackBitForBit_data();
    void comeBackBitForBit();
    void smoothOnesTakeLessRoom();
    void damageIsNoPicture_data();
    void damageIsNoPicture();
};

void TestPictureBytes::thoseOfVersion1AreRead() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        path = store.path();
        store.watch(runWith(painted(1)), "one");
        store.watch(runWith(painted(1)), "two");
        store.flush();
    }
    {
        const Database database(path, Database::Access::Create);
        database.run("DROP TABLE targets; DROP INDEX runs_by_target; PRAGMA user_version = 1");
        database.prepare("UPDATE runs SET target = ?1").bind(1, packedBefore(painted(1))).run();
        database.prepare("UPDATE pictures SET data = ?1").bind(1, packedBefore(painted(7))).run();
        database.prepare("UPDATE galleries SET data = ?1").bind(1, packedBefore(painted(8))).run();
    }
    std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{2});
    left[0].remove(LeftRun(left[0].runs()[0])); // adds the tables of later versions
    const std::shared_ptr<Run> back = left[0].read(left[0].runs().at(0));
    QVERIFY(isSame(*back->now().target(), painted(1)));
    QVERIFY(isSame(back->now().pictures()->outputs.at(1), painted(7)));
    QVERIFY(isSame(back->now().pictures()->galleries.at(0), painted(8)));
}

/// A store may go on in their file, and tells later programs of its own pictures.
void TestPictureBytes::thoseOfVersion2AreRead() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        path = store.path();
        store.watch(runWith(painted(1)), "one");
        store.flush();
    }
    {
        const Database database(path, Database::Access::Create);
        database.run("PRAGMA user_version = 2");
        for (const auto& [table, which] :
             {std::pair("targets", 1), std::pair("pictures", 7), std::pair("galleries", 8)})
            database.prepare("UPDATE " + std::string(table) + " SET data = ?1")
                .bind(1, packedInVersion2(painted(which)))
                .run();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    const LeftRun one = left.at(0).runs().at(0);
    const std::shared_ptr<Run> back = left[0].read(one);
    const auto isThere = [&back] {
        return isSame(*back->now().target(), painted(1)) &&
               isSame(back->now().pictures()->outputs.at(1), painted(7)) &&
               isSame(back->now().pictures()->galleries.at(0), painted(8));
    };
    QVERIFY(isThere());
    QVERIFY(left[0].canGoOn(kPaintedBytes));
    SessionStore store({sessions}, left[0], {{back, back->snapshot(), one}});
    store.watch(runWith(painted(2)), "two");
    store.flush();
    QVERIFY(isThere());
    QCOMPARE(versionOf(path), int64_t{kSessionVersion});
}

void TestPictureBytes::comeBackBitForBit_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("channels");
    for (const auto& [width, height, channels] :
         {std::array{1, 1, 1}, {1, 1, 3}, {7, 1, 3}, {1, 7, 3}, {1, 9, 1}, {5, 4, 1}, {13, 11, 3}})
        QTest::addRow("%d x %d x %d", width, height, channels) << width << height << channels;
}

/// Also values that are no numbers, with all bits that they have.
void TestPictureBytes::comeBackBitForBit() {
    QFETCH(const int, width);
    QFETCH(const int, height);
    QFETCH(const int, channels);
    Picture picture{width, height, channels, {}, "y = x²"};
    uint32_t bits = 1;
    for (int i = 0; i < width * height * channels; ++i)
        picture.values.push_back(std::bit_cast<float>(bits = bits * 1664525u + 1013904223u));
    picture.values.back() = std::bit_cast<float>(0xffc12345u); // a nan
    QVERIFY(isSame(unpackedPicture(packed(picture)), picture));
    QVERIFY(isSame(unpackedPicture(packedInVersion2(picture)), picture));
    QVERIFY(isSame(unpackedPicture(packedBefore(picture)), picture));
}

/// What a network paints smoothly took more than nine tenths of its values before.
void TestPictureBytes::smoothOnesTakeLessRoom() {
    Picture picture{kPaintedSide, kPaintedSide, 1, {}};
    for (int i = 0; i < kPaintedSide * kPaintedSide; ++i)
        picture.values.push_back(std::sin(static_cast<float>(i / kPaintedSide) * 0.11f) *
                                     std::cos(static_cast<float>(i % kPaintedSide) * 0.07f) +
                                 1.3f);
    QVERIFY(packedInVersion2(picture).size() > kPaintedBytes * 8 / 10);
    QVERIFY(packed(picture).size() < kPaintedBytes * 6 / 10);
}

void TestPictureBytes::damageIsNoPicture_data() {
    QTest::addColumn<int>("at");
    QTest::addColumn<int>("word");
    QTest::newRow("wide") << 0 << 16384; // more values than the bytes can hold
    QTest::newRow("no width") << 0 << 0;
    QTest::newRow("channels") << 2 << -2;
    QTest::newRow("size") << 3 << -1;
    QTest::newRow("large size") << 3 << (1 << 30);
    QTest::newRow("values") << 6 << 0x55555555;
}

void TestPictureBytes::damageIsNoPicture() {
    QFETCH(int, at);
    QFETCH(int, word);
    std::vector<std::byte> bytes = packed(painted(1));
    QVERIFY(isSame(unpackedPicture(bytes), painted(1)));
    QCOMPARE(packedCaption(bytes), painted(1).caption);
    QCOMPARE(packedCaption(packedBefore(painted(1))), painted(1).caption);
    QVERIFY(!isPackedEmpty(bytes) && isPackedEmpty(packed(Picture())));
    std::memcpy(bytes.data() + static_cast<size_t>(at) * sizeof word, &word, sizeof word);
    QCOMPARE(unpackedPicture(bytes).width, 0);
    for (size_t size = 0; size < 40; ++size)
        QCOMPARE(unpackedPicture(std::span(bytes).first(size)).width, 0);
}

} // namespace tst_picture_bytes

QTEST_GUILESS_MAIN(tst_picture_bytes::TestPictureBytes)
#include "tst_picture_bytes.moc"
