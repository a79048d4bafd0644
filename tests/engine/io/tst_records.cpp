// Protobuf messages and the frame of records, compared with published values.
#include "engine/io/protobuf.h"
#include "engine/io/records.h"

#include <QTest>

namespace tst_records {

using namespace halfscope;

class TestRecords : public QObject {
    Q_OBJECT

private slots:
    void checksums_data();
    void checksums();
    void frame();
    void fields_data();
    void fields();
    void nested();
};

void TestRecords::checksums_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<uint>("crc");
    QByteArray rising, falling;
    for (char i = 0; i < 32; ++i) {
        rising.append(i);
        falling.prepend(i);
    }
    // RFC 3720, B.4, and the check value of the catalogue of CRCs
    QTest::newRow("zeros") << QByteArray(32, '\0') << 0x8A9136AAu;
    QTest::newRow("ones") << QByteArray(32, '\xFF') << 0x62A8AB43u;
    QTest::newRow("rising") << rising << 0x46DD794Eu;
    QTest::newRow("falling") << falling << 0x113FDB5Cu;
    QTest::newRow("123456789") << QByteArray("123456789") << 0xE3069283u;
    QTest::newRow("nothing") << QByteArray() << 0u;
}

void TestRecords::checksums() {
    QFETCH(QByteArray, bytes);
    QFETCH(uint, crc);
    QCOMPARE(crc32c(bytes.toStdString()), crc);
}

/// The first record of a file that PyTorch's SummaryWriter made.
void TestRecords::frame() {
    const QByteArray event =
        QByteArray::fromHex("0900000000000000001a0d627261696e2e4576656e743a32");
    const QByteArray record = QByteArray::fromStdString(recordOf(event.toStdString()));
    QCOMPARE(record.left(12).toHex(), QByteArray("1800000000000000a37f4b22"));
    QCOMPARE(record.mid(12, event.size()), event);
    QCOMPARE(record.size(), 12 + event.size() + 4);
    // unmasked, the last four bytes are the checksum of the data
    const auto* last =
        reinterpret_cast<const unsigned char*>(record.constData()) + 12 + event.size();
    const uint32_t masked = last[0] | last[1] << 8 | last[2] << 16 | uint32_t{last[3]} << 24;
    const uint32_t turned = masked - 0xA282EAD8;
    QCOMPARE(turned << 15 | turned >> 17, crc32c(event.toStdString()));
}

void TestRecords::fields_data() {
    QTest::addColumn<QByteArray>("made");
    QTest::addColumn<QByteArray>("hex");
    const auto row = [](const char* name, const ProtoMessage& made, const char* hex) {
        QTest::newRow(name) << QByteArray::fromStdString(made.bytes()) << QByteArray(hex);
    };
    // 150 and "testing" are the examples on the encoding's page
    row("150", ProtoMessage().whole(1, 150), "089601");
    row("testing", ProtoMessage().text(2, "testing"), "120774657374696e67");
    row("zero", ProtoMessage().whole(1, 0), "0800");
    row("-2", ProtoMessage().whole(1, -2), "08feffffffffffffffff01");
    row("a high field", ProtoMessage().whole(16, 1), "800101");
    row("a float", ProtoMessage().real(2, 1.5f), "150000c03f");
    row("a double", ProtoMessage().real(1, -2.0), "0900000000000000c0");
    row("packed", ProtoMessage().packed(6, std::array{1.0, 2.0}),
        "3210000000000000f03f0000000000000040");
}

void TestRecords::fields() {
    QFETCH(QByteArray, made);
    QFETCH(QByteArray, hex);
    QCOMPARE(made.toHex(), hex);
}

void TestRecords::nested() {
    const ProtoMessage inner = ProtoMessage().whole(1, 150);
    QCOMPARE(QByteArray::fromStdString(ProtoMessage().message(3, inner).bytes()).toHex(),
             QByteArray("1a03089601"));
    // longer than a length of one byte can say
    const std::string longText(300, 'x');
    QCOMPARE(QByteArray::fromStdString(ProtoMessage().text(1, longText).bytes()).left(3).toHex(),
             QByteArray("0aac02"));
}

} // namespace tst_records

QTEST_GUILESS_MAIN(tst_records::TestRecords)
#include "tst_records.moc"
