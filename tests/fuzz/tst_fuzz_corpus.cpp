// Runs the fuzzers' targets over their corpora and over what they once found, with the compiler and
// in the build of every other test.
#include "tests/fuzz/targets.h"
#include "tests/support/address_limit.h"
#include "tests/support/processor_time.h"
#include "tests/support/under_sanitizer.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <optional>

using namespace halfscope::fuzz;

class TestFuzzCorpus : public QObject {
    Q_OBJECT

private slots:
    void replay_data();
    void replay();
};

void TestFuzzCorpus::replay_data() {
    QTest::addColumn<int>("target");
    for (int i = 0; i < static_cast<int>(targets().size()); ++i)
        QTest::newRow(targets()[static_cast<size_t>(i)].name.data()) << i;
}

void TestFuzzCorpus::replay() {
    QFETCH(int, target);
    const Target& chosen = targets()[static_cast<size_t>(target)];
    const QDir folder(QStringLiteral(HALFSCOPE_SOURCE_DIR "/tests/fuzz/corpus/") +
                      QLatin1String(chosen.name.data()));
    const QStringList names = folder.entryList(QDir::Files);
    QVERIFY2(!names.isEmpty(), qPrintable(folder.path()));
    // ms of a slow processor; a file that takes longer is a finding, as is one that takes more
    // bytes
    constexpr double kLongest = 10'000;
    constexpr size_t kMostMemory = size_t{1} << 30;
    std::optional<halfscope::AddressLimit> limit; // sanitizers map more for themselves
    if (!halfscope::test::kUnderSanitizer) limit.emplace(kMostMemory);
    for (const QString& name : names) {
        QFile file(folder.filePath(name));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray bytes = file.readAll();
        const double start = halfscope::test::processorMs();
        try {
            check(chosen, {bytes.data(), static_cast<size_t>(bytes.size())});
        } catch (const std::exception& error) {
            QFAIL(qPrintable(name + QStringLiteral(": ") + QString::fromUtf8(error.what())));
        }
        QVERIFY2(halfscope::test::processorMs() - start < kLongest, qPrintable(name));
    }
    const QString left =
        QStringLiteral("halfscope-fuzz-%1").arg(QCoreApplication::applicationPid());
    QVERIFY(!QDir::temp().exists(left)); // fuzzers run for days
}

QTEST_GUILESS_MAIN(TestFuzzCorpus)
#include "tst_fuzz_corpus.moc"
