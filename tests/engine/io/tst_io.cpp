// Writing and reading whole files and growing ones, with success and failure: full disks, folders
// that may not be written to, devices, links. Pictures are in tst_picture.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/io/atomic_file.h"
#include "engine/io/csv.h"
#include "engine/io/growing_file.h"
#include "engine/io/input_file.h"
#include "engine/io/json_text.h"
#include "engine/io/open_folder.h"
#include "engine/io/output_folder.h"
#include "engine/io/picture.h"
#include "tests/support/growth_limit.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/processor_time.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace tst_io {

using namespace halfscope;
namespace fs = std::filesystem;

class TestIo : public QObject {
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QStringList files() const {
        return QDir(m_folder.path()).entryList(QDir::Files | QDir::Hidden | QDir::System);
    }

private slots:
    void init() {
        QVERIFY(m_folder.isValid());
        for (const QString& name : files())
            QVERIFY(QFile::remove(m_folder.filePath(name)));
    }
    void wholeFiles();
    void namesInFolders();
    void fileStamps();
    void linkStaysLink();
    void failedWriteLeavesNothing();
    void fullDevice();
    void readOnlyFolder();
    void fullDisk();
    void endlessFile();
    void onlyRegularFiles();
    void readingCanBeCancelled();
    void openQuotationMark();
    void outputFolder();
    void leftoversAreRemoved();
    void growingFile();
    void whatHasTheName();
    void folderLock();
    void growingFileOnFullDisk();
    void jsonText();
    void jsonTree();
};

void TestIo::wholeFiles() {
    const std::string name = path("file");
    std::string content("a\0b\n", 4);
    content.resize(200000, 'x');
    for (const std::string& text : {std::string(), content, std::string("short")}) {
        writeFileAtomically(name, text);
        QVERIFY(readFile(name) == text);
    }
    QCOMPARE(files(), QStringList("file"));
    QVERIFY(isAbout(thrownBy<InputError>([&] { readFile(path("absent")); }), path("absent"),
                    "cannot read: No such file"));
    const std::string folder = m_folder.path().toStdString();
    QVERIFY(isAbout(thrownBy<InputError>([&] { readFile(folder); }), folder, "Is a directory"));
    QVERIFY(isAbout(thrownBy<RunError>([&] { writeFileAtomically(folder, "x"); }), folder,
                    "cannot write: Is a directory"));
    QVERIFY(isAbout(thrownBy<RunError>([&] { writeFileAtomically(path("no/such"), "x"); }),
                    path("no/such"), "cannot write: No such file"));
    QCOMPARE(files(), QStringList("file"));
    writeFileAtomically("tst_io_relative.txt", "relative");
    QCOMPARE(readFile("tst_io_relative.txt"), std::string("relative"));
    QVERIFY(fs::remove("tst_io_relative.txt"));
}

void TestIo::namesInFolders() {
    const std::string folder = path("listed");
    QVERIFY(fs::create_directories(folder + "/inside"));
    for (const char* name : {"/b", "/.hidden"})
        writeFileAtomically(folder + name, "x");
    int error = -1;
    std::vector<std::string> names = namesIn(folder, Entries::All, &error);
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{".hidden", "b", "inside"}));
    QCOMPARE(error, 0);
    fs::create_symlink(path("listed/inside"), folder + "/link");
    fs::create_symlink(path("none"), folder + "/broken");
    names = namesIn(folder, Entries::Folders);
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{"inside", "link"}));
    names = namesIn(folder, Entries::Files);
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{".hidden", "b"}));
    names = namesIn(folder, Entries::NotFolders); // reading the broken link names it
    std::sort(names.begin(), names.end());
    QCOMPARE(names, (std::vector<std::string>{".hidden", "b", "broken"}));
    QCOMPARE(namesIn(folder, Entries::All, &error, 2).size(), size_t{2});
    QCOMPARE(error, 0);
    QCOMPARE(namesIn(folder + "/b", Entries::All, &error), std::vector<std::string>{});
    QCOMPARE(error, ENOTDIR);
    QCOMPARE(namesIn(folder + "/none", Entries::All, &error), std::vector<std::string>{});
    QCOMPARE(error, ENOENT);
}

