// The data sets that can be downloaded: what the table says of them, where they go and are found,
// and the preset that takes what was fetched. Servers of this machine stand in for the mirrors.
#include "engine/core/error.h"
#include "engine/io/user_folders.h"
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/stand_in_data.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

namespace tst_public_data {

using namespace halfscope;

namespace {

const std::string kContent(5000, 'c');

/// Returns a data set with files of these names that nobody serves.
PublicData unknown(const std::string& name) {
    PublicData data;
    data.name = name;
    data.files = {{"a.gz", 1, {}}, {"b.gz", 1, {}}};
    return data;
}

} // namespace

class TestPublicData : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { qputenv("XDG_DATA_HOME", m_home.path().toUtf8()); }
    void table();
    void names();
    void fetches();
    void noFolder();
    void otherDataStay();
    void localFolders();
    void packagedFolders();
    void presetTakesWhatWasFetched();
    void usualFolders(); // last: it changes the environment

private:
    QString path(const char* name) const { return m_home.filePath(name); }
    QTemporaryDir m_home;
};

/// Published sizes; no two files have the same content, and no two sets the same name or preset.
void TestPublicData::table() {
    QCOMPARE(publicDataNamed("mnist").bytes(), int64_t{9912422 + 28881 + 1648877 + 4542});
    QCOMPARE(publicDataNamed("fashion-mnist").bytes(), int64_t{26421880 + 29515 + 4422102 + 5148});
    std::set<std::string> names, presets, checksums;
    for (const PublicData& data : publicData()) {
        QVERIFY(names.insert(data.name).second && presets.insert(data.preset).second);
        QVERIFY(presetNamed(data.preset).config.task.kind == TaskKind::Mnist);
        QVERIFY(!data.title.empty() && !data.contents.empty());
        QCOMPARE(data.files.size(), size_t{4});
        for (const RemoteFile& file : data.files) {
            QCOMPARE(file.sha256.size(), size_t{64});
            QCOMPARE(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
            QVERIFY2(checksums.insert(file.sha256).second, file.name.c_str());
        }
        QVERIFY(data.addresses.size() > 1 && data.addresses.front().starts_with("https://"));
        for (const std::string& address : data.addresses)
            QVERIFY(address.starts_with("http") && address.ends_with('/'));
    }
}

void TestPublicData::names() {
    const auto refused = [](const char* name) {
        return thrownBy<InputError>([&] { publicDataNamed(name); });
    };
    QCOMPARE(publicDataNamed("fashion-mnist").title, std::string("Fashion-MNIST"));
    QCOMPARE(refused("imagenet"),
             std::string("\"imagenet\" is not a data set that can be downloaded; there are: mnist, "
                         "fashion-mnist"));
    QCOMPARE(refused("fashion-mnst"),
             std::string("\"fashion-mnst\" is not a data set that can be downloaded; the nearest "
                         "one is fashion-mnist"));
}

void TestPublicData::fetches() {
    HttpServer server;
    PublicData data = standIn("mnist", kContent, server);
    data.files[1] = {data.files[1].name, 3, sha256("abc")}; // sizes differ
    serve(server, data, {kContent});
    server.put(data.files[1].name, {"abc"});
    std::vector<int64_t> told;
    getData(data, path("new/mnist").toStdString(), [&](int64_t have) { told.push_back(have); });
    QVERIFY(std::is_sorted(told.begin(), told.end()));
    QCOMPARE(told.back(), int64_t{3 * 5000 + 3});
    QCOMPARE(data.bytes(), told.back());
    QCOMPARE(QDir(path("new/mnist")).entryList(QDir::Files).size(), 4);
}

void TestPublicData::noFolder() {
    writeBytes(path("file").toStdString(), "");
    const std::string folder = path("file/mnist").toStdString();
    QCOMPARE(thrownBy<RunError>([&] { getData(publicDataNamed("mnist"), folder, {}); }),
             folder + ": cannot make the folder: Not a directory");
}

/// The files of both sets have the same names: one would replace the other.
void TestPublicData::otherDataStay() {
    const std::string folder = path("digits").toStdString();
    QVERIFY(QDir().mkpath(path("digits")));
    const RemoteFile& labels = publicDataNamed("mnist").files.back();
    writeBytes(folder + "/" + labels.name, std::string(static_cast<size_t>(labels.bytes), 'm'));
    HttpServer server;
    PublicData clothes = standIn("fashion-mnist", kContent, server);
    serve(server, clothes, {kContent});
    QCOMPARE(thrownBy<InputError>([&] { getData(clothes, folder, {}); }),
             folder + ": t10k-labels-idx1-ubyte.gz in this folder is of MNIST, and Fashion-MNIST "
                      "has files of the same names; choose another folder");
    QVERIFY(server.asked().empty());
    QCOMPARE(QDir(path("digits")).entryList(QDir::Files).size(), 1);
    // unpacked, nobody knows whose it is
    QVERIFY(QDir().mkpath(path("plain")));
    writeBytes(path("plain/t10k-labels-idx1-ubyte").toStdString(), "m");
    QCOMPARE(thrownBy<InputError>([&] { getData(clothes, path("plain").toStdString(), {}); }),
             path("plain").toStdString() +
                 ": t10k-labels-idx1-ubyte in this folder would be read in place of what is "
                 "downloaded; choose another folder");
    // the same set may mend its own
    getData(standIn("mnist", kContent, server), folder, {});
    QCOMPARE(QDir(path("digits")).entryList(QDir::Files).size(), 4);
}

/// All files must be there, packed or not.
void TestPublicData::localFolders() {
    const auto put = [this](const char* file) {
        const QString whole = path("halfscope/") + file;
        QVERIFY(QDir().mkpath(QFileInfo(whole).path()));
        writeBytes(whole.toStdString(), "x");
    };
    for (const char* file : {"whole/a.gz", "whole/b.gz", "unpacked/a", "unpacked/b.gz", "half/a.gz",
                             "begun/a.gz", "begun/b.gz.part"})
        put(file);
    for (const char* name : {"whole", "unpacked"})
        QCOMPARE(localFolder(unknown(name)), usualFolder(unknown(name)));
    for (const char* name : {"half", "begun", "none"})
        QCOMPARE(localFolder(unknown(name)), std::string());
}

/// A made-up folder stands in for that of Debian's packages; the user's own comes first.
void TestPublicData::packagedFolders() {
    const QByteArray before = qgetenv("XDG_DATA_DIRS");
    const auto restore = qScopeGuard([&] { qputenv("XDG_DATA_DIRS", before); });
    const auto put = [this](const char* file) {
        const QString whole = path(file);
        QVERIFY(QDir().mkpath(QFileInfo(whole).path()));
        writeBytes(whole.toStdString(), "x");
    };
    for (const char* file :
         {"share/datasets/packaged/a.gz", "share/datasets/packaged/b.gz",
          "share/datasets/part/a.gz", "share/datasets/both/a.gz", "share/datasets/both/b.gz",
          "halfscope/both/a.gz", "halfscope/both/b.gz"})
        put(file);
    qputenv("XDG_DATA_DIRS", QByteArray("relative::/nowhere:") + path("share").toUtf8());
    QCOMPARE(localFolder(unknown("packaged")), path("share/datasets/packaged").toStdString());
    QCOMPARE(localFolder(unknown("part")), std::string());
    QCOMPARE(localFolder(unknown("both")), usualFolder(unknown("both")));
    QCOMPARE(sharedDataFolders(),
             (std::vector<std::string>{"/nowhere", path("share").toStdString(), "/usr/share"}));
    qunsetenv("XDG_DATA_DIRS");
    QCOMPARE(sharedDataFolders(), (std::vector<std::string>{"/usr/local/share", "/usr/share"}));
}

/// It falls back to the digits and says how to get the clothes, until these come.
void TestPublicData::presetTakesWhatWasFetched() {
    const Preset& before = presetNamed("fashion-cnn");
    const QString installed = QStringLiteral("/usr/share/datasets/fashion-mnist");
    if (QFile::exists(installed)) {
        QCOMPARE(before.config.task.path, installed.toStdString());
    } else {
        QCOMPARE(before.config.task.path, std::string());
        QCOMPARE(before.config.title, std::string("Clothes (now digits)"));
        const std::string_view about = before.aboutHere().text();
        QVERIFY(about.find("halfscope-cli get fashion-mnist") != std::string_view::npos);
    }
    HttpServer server;
    const PublicData clothes = standIn("fashion-mnist", kContent, server);
    serve(server, clothes, {kContent});
    getData(clothes, path("elsewhere").toStdString(), {});
    QCOMPARE(&presetNamed("fashion-cnn"), &before); // nobody would look there next time
    getData(clothes, usualFolder(clothes), {});
    const Preset& after = presetNamed("fashion-cnn");
    if (!QFile::exists(installed)) QCOMPARE(after.config.task.path, usualFolder(clothes));
    QVERIFY(!after.config.task.path.empty());
    QCOMPARE(after.config.title, std::string("Clothes, convolutions"));
    QCOMPARE(&after.aboutHere(), &after.about);
    QCOMPARE(before.name, std::string("fashion-cnn")); // the old ones stay
    QCOMPARE(presetNamed("resnet-small").config.task.path, std::string());
}

void TestPublicData::usualFolders() {
    const PublicData &digits = publicDataNamed("mnist"),
                     &clothes = publicDataNamed("fashion-mnist");
    qputenv("XDG_DATA_HOME", "/some/data");
    QCOMPARE(usualFolder(digits), std::string("/some/data/halfscope/mnist"));
    QCOMPARE(usualFolder(clothes), std::string("/some/data/halfscope/fashion-mnist"));
    qputenv("XDG_DATA_HOME", "relative"); // the standard says to ignore it
    qputenv("HOME", "/a/home");
    QCOMPARE(usualFolder(digits), std::string("/a/home/.local/share/halfscope/mnist"));
    for (const char* none : {"", "relative"}) { // then the account's folder is used
        qputenv("HOME", none);
        const std::string folder = usualFolder(digits);
        QVERIFY2(folder.empty() || (folder.starts_with('/') && !folder.starts_with("/.local")),
                 folder.c_str());
    }
}

} // namespace tst_public_data

QTEST_APPLESS_MAIN(tst_public_data::TestPublicData)
#include "tst_public_data.moc"
