// Downloads from a server on this machine: whole, cut and resumed, from the next address, with the
// wrong content; no network, a full disk, and a user who stops it.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/io/download.h"
#include "engine/io/open_folder.h"
#include "tests/support/array_files.h"
#include "tests/support/growth_limit.h"
#include "tests/support/http_server.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace tst_download {

using namespace halfscope;

namespace {

std::string content() {
    std::string bytes;
    for (int64_t i = 0; i < 300'000; ++i)
        bytes += static_cast<char>(i * i % 251);
    return bytes;
}

const std::string kContent = content();
const RemoteFile kFile{"data.gz", static_cast<int64_t>(kContent.size()), sha256(kContent)};

} // namespace

class TestDownload : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void whole();
    void goesOnWhereItWasCut_data();
    void goesOnWhereItWasCut();
    void wrongStartIsFetchedAgain();
    void startOfAnotherFile();
    void partOfOthers();
    void nextAddress();
    void refuses_data();
    void refuses();
    void noNetwork();
    void fullDisk();
    void stopped();

private:
    QString path(const char* name) const { return m_folder->filePath(name); }
    QByteArray bytesOf(const char* name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("not there");
    }
    void fetch(const std::vector<std::string>& addresses,
               const FetchProgress& progress = {}) const {
        fetchFile(kFile, addresses, m_folder->path().toStdString(), progress);
    }
    std::string error(const std::vector<std::string>& addresses) const {
        return thrownBy<RunError>([&] { fetch(addresses); });
    }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestDownload::whole() {
    HttpServer server;
    server.put("data.gz", {kContent});
    std::vector<int64_t> told;
    fetch({server.address()}, [&](const RemoteFile&, int64_t have) { told.push_back(have); });
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    QVERIFY(!QFile::exists(path("data.gz.part")));
    QVERIFY(!told.empty() && told.back() <= kFile.bytes);
    QVERIFY(std::is_sorted(told.begin(), told.end()));
    fetch({server.address()});
    QCOMPARE(server.asked().size(), size_t{1}); // the file is there already
    writeBytes(path("data.gz").toStdString(), "damaged since");
    fetch({server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
}

void TestDownload::goesOnWhereItWasCut_data() {
    QTest::addColumn<bool>("ranges");
    QTest::newRow("the rest") << true;
    QTest::newRow("all again") << false; // from a server that sends whole files only
}

void TestDownload::goesOnWhereItWasCut() {
    QFETCH(const bool, ranges);
    HttpServer server;
    server.put("data.gz", {kContent, 200, 100'000});
    QCOMPARE(error({server.address()}),
             server.address() + "data.gz: the connection broke after 100000 of 300000 bytes; "
                                "these are kept, and the next try resumes from there");
    QCOMPARE(bytesOf("data.gz.part"), QByteArray::fromStdString(kContent.substr(0, 100'000)));
    QVERIFY(!QFile::exists(path("data.gz")));
    server.put("data.gz", {kContent, 200, std::string::npos, ranges});
    fetch({server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    std::vector<size_t> asked{0, 100'000};
    if (!ranges) asked.push_back(0);
    QCOMPARE(server.asked(), asked);
}

/// The rest of another download does not spoil this one; nor does a complete file that was not
/// renamed.
void TestDownload::wrongStartIsFetchedAgain() {
    HttpServer server;
    server.put("data.gz", {kContent});
    const std::string rest = kContent.substr(1000);
    for (const std::string& start :
         {std::string(1000, 'x'), std::string(1000, 'x') + rest, kContent + "more"}) {
        QFile::remove(path("data.gz"));
        writeBytes(path("data.gz.part").toStdString(), start);
        fetch({server.address()});
        QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    }
    QFile::remove(path("data.gz"));
    const size_t before = server.asked().size();
    writeBytes(path("data.gz.part").toStdString(), kContent);
    fetch({server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    QCOMPARE(server.asked().size(), before);
}

/// The kept part is longer than the server's file, which differs until it is mended.
void TestDownload::startOfAnotherFile() {
    HttpServer server;
    server.put("data.gz", {std::string(10, 'x')});
    writeBytes(path("data.gz.part").toStdString(), std::string(1000, 'x'));
    QCOMPARE(error({server.address()}),
             server.address() + "data.gz: the server sent a different file (10 bytes in place of "
                                "300000); it was discarded");
    QCOMPARE(server.asked(), (std::vector<size_t>{1000, 0}));
    server.put("data.gz", {kContent});
    fetch({server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    QCOMPARE(server.asked().back(), size_t{0});
}

/// Something that has the name of the kept part but is no file of ours is neither waited for nor
/// written to.
void TestDownload::partOfOthers() {
    HttpServer server;
    server.put("data.gz", {kContent});
    const std::string part = path("data.gz.part").toStdString();
    QCOMPARE(::mkfifo(part.c_str(), 0600), 0);
    QCOMPARE(error({server.address()}), part + ": cannot write: No such device or address");
    QVERIFY(QFile::remove(path("data.gz.part")));
    writeBytes(part, "of another program");
    const Descriptor other(::open(part.c_str(), O_RDWR | O_CLOEXEC));
    QCOMPARE(::flock(other.number(), LOCK_EX), 0);
    QCOMPARE(error({server.address()}), part + ": another program is downloading this file");
    QCOMPARE(bytesOf("data.gz.part"), QByteArray("of another program"));
    QVERIFY(server.asked().empty());
}

void TestDownload::nextAddress() {
    HttpServer none, cut, wrong, server;
    cut.put("data.gz", {kContent, 200, 5000});
    wrong.put("data.gz", {std::string(kContent.size(), 'x')});
    server.put("data.gz", {kContent});
    fetch({none.address(), cut.address(), server.address()});
    QCOMPARE(server.asked(), std::vector<size_t>{5000}); // continues after what the earlier address
                                                         // had sent
    QFile::remove(path("data.gz"));
    fetch({wrong.address(), server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
}

void TestDownload::refuses_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("text");
    QTest::newRow("not there") << QByteArray() << 404 << "the server answered with error 404";
    QTest::newRow("failing") << QByteArray("x") << 503 << "the server answered with error 503";
    QTest::newRow("checksum")
        << QByteArray(300'000, 'x') << 200
        << "the server sent a different file (its checksum is wrong); it was discarded";
    QTest::newRow("longer")
        << QByteArray(300'001, 'x') << 200
        << "the server sent a different file (more than 300000 bytes); it was discarded";
    QTest::newRow("shorter")
        << QByteArray(10, 'x') << 200
        << "the server sent a different file (10 bytes in place of 300000); it was discarded";
}

void TestDownload::refuses() {
    QFETCH(const QByteArray, content);
    QFETCH(const int, status);
    QFETCH(const QString, text);
    HttpServer server;
    server.put("data.gz", {content.toStdString(), status});
    QCOMPARE(error({server.address()}), server.address() + "data.gz: " + text.toStdString());
    QVERIFY(!QFile::exists(path("data.gz")));
    QVERIFY(!QFile::exists(path("data.gz.part"))); // it is of no use
}

void TestDownload::noNetwork() {
    std::string gone;
    {
        const HttpServer server;
        gone = server.address();
    }
    const std::string refused = error({gone});
    QVERIFY2(refused.starts_with(gone + "data.gz: cannot be reached: "), refused.c_str());
    QVERIFY2(refused.find("onnect") != refused.npos, refused.c_str());
    const std::string unknown = error({"http://no-such-host.invalid/"});
    QVERIFY2(unknown.starts_with("http://no-such-host.invalid/data.gz: cannot be reached: "),
             unknown.c_str());
    const std::string other = error({"file:///etc/"});
    QVERIFY2(other.find("cannot be reached") != other.npos, other.c_str());
    QVERIFY(QDir(m_folder->path()).isEmpty());
}

/// A limit on the size of files stands for a full disk: what fits is kept, and the reason is
/// reported.
void TestDownload::fullDisk() {
    HttpServer server;
    server.put("data.gz", {kContent});
    const std::string refused = [&] {
        const GrowthLimit limit(50'000);
        return error({server.address()});
    }();
    QCOMPARE(refused, path("data.gz.part").toStdString() + ": cannot write: File too large");
    fetch({server.address()});
    QCOMPARE(server.asked(), (std::vector<size_t>{0, 50'000}));
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
}

void TestDownload::stopped() {
    HttpServer server;
    server.put("data.gz", {kContent, 200, 100'000, true, true});
    std::stop_source stop;
    const Cancellable until(stop.get_token());
    QElapsedTimer time;
    time.start();
    const auto stopsInTheMiddle = [&](const RemoteFile&, int64_t have) {
        if (have == 100'000) stop.request_stop();
    };
    QVERIFY_EXCEPTION_THROWN(fetch({server.address()}, stopsInTheMiddle), Cancelled);
    QVERIFY(time.elapsed() < 25'000); // rather than after the 30 s that a server may be silent
    QCOMPARE(bytesOf("data.gz.part").size(), 100'000);
    QVERIFY(!QFile::exists(path("data.gz")));
    QFile::remove(path("data.gz.part"));
    QVERIFY_EXCEPTION_THROWN(fetch({server.address()}), Cancelled); // before anything has arrived
    QVERIFY(QDir(m_folder->path()).isEmpty());
}

} // namespace tst_download

QTEST_APPLESS_MAIN(tst_download::TestDownload)
#include "tst_download.moc"