/// A file's stamp changes when it is changed in place, replaced by another file of the same size
/// and time, or made readable for others.
void TestIo::fileStamps() {
    const std::string name = path("stamped"), other = path("other");
    writeFileAtomically(name, "one");
    writeFileAtomically(other, "two");
    fs::last_write_time(other, fs::last_write_time(name));
    const std::string first = fileStamp(name);
    QCOMPARE(fileStamp(name), first);
    fs::rename(other, name);
    QVERIFY(fileStamp(name) != first);
    const std::string second = fileStamp(name);
    fs::last_write_time(name, fs::last_write_time(name) + std::chrono::seconds(1));
    const std::string third = fileStamp(name);
    QVERIFY(third != second);
    fs::permissions(name, fs::perms::owner_read, fs::perm_options::replace);
    QVERIFY(fileStamp(name) != third);
    QCOMPARE(fileStamp(path("none")), std::string());
}

void TestIo::linkStaysLink() {
    writeFileAtomically(path("real"), "old");
    fs::create_symlink(path("real"), path("link"));
    writeFileAtomically(path("link"), "new");
    QVERIFY(fs::is_symlink(path("link")));
    QCOMPARE(readFile(path("real")), std::string("new"));
}

void TestIo::failedWriteLeavesNothing() {
    const std::string name = path("kept.png");
    writeFileAtomically(name, "old");
    {
        const GrowthLimit limit(1000);
        const std::string large(5000, 'x');
        QVERIFY(isAbout(thrownBy<RunError>([&] { writeFileAtomically(name, large); }), name,
                        "cannot write: File too large"));
        Picture noise{64, 64, 1, std::vector<float>(64 * 64)};
        Philox(1, 1).fillUniform(noise.values, 0.0F, 1.0F);
        QVERIFY(isAbout(thrownBy<RunError>([&] { writePng(noise, name); }), name, "cannot write"));
    }
    QCOMPARE(readFile(name), std::string("old"));
    QCOMPARE(files(), QStringList("kept.png"));
}

void TestIo::fullDevice() {
    if (!fs::is_character_file("/dev/full")) QSKIP("this system has no /dev/full");
    const std::string expected = "/dev/full: cannot write: No space left on device";
    QCOMPARE(thrownBy<RunError>([] { writeFileAtomically("/dev/full", "x"); }), expected);
    QCOMPARE(thrownBy<RunError>([] { writePng({1, 1, 1, {0}}, "/dev/full"); }), expected);
    QVERIFY(fs::is_character_file("/dev/full"));
}

void TestIo::readOnlyFolder() {
    const std::string folder = path("readonly");
    fs::create_directory(folder);
    QVERIFY(chmod(m_folder.path().toStdString().c_str(), 0755) == 0);
    QVERIFY(chmod(folder.c_str(), 0555) == 0);
    {
        const OrdinaryUser user;
        if (!user.holds()) QSKIP("root cannot become an ordinary user here");
        const std::string name = folder + "/a.png";
        QCOMPARE(thrownBy<RunError>([&] {
                     writePng({1, 1, 1, {0}}, name);
                 }),
                 name + ": cannot write: Permission denied");
        QCOMPARE(thrownBy<RunError>([&] {
                     GrowingFile{OpenFolder(folder), "a.png"};
                 }),
                 name + ": cannot write: Permission denied");
        QCOMPARE(thrownBy<RunError>([&] { OutputFolder{folder}; }),
                 folder + ": cannot write to this folder: Permission denied");
        QCOMPARE(thrownBy<RunError>([&] { OutputFolder{folder + "/deeper"}; }),
                 folder + "/deeper: cannot create the folder: Permission denied");
    }
    QVERIFY(fs::is_empty(folder));
    fs::remove(folder);
}

void TestIo::fullDisk() {
    const std::string folder = path("disk");
    fs::create_directory(folder);
    if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0)
        QSKIP("mounting a small file system needs root");
    const std::string name = folder + "/out.txt";
    const std::string old(1000, 'o');
    writeFileAtomically(name, old);
    const std::string whole =
        thrownBy<RunError>([&] { writeFileAtomically(name, std::string(100000, 'x')); });
    const bool kept = readFile(name) == old;
    const std::string growing = thrownBy<RunError>([&] {
        const OpenFolder open(folder);
        GrowingFile file(open, "steps.csv");
        file.place();
        for (int row = 0; row < 20000; ++row)
            file.append("a row of the table\n");
    });
    const std::string rows = readFile(folder + "/steps.csv");
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(folder))
        left.push_back(entry.path().filename().string());
    QVERIFY(umount(folder.c_str()) == 0);
    fs::remove(folder);

    QCOMPARE(whole, name + ": cannot write: No space left on device");
    QVERIFY(kept);
    QVERIFY(isAbout(growing, folder + "/steps.csv", "cannot write: No space left on device"));
    QVERIFY(rows.size() > 10000 && rows.ends_with("table\n"));
    std::sort(left.begin(), left.end());
    QCOMPARE(left, (std::vector<std::string>{"out.txt", "steps.csv"}));
}

