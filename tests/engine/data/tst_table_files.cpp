// Tables as programs save them: packed by gzip, and in UTF-16. They are read as the same table in
// plain UTF-8 is, by this program and by those that it writes.
#include "engine/core/text.h"
#include "engine/data/csv_columns.h"
#include "engine/data/csv_fields.h"
#include "engine/data/data_print.h"
#include "engine/data/own_files.h"
#include "engine/data/table_python.h"
#include "engine/settings/data_experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/mutations.h"
#include "tests/support/split_values.h"
#include "tests/support/thrown.h"
#include "tests/support/utf16.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>

namespace tst_table_files {

using namespace halfscope;
using namespace halfscope::split_values;
using namespace halfscope::test;
using namespace std::string_literals;

namespace {

/// Letters of one, two, three and four bytes in UTF-8.
const std::string kTable = "größe,colour,y\n1.5,grün,0\n2.5,\"日本, 😀\",1\n3.5,grün,2\n";

long peakMemoryKiB() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

} // namespace

class TestTableFiles : public QObject {
    Q_OBJECT

private slots:
    void sameTable_data();
    void sameTable();
    void spacesAndATab();
    void sparse();
    void colonsOfTables();
    void opened_data();
    void opened();
    void charactersAcrossBlocks();
    void folders();
    void predicted();
    void textsWithClasses();
    void refused_data();
    void refused();
    void smallFilesTakeLittleMemory();
    void changesAreSeen();
    void damaged_data();
    void damaged();
    void programs();

private:
    std::string write(const std::string& name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QString::fromStdString(name)).toStdString(), bytes);
    }
    TaskConfig taskOn(const std::string& path) const {
        TaskConfig task;
        task.kind = TaskKind::Csv;
        task.path = path;
        task.loss.kind = LossKind::Mse;
        task.validation = 0;
        task.standardise = false;
        return task;
    }
    QTemporaryDir m_folder;
};

void TestTableFiles::sameTable_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* what, const char* name, const std::string& bytes) {
        QTest::newRow(what) << QByteArray(name) << QByteArray::fromStdString(bytes);
    };
    std::string tabs = kTable, windows;
    for (size_t at = 0; (at = tabs.find(',', at)) != tabs.npos; ++at)
        if (tabs[at + 1] != ' ') tabs[at] = '\t';
    for (const char c : kTable)
        windows += c == '\n' ? "\r\n" : std::string(1, c);
    const std::string marked = "\xEF\xBB\xBF" + kTable;
    row("UTF-8 with a mark", "t.csv", marked);
    row("UTF-16", "t.csv", markedUtf16(kTable));
    row("UTF-16, the other order", "t.csv", markedUtf16(kTable, ByteOrder::Big));
    row("UTF-16 of Windows", "t.csv", markedUtf16(windows));
    row("UTF-16 with tabs", "t.tsv", markedUtf16(tabs));
    row("UTF-16 without a last line end", "t.csv",
        markedUtf16(std::string_view(kTable).substr(0, kTable.size() - 1)));
    row("gzip", "t.csv.gz", gzipBytes(kTable));
    row("gzip in several parts", "t.csv.gz",
        gzipBytes(kTable.substr(0, 20)) + gzipBytes("") + gzipBytes(kTable.substr(20)));
    row("gzip of tabs", "t.TSV.GZ", gzipBytes(tabs));
    row("gzip of UTF-8 with a mark", "t.data.gz", gzipBytes(marked));
    row("gzip of UTF-16", "t.csv.gz", gzipBytes(markedUtf16(windows, ByteOrder::Big)));
    row("gzip by another name", "t.csv", gzipBytes(kTable));
    row("another file by the name of gzip", "t.csv.gz", kTable);
}

