// Downloads from a server on this machine: whole, cut and resumed, from the next address, with the
// wrong content; no network, a full disk and a user who stops it.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/data/get_mnist.h"
#include "tests/support/array_files.h"
#include "tests/support/http_server.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <csignal>

#include <sys/resource.h>

namespace tst_download {

using namespace halfscope;

namespace {

std::string content() {
    std::string bytes;
    for (int i = 0; i < 300'000; ++i)
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
    void nextAddress();
    void refuses_data();
    void refuses();
    void noNetwork();
    void fullDisk();
    void noFolder();
    void stopped();
    void mnist();

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
    fetch({server.address()}, [&](const RemoteFile& file, int64_t have) {
        require(file.name == "data.gz" && (told.empty() || have >= told.back()), "it grows");
        told.push_back(have);
    });
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    QVERIFY(!QFile::exists(path("data.gz.part")));
    QVERIFY(!told.empty() && told.back() <= kFile.bytes);
    fetch({server.address()});
    QCOMPARE(server.asked().size(), size_t{1}); // it is there
    writeBytes(path("data.gz").toStdString(), "damaged since");
    fetch({server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
}

void TestDownload::goesOnWhereItWasCut_data() {
    QTest::addColumn<bool>("ranges");
    QTest::newRow("the rest") << true;
    QTest::newRow("all again") << false; // of a server that sends whole files only
}

void TestDownload::goesOnWhereItWasCut() {
    QFETCH(const bool, ranges);
    HttpServer server;
    server.put("data.gz", {kContent, 200, 100'000});
    QCOMPARE(error({server.address()}),
             server.address() +
                 "data.gz: the connection was cut after 100000 of 300000 bytes; they "
                 "are kept, and another try goes on from there");
    QCOMPARE(bytesOf("data.gz.part"), QByteArray::fromStdString(kContent.substr(0, 100'000)));
    QVERIFY(!QFile::exists(path("data.gz")));
    server.put("data.gz", {kContent, 200, std::string::npos, ranges});
    fetch({server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
    std::vector<size_t> asked{0, 100'000};
    if (!ranges) asked.push_back(0);
    QCOMPARE(server.asked(), asked);
}

/// What is left of another download does not spoil this one; nor does a whole file that has no
/// name.
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

void TestDownload::nextAddress() {
    HttpServer none, cut, wrong, server;
    cut.put("data.gz", {kContent, 200, 5000});
    wrong.put("data.gz", {std::string(kContent.size(), 'x')});
    server.put("data.gz", {kContent});
    fetch({none.address(), cut.address(), server.address()});
    QCOMPARE(server.asked(), std::vector<size_t>{5000}); // with what the one before had sent
    QFile::remove(path("data.gz"));
    fetch({wrong.address(), server.address()});
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
}

void TestDownload::refuses_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("text");
    QTest::newRow("not there") << QByteArray() << 404 << "the server answers with the error 404";
    QTest::newRow("failing") << QByteArray("x") << 503 << "the server answers with the error 503";
    QTest::newRow("checksum")
        << QByteArray(300'000, 'x') << 200
        << "the server sends another file: its checksum is not the known one; "
           "nothing of it is kept";
    QTest::newRow("longer") << QByteArray(300'001, 'x') << 200
                            << "the server sends another file: more than 300000 bytes";
    QTest::newRow("shorter")
        << QByteArray(10, 'x') << 200
        << "the connection was cut after 10 of 300000 bytes; they are kept, and "
           "another try goes on from there";
}

void TestDownload::refuses() {
    QFETCH(const QByteArray, content);
    QFETCH(const int, status);
    QFETCH(const QString, text);
    HttpServer server;
    server.put("data.gz", {content.toStdString(), status});
    QCOMPARE(error({server.address()}), server.address() + "data.gz: " + text.toStdString());
    QVERIFY(!QFile::exists(path("data.gz")));
    if (status != 200) QVERIFY(!QFile::exists(path("data.gz.part")));
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

/// The limit on the size of files stands for it: what fits is kept, and the reason is told.
void TestDownload::fullDisk() {
    HttpServer server;
    server.put("data.gz", {kContent});
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{50'000, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string refused = error({server.address()});
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, before);
    QCOMPARE(refused, path("data.gz.part").toStdString() + ": cannot write: File too large");
    fetch({server.address()});
    QCOMPARE(server.asked(), (std::vector<size_t>{0, 50'000}));
    QCOMPARE(bytesOf("data.gz"), QByteArray::fromStdString(kContent));
}

void TestDownload::noFolder() {
    writeBytes(path("file").toStdString(), "");
    const std::string folder = path("file/mnist").toStdString();
    QCOMPARE(thrownBy<RunError>([&] { getMnist(folder, {}, {}, {}); }),
             folder + ": cannot make the folder: Not a directory");
}

void TestDownload::stopped() {
    HttpServer server;
    server.put("data.gz", {kContent});
    std::stop_source stop;
    const Cancellable until(stop.get_token());
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(fetch({server.address()}), Cancelled);
    QVERIFY(!QFile::exists(path("data.gz")));
}

/// The names and sizes are those that the data set looks for; the files of another set stand in.
void TestDownload::mnist() {
    const auto published = mnistFiles();
    QCOMPARE(published.size(), size_t{4});
    QCOMPARE(mnistBytes(), int64_t{9912422 + 28881 + 1648877 + 4542});
    for (const RemoteFile& file : published)
        QCOMPARE(file.sha256.size(), size_t{64});
    for (const std::string& address : mnistAddresses())
        QVERIFY(address.starts_with("https://") && address.ends_with('/'));
    HttpServer server;
    std::vector<RemoteFile> files;
    int64_t all = 0;
    for (size_t i = 0; i < published.size(); ++i) {
        const std::string bytes = kContent.substr(0, 1000 * (i + 1));
        server.put(published[i].name, {bytes});
        files.push_back({published[i].name, static_cast<int64_t>(bytes.size()), sha256(bytes)});
        all += files.back().bytes;
    }
    int64_t told = 0;
    const std::array addresses{server.address()};
    getMnist(path("new/mnist").toStdString(), files, addresses, [&](int64_t have) {
        require(have >= told, "it grows");
        told = have;
    });
    QCOMPARE(told, all);
    QCOMPARE(QDir(path("new/mnist")).entryList(QDir::Files).size(), 4);
    qputenv("XDG_DATA_HOME", "/some/data");
    QCOMPARE(usualMnistFolder(), std::string("/some/data/halfscope/mnist"));
    qputenv("XDG_DATA_HOME", "relative"); // which the standard has ignored
    QVERIFY(usualMnistFolder().ends_with("/.local/share/halfscope/mnist"));
}

} // namespace tst_download

QTEST_APPLESS_MAIN(tst_download::TestDownload)
#include "tst_download.moc"