void TestIo::endlessFile() {
    const std::string name = path("large");
    writeFileAtomically(name, "x");
    fs::resize_file(name, kMostFileBytes + 1); // takes no blocks on the disk
    const double start = test::processorMs();
    QCOMPARE(thrownBy<InputError>([&] { readFile(name); }),
             name + ": cannot read: it has more than 256 MiB");
    QVERIFY(test::processorMs() - start < 20); // without reading it
    fs::resize_file(name, kMostFileBytes);
    QCOMPARE(readFile(name).size(), kMostFileBytes);
}

/// Nothing is waited for: a pipe may have no writer, a terminal no typist, a device no end.
void TestIo::onlyRegularFiles() {
    const std::string pipe = path("pipe"), socket = path("socket");
    QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
    const int file = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    QVERIFY(socket.size() < sizeof address.sun_path);
    std::copy(socket.begin(), socket.end(), address.sun_path);
    QCOMPARE(bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(file);
    const auto reasonFor = [](const std::string& name) {
        const std::string whole = thrownBy<InputError>([&] { readFile(name); });
        const std::string table = thrownBy<InputError>([&] { CsvReader{name}; });
        return whole == table ? whole : whole + " but " + table;
    };
    QCOMPARE(reasonFor(pipe), pipe + ": cannot read: it is a pipe, not a file");
    QCOMPARE(reasonFor(socket), socket + ": cannot read: it is a device or a socket, not a file");
    for (const std::string device : {"/dev/zero", "/dev/full"})
        QCOMPARE(reasonFor(device), device + ": cannot read: it is a device, not a file");
    QVERIFY(reasonFor(path("")).ends_with("cannot read: Is a directory"));
    QVERIFY(reasonFor(path("none")).ends_with("cannot read: No such file or directory"));
    QCOMPARE(reasonFor(std::string("a\0b", 3)),
             std::string("a\\u0000b: cannot read: No such file or directory"));
    fs::create_symlink(pipe, path("link"));
    QCOMPARE(reasonFor(path("link")), path("link") + ": cannot read: it is a pipe, not a file");
}

void TestIo::readingCanBeCancelled() {
    const std::string name = path("table");
    std::string text;
    for (int i = 0; i < 200'000; ++i)
        text += "a row of the table\n";
    writeFileAtomically(name, text);
    std::stop_source stop;
    const Cancellable scope(stop.get_token());
    CsvReader table(name);
    std::vector<std::string_view> fields;
    QVERIFY(table.next(fields));
    stop.request_stop();
    QVERIFY_THROWS_EXCEPTION(Cancelled, [&] {
        while (table.next(fields)) {
        }
    }());
    QVERIFY_THROWS_EXCEPTION(Cancelled, readFile(name));
    { // another scope of this thread
        const Cancellable inner(std::stop_source().get_token());
        QCOMPARE(readFile(name), text);
    }
    QVERIFY_THROWS_EXCEPTION(Cancelled, readFile(name));
}

/// A record continues while a quotation mark is open; each line end used to search the record
/// again.
void TestIo::openQuotationMark() {
    const std::string name = path("steps.csv");
    for (const size_t lines : {size_t{1'000'000}, size_t{3'000'000}}) {
        writeFileAtomically(name, '"' + std::string(lines, '\n'));
        const double start = test::processorMs();
        const std::string error = thrownBy<InputError>([&] {
            CsvReader table(name);
            std::vector<std::string_view> fields;
            table.next(fields);
        });
        QVERIFY2(isAbout(error, name + ", line 1", "unmatched quotation mark"), error.c_str());
        QCOMPARE(error,
                 name + ", line 1: \"\"\" has an unmatched quotation mark"); // not what follows
        constexpr double kMost = 20'000; // of a slow processor; searching again takes minutes
        const double took = test::processorMs() - start;
        QVERIFY2(took < kMost, QByteArray::number(took));
    }
}

/// A temporary file is locked by the program that writes it, whatever its number and wherever it
/// runs.
void TestIo::leftoversAreRemoved() {
    QStringList kept{".a.csv.1-7.tmp", ".a.csv.tmp", ".b.1073741824.tmp", ".c.-1073741824-0.tmp",
                     ".d.1073741824-0.tmp.txt"};
    const QString own = QString::fromStdString(temporaryNameFor("b.csv"));
    for (const QString& name : kept + QStringList{".steps.csv.1-0.tmp", own})
        writeFileAtomically(path(qPrintable(name)), "x");
    QFile live(m_folder.filePath(kept[0]));
    QVERIFY(live.open(QIODevice::ReadOnly) && flock(live.handle(), LOCK_EX | LOCK_NB) == 0);
    fs::create_symlink("/etc/passwd", path(".link.1-0.tmp"));
    { const OutputFolder folder(m_folder.path().toStdString()); }
    QVERIFY(fs::remove(path(".link.1-0.tmp"))); // it belongs to nobody
    QStringList left = files();
    left.sort();
    kept.sort();
    QCOMPARE(left, kept);
}

void TestIo::outputFolder() {
    const std::string folder = path("out/deep/er");
    { const OutputFolder first(folder); }
    { const OutputFolder again(folder); }
    QVERIFY(fs::is_directory(folder) && fs::is_empty(folder));
    { const OutputFolder slash(folder + "/"); }
    QVERIFY(fs::is_empty(folder));
    fs::remove_all(path("out"));
    writeFileAtomically(path("file"), "x");
    const std::string text = thrownBy<RunError>([&] { OutputFolder{path("file")}; });
    QVERIFY2(isAbout(text, path("file"), ""), text.c_str());
    const std::string below = thrownBy<RunError>([&] { OutputFolder{path("file/below")}; });
    QVERIFY2(isAbout(below, path("file/below"), "Not a directory"), below.c_str());
}

void TestIo::growingFile() {
    const OpenFolder folder(m_folder.path().toStdString());
    const std::string name = path("steps.csv");
    writeFileAtomically(name, "old\n");
    std::string expected = "header\n";
    {
        GrowingFile file(folder, "steps.csv");
        file.append(expected);
        file.flush();
        QCOMPARE(readFile(name), std::string("old\n"));
        file.place();
        QCOMPARE(readFile(name), expected);
        for (int row = 0; row < 30000; ++row) {
            const std::string text = std::to_string(row) + ",1.5\n";
            file.append(text);
            expected += text;
        }
        QVERIFY(readFile(name).size() > expected.size() / 2); // large pieces are written without a
                                                              // call
        file.flush();
        QVERIFY(readFile(name) == expected);
        QCOMPARE(file.written(), static_cast<int64_t>(expected.size()));
        file.append("last\n");
    } // the file is closed without an explicit flush
    QVERIFY(readFile(name) == expected + "last\n");
    {
        GrowingFile file(folder, "steps.csv");
        file.append("never placed\n");
        file.sync();
    }
    QVERIFY(readFile(name) == expected + "last\n");
    {
        GrowingFile file(folder, "steps.csv");
        file.append("1\n22\n");
        file.finish();
        file.finish();
    }
    QCOMPARE(readFile(name), std::string("1\n22\n"));
    {
        GrowingFile file(folder, "steps.csv");
        file.append("1\n22\n");
        file.place();
        file.flush();
        file.append("333\n");
        file.cutAt(2);
    }
    QCOMPARE(readFile(name), std::string("1\n"));
    QCOMPARE(files(), QStringList("steps.csv"));
}

/// Links and other things that have the name of a file: a link is replaced, its target is not
/// touched.
void TestIo::whatHasTheName() {
    const OpenFolder folder(m_folder.path().toStdString());
    writeFileAtomically(path("victim"), "mine");
    fs::create_symlink(path("victim"), path("steps.csv"));
    {
        GrowingFile file(folder, "steps.csv");
        file.append("rows\n");
        file.finish();
    }
    QVERIFY(!fs::is_symlink(path("steps.csv")));
    QCOMPARE(readFile(path("victim")), std::string("mine"));
    QCOMPARE(readFile(path("steps.csv")), std::string("rows\n"));
    QVERIFY(mkfifo(path("pipe.csv").c_str(), 0600) == 0);
    QCOMPARE(thrownBy<RunError>([&] {
                 GrowingFile{folder, "pipe.csv"};
             }),
             path("pipe.csv") + ": cannot write: it is neither a file nor a link");
    fs::remove(path("pipe.csv"));
    fs::create_directory(path("folder.csv"));
    QCOMPARE(thrownBy<RunError>([&] {
                 GrowingFile{folder, "folder.csv"};
             }),
             path("folder.csv") + ": cannot write: Is a directory");
    fs::remove(path("folder.csv"));
    // the lock's own name
    fs::create_symlink(path("victim"), path(".halfscope.lock"));
    { const OutputFolder whole(m_folder.path().toStdString()); }
    QVERIFY(!fs::is_symlink(path(".halfscope.lock")));
    QCOMPARE(readFile(path("victim")), std::string("mine"));
}

void TestIo::folderLock() {
    const std::string folder = m_folder.path().toStdString();
    const std::string refused =
        folder + ": another run is writing into this folder; only one may do so at a time";
    {
        const OutputFolder first(folder);
        QCOMPARE(files(), QStringList(".halfscope.lock"));
        QCOMPARE(thrownBy<RunError>([&] { OutputFolder{folder}; }), refused);
        QCOMPARE(files(), QStringList(".halfscope.lock"));
    }
    { // one that knows only the file's lock, as over a network
        QFile file(m_folder.filePath(".halfscope.lock"));
        QVERIFY(file.open(QIODevice::ReadWrite));
        struct flock whole {};
        whole.l_type = F_WRLCK;
        QCOMPARE(fcntl(file.handle(), F_OFD_SETLK, &whole), 0);
        QCOMPARE(thrownBy<RunError>([&] { OutputFolder{folder}; }), refused);
        QVERIFY(file.exists());
    }
    { const OutputFolder again(folder); } // what a killed program leaves keeps nobody out
    QVERIFY(files().isEmpty());
}

void TestIo::growingFileOnFullDisk() {
    const OpenFolder folder(m_folder.path().toStdString());
    const std::string name = path("steps.csv");
    {
        const GrowthLimit limit(500'000);
        const std::string text = thrownBy<RunError>([&] {
            GrowingFile file(folder, "steps.csv");
            file.place();
            for (int row = 0; row < 50000; ++row)
                file.append("a row of the table\n");
        });
        QVERIFY(isAbout(text, name, "cannot write: File too large"));
    }
    // What fitted is there, in whole rows.
    const std::string rows = readFile(name);
    QVERIFY(rows.size() > 450'000 && rows.size() <= 500'000);
    QVERIFY(rows.ends_with("a row of the table\n"));
    QCOMPARE(rows.size() % std::string("a row of the table\n").size(), size_t{0});
    QCOMPARE(files(), QStringList("steps.csv"));
    { // a last row that is longer than a piece
        const GrowthLimit limit(500'000);
        GrowingFile file(folder, "long.csv");
        file.place();
        QVERIFY_THROWS_EXCEPTION(RunError, [&] {
            file.append("first\n");
            for (int part = 0; part < 100; ++part)
                file.append(std::string(10'000, 'x'));
        }());
    }
    QCOMPARE(readFile(path("long.csv")), std::string("first\n"));
    {
        const GrowthLimit limit(0);
        QVERIFY(isAbout(thrownBy<RunError>([&] {
                            GrowingFile file(folder, "other.csv");
                            file.append("x\n");
                            file.finish();
                        }),
                        path("other.csv"), "cannot write: File too large"));
    }
    QVERIFY(!fs::exists(path("other.csv")));
}

/// The text equals the text of the library's values.
void TestIo::jsonText() {
    JsonText text;
    text["version"] = 1;
    text["name"] = "\"quoted\"\n\xff";
    text["real"] = 0.1;
    text["none"] = JsonText();
    text["empty"] = JsonText::object();
    JsonText list = JsonText::list();
    list.push_back(true);
    list.push_back(JsonText::list());
    text["list"] = std::move(list);
    text["inner"]["small"] = 1e-300;
    text["inner"]["whole"] = uint64_t{1} << 63;
    text["version"] = 2; // keeps its place
    text.add("last", 3);
    Json json;
    json["version"] = 2;
    json["name"] = "\"quoted\"\n\xff";
    json["real"] = 0.1;
    json["none"] = nullptr;
    json["empty"] = Json::object();
    json["list"] = {true, Json::array()};
    json["inner"] = {{"small", 1e-300}, {"whole", uint64_t{1} << 63}};
    json["last"] = 3;
    QCOMPARE(text.text(), json.dump(4, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// Takes the tree apart step by step: the library's destructor, which allocates memory, finds
/// nothing to do.
void TestIo::jsonTree() {
    JsonTree tree = parseStrictJson(R"({"a": [1, {"b": [2, 3]}], "c": {}})");
    const Json& root = tree.root();
    QCOMPARE(root["a"][1]["b"][1].get<int>(), 3);
    const JsonTree moved = std::move(tree);
    const Json& after = moved.root();
    QCOMPARE(after["a"][0].get<int>(), 1);
}

} // namespace tst_io

QTEST_GUILESS_MAIN(tst_io::TestIo)
#include "tst_io.moc"