void TestTableFiles::sameTable() {
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, bytes);
    const TaskConfig plain = taskOn(write("plain.csv", kTable)),
                     task = taskOn(write(name.toStdString(), bytes.toStdString()));
    QCOMPARE(columnNames(task), columnNames(plain));
    const auto data = makeDataset(task, 0), expected = makeDataset(plain, 0);
    QCOMPARE(data->inputNames(), expected->inputNames());
    QCOMPARE(inputsOf(*data, Split::Train), inputsOf(*expected, Split::Train));
    QCOMPARE(targetsOf(*data, Split::Train), (Floats{0, 1, 2}));
    for (const Message& note : data->notes())
        QVERIFY2(note.english().find("UTF-8") == std::string::npos, note.english().c_str());
}

/// UCI's auto-mpg.data has spaces between its columns and one tab before the last, and a name may
/// have spaces. Where nothing but tabs separates columns, words between spaces are no numbers.
void TestTableFiles::spacesAndATab() {
    const auto columns = [&](const char* text) {
        TaskConfig task = taskOn(write("t.data", text));
        task.header = false;
        CsvFile file = tableOf(task);
        const size_t fields = file.readHeader().size();
        return std::pair(fields, file.separator());
    };
    QCOMPARE(columns("18.0   8   307.  130.0  70  1\t\"chevrolet chevelle\"\n"
                     "15.0   8   350.      ?  70  1\t\"buick skylark 320\"\n"),
             std::pair(size_t{7}, ' '));
    QCOMPARE(columns("\"red\"\t1 2\n\"blue\" 3 4\n"), std::pair(size_t{3}, ' '));
    QCOMPARE(columns("\t1.2   3 5\n\t4.5   6 7\n"), std::pair(size_t{3}, ' '));
    QCOMPARE(columns("ford pinto\t1\nbuick opel\t2\n"), std::pair(size_t{2}, '\t'));
    QCOMPARE(columns("1 2\tred\n3\tblue green\n"), std::pair(size_t{2}, '\t'));
    QCOMPARE(columns("1 2\tred\n3 4\tblue green\n"), std::pair(size_t{2}, '\t'));
}

/// Each "3:0.5" would be a word.
void TestTableFiles::sparse() {
    const std::string path = write("a9a.data", "-1 3:1 11:0.5\n+1 5:1 7:1\n");
    QCOMPARE(thrownBy<InputError>([&] { experimentOn(path); }),
             path + ": tables in the sparse form of LIBSVM (index:value) are not read; "
                    "sklearn.datasets.load_svmlight_file() reads x and y, and "
                    "numpy.savez('data.npz', x=x.toarray(), y=y) saves them to train on");
    for (const char* lines :
         {"3 1:12 2:300", "1 5:1\n-1 2:1 9:1\n", "2 qid:1 1:0.5 2:3\n1 qid:1 1:1 # d\n",
          "1 7:05 9:12\n-1\n0 3:0.25\n", "+1 1:-0.5 13:1e-3 \r\n-1 2:1\r\n"})
        QVERIFY2(isAbout(thrownBy<InputError>([&] { experimentOn(write("s.data", lines)); }),
                         m_folder.filePath("s.data").toStdString(), "LIBSVM"),
                 lines);
}

/// Fields with colons are words of a table, such as times, scores and what lies in no order.
void TestTableFiles::colonsOfTables() {
    const std::string cells[] = {"12:30",   "8:15 17:45", "2:1",    "9:1 3:2",
                                 "4:5 4:6", "1:30:05",    "a:1 b:2"};
    for (const std::string& cell : cells) {
        std::string lines;
        for (int i = 0; i < 20; ++i)
            lines += std::to_string(i % 2) + " " + cell + "\n";
        const std::string file = write("times.data", lines);
        const std::string error = thrownBy<InputError>([&] { experimentOn(file); });
        QVERIFY2(error.find("LIBSVM") == std::string::npos, error.c_str());
    }
    std::string times;
    for (int i = 0; i < 40; ++i)
        times += std::to_string(i % 2) + (i % 4 < 2 ? " 12:30\n" : " 9:15\n");
    const auto opened = experimentOn(write("times.data", times));
    QVERIFY(opened && opened->task.kind == TaskKind::Csv && !opened->task.header);
    std::string mixed; // pairs that rise by chance in the first line
    for (int i = 0; i < 20; ++i)
        mixed += std::to_string(i % 2) + (i % 3 ? " 3:1 2:1\n" : " 1:0 2:1\n");
    const std::string error =
        thrownBy<InputError>([&] { experimentOn(write("scores.data", mixed)); });
    QVERIFY2(error.find("LIBSVM") == std::string::npos, error.c_str());
}

