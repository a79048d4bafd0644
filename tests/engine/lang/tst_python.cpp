// Values and texts as Python reads them.
#include "engine/lang/python.h"

#include <QTest>

namespace tst_python {

using namespace halfscope::lang;

class TestPython : public QObject {
    Q_OBJECT
private slots:
    void texts_data();
    void texts();
    void reals_data();
    void reals();
    void names();
};

void TestPython::texts_data() {
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray("") << QByteArray(R"("")");
    QTest::newRow("path") << QByteArray("/data/x.npy") << QByteArray(R"("/data/x.npy")");
    QTest::newRow("quotes") << QByteArray(R"(a"b'c)") << QByteArray(R"("a\"b'c")");
    QTest::newRow("backslash") << QByteArray(R"(a\n)") << QByteArray(R"("a\\n")");
    QTest::newRow("line ends") << QByteArray("a\nb\r\x7f") << QByteArray(R"("a\x0ab\x0d\x7f")");
    QTest::newRow("UTF-8") << QByteArray("größe") << QByteArray("\"größe\"");
    QTest::newRow("no UTF-8") << QByteArray("a\xff\xc3") << QByteArray(R"("a\udcff\udcc3")");
}

void TestPython::texts() {
    QFETCH(const QByteArray, value);
    QFETCH(const QByteArray, text);
    QCOMPARE(QByteArray::fromStdString(pythonText(value.toStdString())), text);
}

void TestPython::reals_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text"); // as Python's repr() gives it
    QTest::newRow("whole") << 1.0 << "1.0";
    QTest::newRow("negative zero") << -0.0 << "-0.0";
    QTest::newRow("tenth") << 0.1 << "0.1";
    QTest::newRow("0.0001") << 1e-4 << "0.0001";
    QTest::newRow("small") << 1e-5 << "1e-05";
    QTest::newRow("2^24") << 16777216.0 << "16777216.0";
    QTest::newRow("1e16") << 1e16 << "1e+16";
    QTest::newRow("largest") << 1.7976931348623157e308 << "1.7976931348623157e+308";
}

void TestPython::reals() {
    QFETCH(const double, value);
    QFETCH(const QString, text);
    QCOMPARE(QString::fromStdString(pythonReal(value)), text);
}

/// Python's own braces stay.
void TestPython::names() {
    QCOMPARE(filled("{A} + {AB} = {f\"{A}\"} {", {{"A", "1"}, {"AB", "{A}"}}),
             std::string("1 + {A} = {f\"1\"} {"));
}

} // namespace tst_python

QTEST_APPLESS_MAIN(tst_python::TestPython)
#include "tst_python.moc"