void TestTableFiles::opened_data() { sameTable_data(); }

/// A table is opened by its name, and the experiment is called as the file is, without its endings.
void TestTableFiles::opened() {
    QFETCH(const QByteArray, name);
    QFETCH(const QByteArray, bytes);
    const auto config = experimentOn(write(name.toStdString(), bytes.toStdString()), {});
    QVERIFY(config);
    QCOMPARE(config->task.kind, TaskKind::Csv);
    QVERIFY(config->task.header);
    QCOMPARE(config->title, std::string("t"));
}

/// Blocks end within characters, and within pairs of units.
void TestTableFiles::charactersAcrossBlocks() {
    for (const char* first : {"a", "ab", "abc", "é"}) {
        std::string text = first + "\n"s;
        for (int i = 0; i < 60'000; ++i)
            text += i % 5 == 0 ? "x😀\n" : "😀é日\n";
        for (const std::string& bytes :
             {markedUtf16(text), gzipBytes(markedUtf16(text, ByteOrder::Big))}) {
            CsvReader read(write("long.csv", bytes), CsvReader::LastLine::MayLackEnd,
                           CsvReader::Separator::Comma);
            std::vector<std::string_view> fields;
            std::string all;
            double share = read.share();
            QCOMPARE(share, 0.0);
            while (read.next(fields)) {
                all.append(read.text()) += '\n';
                QVERIFY(read.share() >= share && read.share() <= 1);
                share = read.share();
            }
            QCOMPARE(share, 1.0);
            QVERIFY(all == text);
        }
    }
}

void TestTableFiles::folders() {
    QVERIFY(QDir(m_folder.path()).mkpath("packed"));
    const std::string train = write("packed/train.csv.gz", gzipBytes(kTable)),
                      valid = write("packed/Valid.TSV.GZ", gzipBytes(kTable)),
                      test = write("packed/test.data.gz", gzipBytes(kTable));
    TaskConfig task;
    QVERIFY(findTables(m_folder.filePath("packed").toStdString(), task));
    QCOMPARE(task.path, train);
    QCOMPARE(task.validationPath, valid);
    QCOMPARE(task.testPath, test);
    write("packed/train.csv", kTable); // is taken first
    QVERIFY(findTables(m_folder.filePath("packed").toStdString(), task));
    QVERIFY(task.path.ends_with("train.csv"));
    QVERIFY(!namesTable("train.csv.zip") && !namesTable("train.gz") && !namesTable("gz"));
}

void TestTableFiles::predicted() {
    const std::string more = "colour,größe\n\"日本, 😀\",7\ngrün,8\n";
    TaskConfig task = taskOn(write("train.csv.gz", gzipBytes(kTable)));
    for (const std::string& bytes : {more, markedUtf16(more), gzipBytes(more)}) {
        task.predictFile = write("more.csv.gz", bytes);
        const auto data = makeDataset(task, 0);
        QCOMPARE(inputsOf(*data, Split::Validation), (Floats{7, 0, 1, 8, 1, 0}));
    }
}

void TestTableFiles::textsWithClasses() {
    std::string films = "review,mood\n";
    for (int i = 0; i < 40; ++i)
        films += "Ein "s + (i % 2 ? "schöner" : "öder") + " Film, die Nummer " + std::to_string(i) +
                 (i % 2 ? "\tgut\n" : "\tübel\n");
    films.replace(films.find(','), 1, "\t");
    for (const std::string& bytes : {films, markedUtf16(films), gzipBytes(films)}) {
        const auto config = experimentOn(write("films.tsv.gz", bytes), {});
        QVERIFY(config);
        QCOMPARE(config->task.kind, TaskKind::TextClasses);
        QCOMPARE(makeDataset(config->task, 0)->view().classes,
                 (std::vector<std::string>{"gut", "übel"}));
        QCOMPARE(config->title, std::string("films"));
        const std::string code = infoOf(config->task.kind).python(config->task, 1).code;
        QCOMPARE(code.find("\n\n\ndef opened(path):\n") != code.npos, bytes != films);
    }
}

void TestTableFiles::refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* what, const std::string& bytes, const char* about) {
        QTest::newRow(what) << QByteArray::fromStdString(bytes) << QByteArray(about);
    };
    const std::string table = "a,y\n1,2\n", marked = markedUtf16(table), packed = gzipBytes(kTable);
    const auto little = [&marked](const std::string& more) { return marked + more + "\n\0"s; };
    const char* mark = "the text is UTF-16 without a byte order mark; save it as UTF-8";
    row("no mark", utf16Bytes(table), mark);
    row("no mark, the other order", utf16Bytes(table, ByteOrder::Big), mark);
    row("no mark, packed", gzipBytes(utf16Bytes(table)), mark);
    row("first half alone", little("\x3D\xD8,\0"s),
        "byte 18 is not text in UTF-16: it begins half");
    row("first half twice", little("\x3D\xD8\x3D\xD8"), "byte 18 is not text in UTF-16");
    row("second half alone", little(",\0\x00\xDE"s), "byte 20 is not text in UTF-16");
    row("half at the end", marked + "\x3D\xD8", "the UTF-16 text ends in the middle of a char");
    row("a byte at the end", marked + "1", "the UTF-16 text ends in the middle of a character");
    row("a mark alone", "\xFF\xFE", "the file is empty");
    row("a mark and a byte", "\xFF\xFE,", "the UTF-16 text ends in the middle of a character");
    row("UTF-32", "\xFF\xFE\0\0a\0\0\0,\0\0\0y\0\0\0\n\0\0\0"s, "it has bytes that no text has");
    row("cut off", packed.substr(0, packed.size() - 9), "the gzip file ends early: it was cut off");
    std::string damaged = packed;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
    row("checksum", damaged, "damaged gzip file: incorrect data check");
    row("nothing", gzipBytes(""), "the file is empty");
    row("a spreadsheet", gzipBytes("PK\3\4" + std::string(26, '\0') + "xl/workbook.xml"),
        "this is a spreadsheet, not a csv table");
}

void TestTableFiles::refused() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QByteArray, about);
    const std::string path = write("bad.csv.gz", bytes.toStdString());
    for (const bool opens : {true, false}) {
        const std::string error = thrownBy<InputError>([&] {
            if (opens)
                experimentOn(path, {});
            else
                makeDataset(taskOn(path), 0);
        });
        QVERIFY2(isAbout(error, path, about.toStdString()), error.c_str());
    }
}

/// 300 MiB that a few hundred KiB hold. Plain, they would be read.
void TestTableFiles::smallFilesTakeLittleMemory() {
    std::string line(size_t{1} << 20, '1');
    line.back() = '\n';
    const std::string packed = gzipBytes(line);
    std::string all;
    for (int i = 0; i < 300; ++i)
        all += packed;
    const std::string path = write("large.csv.gz", all);
    all.clear();
    const long before = peakMemoryKiB();
    const std::string error = thrownBy<InputError>([&] {
        CsvReader reader(path, CsvReader::LastLine::MayLackEnd, CsvReader::Separator::AsHeader);
        std::vector<std::string_view> fields;
        while (reader.next(fields)) {
        }
    });
    QVERIFY2(isAbout(error, path, "more than 200 times what they are packed in"), error.c_str());
    QVERIFY(error.ends_with("gunzip unpacks the file."));
    QVERIFY2(peakMemoryKiB() - before < 16 * 1024,
             qPrintable(QString::number(peakMemoryKiB() - before)));
}

/// A packed table that was written again is another one for a run that goes on.
void TestTableFiles::changesAreSeen() {
    const TaskConfig task = taskOn(write("seen.csv.gz", gzipBytes(kTable)));
    const std::string before = dataPrint(task, *makeDataset(task, 0));
    QVERIFY(!before.empty());
    QCOMPARE(dataPrint(task, *makeDataset(task, 0)), before);
    write("seen.csv.gz", gzipBytes(kTable + "4.5,grün,3\n"));
    QVERIFY(predictsOtherwise(dataPrint(task, *makeDataset(task, 0)), before));
}

void TestTableFiles::damaged_data() {
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    row("gzip", gzipBytes(kTable));
    row("UTF-16", markedUtf16(kTable));
    row("UTF-16, the other order", markedUtf16(kTable, ByteOrder::Big));
    row("gzip of UTF-16", gzipBytes(markedUtf16(kTable)));
}

/// Whatever a file has lost or was damaged in, it is read or refused with one plain line.
void TestTableFiles::damaged() {
    QFETCH(const QByteArray, bytes);
    const std::string whole = bytes.toStdString();
    std::vector<std::string> files;
    for (size_t length = 0; length < whole.size(); ++length)
        files.push_back(whole.substr(0, length));
    for (int seed = 0; seed < mutationCases(300); ++seed)
        files.push_back(Mutations(static_cast<uint64_t>(seed)).bytes(whole));
    int taken = 0, refused = 0;
    for (size_t i = 0; i < files.size(); ++i) {
        const std::string path = write("damaged.csv", files[i]);
        try {
            experimentOn(path, {});
            ++taken;
        } catch (const InputError& error) {
            ++refused;
            QVERIFY2(isPlainText(error.what()), std::to_string(i).c_str());
        }
        if (i < whole.size() && whole.starts_with("\x1f\x8b") && i > 1)
            QCOMPARE(refused, static_cast<int>(i) + 1); // every prefix of a gzip file is
    }
    QVERIFY(refused > 0 && (taken > 0 || whole.starts_with("\x1f\x8b")));
}

/// A program opens such tables by their first bytes; for usual ones, it has not one line more.
void TestTableFiles::programs() {
    const std::string plain = write("plain.csv", kTable), packed = write("p.gz", gzipBytes(kTable)),
                      wide = write("wide.csv", markedUtf16(kTable));
    const auto program = [](const TaskConfig& task) {
        const PythonData python = infoOf(task.kind).python(task, 1);
        return python.imports + python.code;
    };
    const auto count = [](const std::string& code, std::string_view part) {
        int found = 0;
        for (size_t at = 0; (at = code.find(part, at)) != code.npos; ++at)
            ++found;
        return found;
    };
    TaskConfig task = taskOn(plain);
    QCOMPARE(count(program(task), "opened("), 0);
    QCOMPARE(count(program(task), "gzip"), 0);
    for (const std::string& path : {packed, wide}) {
        task.path = path;
        const std::string code = program(task);
        QVERIFY(code.starts_with("import csv\nimport gzip\nimport math\n"));
        QVERIFY2(count(code, "    with opened(TABLE) as file:\n") == 1, code.c_str());
        QCOMPARE(count(code, "\n\n\ndef opened(path):\n"), 1);
        TaskConfig beside = taskOn(plain);
        beside.validationPath = path;
        const std::string both = program(beside);
        QVERIFY2(count(both, "    with opened(TABLE) as file:\n") == 1, both.c_str());
        QCOMPARE(count(both, "    with opened(path) as file:\n"), 1);
        QCOMPARE(count(both, "def opened(path):\n"), 1);
        QCOMPARE(count(both, "{OPEN}"), 0);
    }
}

} // namespace tst_table_files

QTEST_GUILESS_MAIN(tst_table_files::TestTableFiles)
#include "tst_table_files.moc"
