// Files and folders that no experiment can be made of: the messages say what would help.
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/io/torch_file.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/python.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <string>

namespace tst_other_files {

using namespace halfscope;
using namespace halfscope::test;
using namespace std::string_literals;

class TestOtherFiles : public QObject {
    Q_OBJECT
private slots:
    void otherFiles_data();
    void otherFiles();
    void torchFiles_data();
    void torchFiles();
    void namedAsData_data();
    void namedAsData();
    void textTables_data();
    void textTables();
    void unusedPathsDoNotCount();
    void commandsNameTheFiles();
    void textsCalledPt();
    void torchFilesConverted_data();
    void torchFilesConverted();
    void weightsOfANetwork();
    void checkpointOfARun();
    void otherArrays();
    void foldersNameTheirFiles();
    void picturesOfAnotherForm();
    void picturesLeftOut();

private:
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }

    QTemporaryDir m_folder;
};

void TestOtherFiles::otherFiles_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("about");
    const auto row = [](const char* name, const QByteArray& bytes, const char* about) {
        QTest::newRow(name) << bytes << QByteArray(about);
    };
    row("damaged.npz", "PK\3\4", "cannot be read as a zip archive, because ");
    row("data.PT", "PK\3\4", "model.weights, and samples for data.x and data.y;");
    const auto zip = [](const char* first) {
        return QByteArray::fromStdString(zipBytes({{first, "content"}}));
    };
    row("last.ckpt", zip("last/data.pkl"), "model.weights, and samples for data.x and data.y;");
    row("last.tar", zip("last/data.pkl"), "model.weights, and samples for data.x and data.y;");
    row("pytorch_model.bin", "\x80\2\x8a\n", "torch.save() wrote it");
    row("weights", zip("archive/data.pkl"), "torch.save() wrote it");
    row("pictures.bin", zip("a/1.png"), "neither an experiment (JSON) nor data");
    row("readings.bin", "\1\2\3\4", "neither an experiment (JSON) nor data");
    row("table.xlsx", "PK\3\4", "save the sheet as CSV");
    row("table.ODS", "PK\3\4", "save the sheet as CSV");
    row("table.parquet", "PAR1", "save it as a csv table");
    row("table.dat", "5.1,3.5,1.4,0.2,Iris-setosa\n", "whose name ends in .csv, .tsv or .data");
    row("model.onnx", "\x08", "written but not opened");
    row("net.py", "import torch\n", "this is Python, not an experiment or data; paste");
    row("net.ipynb", "{\"cells\": []}",
        "this is a notebook; paste the network from it into model.layers");
    row("model.H5", "\x89HDF", "numpy.savez");
    row("data.mat", "MATLAB 5.0", "scipy.io.loadmat");
    row("rows.json", "[{\"a\": 1}]", "pandas.read_json(FILE).to_csv(");
    row("rows.jsonl", "{\"a\": 1}", "lines=True");
    row("pictures.zip", "PK\3\4", "unpack it");
    row("notes.txt.gz", "\x1f\x8b", "such packed files are not opened; unpack it");
    row("t10k-images-idx3-ubyte.gz", "\x1f\x8b", "open the folder that holds them");
    row("train-labels-idx1-ubyte", "", "open the folder that holds them");
    row("moves.GIF", "GIF89a",
        "moves.GIF: pictures are read as PNG and JPEG; save it as one of "
        "them");
    row("notes.md", "# Notes", "neither an experiment (JSON) nor data");
    row("nothing", "", "");
    row("experiment.json", "no JSON", ""); // its reader says where
    row("experiment", "\n{}", "");
}

/// For a file that is neither data nor an experiment, the message says what would help.
void TestOtherFiles::otherFiles() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QByteArray, about);
    const std::string file = path(QTest::currentDataTag());
    writeBytes(file, bytes.toStdString());
    const std::string error = thrownBy<InputError>([&] { checkCanBeExperiment(file); });
    if (about.isEmpty())
        QCOMPARE(error, std::string("nothing thrown"));
    else
        QVERIFY2(isAbout(error, file, about.toStdString()), error.c_str());
    const std::string tensors = path("named.safetensors");
    std::string header = R"({"X":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
    for (const size_t length : {header.size(), size_t{256 + ' '}, size_t{256 + '{'}}) {
        header.resize(length, ' '); // its first byte, the length, may be that of a text
        writeBytes(tensors, safetensorsBytes(header, std::string(1, '\1')));
        QCOMPARE(thrownBy<InputError>([&] { checkCanBeExperiment(tensors); }),
                 tensors + ": there are no arrays x and y (or X and Y, or x_train and y_train) in "
                           "it to train on; it has X");
    }
}

void TestOtherFiles::torchFiles_data() {
    QTest::addColumn<QStringList>("settings");
    const QString x = "data.x=x.npy", y = "data.y=y.npy";
    const auto row = [](const char* name, const char* kind, QStringList more) {
        more.prepend(QStringLiteral("data.kind=") + QLatin1String(kind));
        QTest::newRow(name) << more;
    };
    row("data.x", "arrays", {"data.x=v.pt", y});
    row("data.y", "arrays", {x, "data.y=v.pt"});
    row("the path of other kinds", "arrays", {"data.path=v.pt"});
    row("data.x_val", "arrays", {x, y, "data.x_val=v.pt", "data.y_val=y.npy"});
    row("data.y_val", "arrays", {x, y, "data.x_val=x.npy", "data.y_val=v.pt"});
    row("data.x_test", "arrays", {x, y, "data.x_test=v.pt", "data.y_test=y.npy"});
    row("data.y_test", "arrays", {x, y, "data.x_test=x.npy", "data.y_test=v.pt"});
    for (const char* kind : {"csv", "mnist", "cifar", "pictures", "shards", "text", "text-classes"})
        row(kind, kind, {"data.path=v.pt"});
    row("data.validation_path", "csv", {"data.path=t.csv", "data.validation_path=v.pt"});
    row("data.test_path", "csv", {"data.path=t.csv", "data.test_path=v.pt"});
}

/// Whichever setting names one, the sentence is the one for weights and for an opened file.
void TestOtherFiles::torchFiles() {
    QFETCH(const QStringList, settings);
    const std::string pickle = writeBytes(path("v.pt"), "PK\3\4");
    writeBytes(path("x.npy"), npy("<f4", "(2, 1)", bytesOfValues({1.0f, 2.0f})));
    writeBytes(path("y.npy"), npy("<f4", "(2, 1)", bytesOfValues({1.0f, 2.0f})));
    writeBytes(path("t.csv"), "a,y\n1,2\n3,4\n");
    RunConfig config = defaultConfig();
    for (const QString& each : settings) {
        const QString key = each.section('=', 0, 0), value = each.section('=', 1);
        applySetting(
            config,
            (key + '=' + (key == "data.kind" ? value : m_folder.filePath(value))).toStdString());
    }
    const std::string wanted = thrownBy<InputError>([&] { checkCanBeExperiment(pickle); });
    QVERIFY2(wanted.starts_with(pickle + ": torch.save() wrote it"), wanted.c_str());
    QCOMPARE(thrownBy<InputError>([&] { factsOf(config.task); }), wanted);
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(config.task, 0); }), wanted);
}

void TestOtherFiles::namedAsData_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("help");
    const auto row = [](const char* kind, const char* key, const char* name, const char* help) {
        QTest::addRow("%s %s %s", kind, key, name) << kind << key << name << help;
    };
    for (const char* kind : {"arrays", "csv", "pictures", "mnist", "cifar", "shards"}) {
        const bool arrays = QByteArray(kind) == "arrays"; // it is the kind already
        row(kind, "data.path", "a.npz",
            arrays ? "data.path does not take an archive of arrays; set data.x to this file"
                   : "data.path does not take an archive of arrays; set data.kind to arrays and "
                     "data.x to this file");
        row(kind, "data.path", "a.npy",
            arrays ? "data.path does not take an array; set data.x to the array of inputs and "
                     "data.y to that of targets"
                   : "data.path does not take an array; set data.kind to arrays, data.x to the "
                     "array of inputs and data.y to that of targets");
        row(kind, "data.path", "a.MAT", "MATLAB files are not opened; with m = ");
        row(kind, "data.path", "a.h5", "HDF5 files are not opened; ");
        row(kind, "data.path", "a.parquet", "such a table is not opened; save it as a csv table");
        row(kind, "data.path", "a.xlsx", "this is a spreadsheet, not a csv table; ");
        row(kind, "data.path", "a.json", "data are not read from JSON; ");
    }
    row("csv", "data.validation_path", "a.parquet", "such a table is not opened; ");
    row("csv", "data.test_path", "a.jsonl", "data are not read from JSON; ");
    row("csv", "data.path", "a.xls", "this is a spreadsheet, not a csv table; ");
    row("csv", "data.path", "a.feather", "such a table is not opened; ");
    row("csv", "data.path", "a.pkl", "such a table is not opened; ");
    row("csv", "data.path", "a.onnx", "ONNX files are written but not opened; ");
    row("text-classes", "data.path", "a.ods", "this is a spreadsheet, not a csv table; ");
    row("arrays", "data.x", "a.mat", "MATLAB files are not opened; ");
    row("arrays", "data.y", "a.h5", "HDF5 files are not opened; ");
}

/// How real files of these names begin.
static std::string bytesOf(const QString& name) {
    static const std::map<std::string, std::string> kBytes{{".mat", "MATLAB 5.0 MAT-file"},
                                                           {".h5", "\x89HDF\r\n"},
                                                           {".parquet", "PAR1"},
                                                           {".xlsx", "PK\3\4"},
                                                           {".ods", "PK\3\4"},
                                                           {".json", "\xEF\xBB\xBF [{}]"},
                                                           {".jsonl", "{\"a\": 1}\n"},
                                                           {".xls", "\xD0\xCF\x11"},
                                                           {".feather", "FEA1\0\0"s},
                                                           {".pkl", "\x80\4"},
                                                           {".onnx", "\x08\x07"}};
    const auto found = kBytes.find(("." + name.section('.', 1)).toLower().toStdString());
    return found == kBytes.end() ? std::string() : found->second;
}

/// Whatever kind of data a setting names it for: its own reader would only find it damaged.
void TestOtherFiles::namedAsData() {
    QFETCH(const QString, kind);
    QFETCH(const QString, key);
    QFETCH(const QString, name);
    QFETCH(const QString, help);
    const std::string file = writeBytes(path(name), bytesOf(name));
    RunConfig config = defaultConfig();
    applySetting(config, "data.kind=" + kind.toStdString());
    if (key != "data.path" && kind == "csv")
        config.task.path = writeBytes(path("t.csv"), "a,y\n1,2\n3,4\n");
    if (key == "data.y")
        config.task.x = writeBytes(path("x.npy"), npy("<f4", "(1, 1)", bytesOfValues({1.0f})));
    applySetting(config, key.toStdString() + "=" + file);
    const auto told = [&] { return thrownBy<InputError>([&] { factsOf(config.task); }); };
    QVERIFY2(isAbout(told(), file, help.toStdString()), told().c_str());
    QCOMPARE(thrownBy<InputError>([&] { makeDataset(config.task, 0); }), told());
    applySetting(config, key.toStdString() + "=" + file + ".gone");
    QVERIFY2(told().find(help.toStdString()) == std::string::npos, told().c_str());
}

void TestOtherFiles::textTables_data() {
    QTest::addColumn<QByteArray>("bytes");
    const QByteArray tabs = "a\ty\n1\t2\n3\t4\n5\t6\n7\t8\n";
    QTest::newRow("exported.xls") << tabs;
    QTest::newRow("ascii.mat") << QByteArray("  1.0e+00   2.0e+00\n  3.0e+00   4.0e+00\n"
                                             "  5.0e+00   6.0e+00\n  7.0e+00   8.0e+00\n");
    QTest::newRow("table.json") << QByteArray("a,y\n1,2\n3,4\n5,6\n7,8\n");
    QByteArray wide = "\xFF\xFE";
    for (const char each : tabs)
        (wide += each) += '\0';
    QTest::newRow("unicode.xls") << wide;
}

/// Programs export text tables under such names, too: there the bytes decide.
void TestOtherFiles::textTables() {
    QFETCH(const QByteArray, bytes);
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Csv;
    config.task.validation = 0.5;
    const QString name = QTest::currentDataTag();
    config.task.path = writeBytes(path(name), bytes.toStdString());
    config.task.testPath = writeBytes(path("test-" + name), bytes.toStdString());
    const DataFacts facts = factsOf(config.task);
    QVERIFY(facts.train > 0);
    QCOMPARE(facts.test, facts.train + facts.validation);
}

void TestOtherFiles::unusedPathsDoNotCount() {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Arrays;
    config.task.x = writeBytes(path("x.npy"), npy("<f4", "(2, 1)", bytesOfValues({1.0f, 2.0f})));
    config.task.y = writeBytes(path("y.npy"), npy("<f4", "(2, 1)", bytesOfValues({1.0f, 2.0f})));
    config.task.path = writeBytes(path("v.pt"), "PK\3\4");
    config.task.validation = 0;
    QCOMPARE(factsOf(config.task).train, int64_t{2});
}

/// The command can be run as it is, wherever the file lies.
void TestOtherFiles::commandsNameTheFiles() {
    const auto ends = [](const std::string& file) {
        return QString::fromStdString(torchFileCommand(file)).section("sys.argv[2])\" ", 1);
    };
    QCOMPARE(ends("/m/net.PT"), QStringLiteral("/m/net.PT /m/net.safetensors"));
    QCOMPARE(ends("/m/weights"), QStringLiteral("/m/weights /m/weights.safetensors"));
    QCOMPARE(ends("/my nets/it's.pt"),
             QStringLiteral("'/my nets/it'\\''s.pt' '/my nets/it'\\''s.safetensors'"));
    QCOMPARE(ends("/m/net.safetensors"), // which must not be overwritten
             QStringLiteral("/m/net.safetensors /m/net.converted.safetensors"));
    writeBytes(path("w.safetensors"), "1"); // no more than these
    const QString kept = QString::fromStdString(path("w"));
    QCOMPARE(ends(path("w.pt")), kept + ".pt " + kept + ".converted.safetensors");
    writeBytes(path("w.converted.safetensors"), "1");
    QCOMPARE(ends(path("w.pt")), kept + ".pt " + kept + ".converted-2.safetensors");
    const QString far = "/" + QString(300, 'a') + "/net";
    QCOMPARE(ends((far + ".pt").toStdString()), far + ".pt " + far + ".safetensors");
    const std::string told = torchFileRefusal("/my nets/a.pt").english();
    QVERIFY2(told.find(torchFileCommand("/my nets/a.pt") + "; weights") != told.npos, told.c_str());
}

/// Portuguese texts are often called so: the bytes decide.
void TestOtherFiles::textsCalledPt() {
    TaskConfig task;
    task.kind = TaskKind::Text;
    task.path = path("corpus.pt");
    task.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(thrownBy<InputError>([&] { factsOf(task); }),
             task.path + ": cannot read: No such file or directory");
    std::string text;
    for (int i = 0; i < 200; ++i)
        text += "uma frase em portugu\xC3\xAAs, linha " + std::to_string(i) + "\n";
    writeBytes(task.path, text);
    QVERIFY(factsOf(task).train > 0);
    const std::string opened = thrownBy<InputError>([&] { checkCanBeExperiment(task.path); });
    QVERIFY2(opened.starts_with(task.path + ": neither an experiment"), opened.c_str());
    QVERIFY(QFile::remove(m_folder.filePath("corpus.pt")));
}

void TestOtherFiles::torchFilesConverted_data() {
    QTest::addColumn<QString>("saved");
    QTest::newRow("pair") << "(torch.randn(4, 3), torch.arange(4) % 2)";
    QTest::newRow("names") << "{'x': torch.randn(4, 3).T.contiguous().T, 'y': torch.arange(4)}";
    QTest::newRow("tensor") << "torch.arange(4) % 2";
}

/// Runs the line; for weights, tst_state_dict does.
void TestOtherFiles::torchFilesConverted() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QString, saved);
    const QString pickle = m_folder.filePath("v.pt"), made = m_folder.filePath("v.safetensors");
    QCOMPARE(python("import sys, torch; torch.save(" + saved + ", sys.argv[1])", {pickle}),
             QString());
    const QString text = QString::fromStdString(
        thrownBy<InputError>([&] { checkCanBeExperiment(pickle.toStdString()); }));
    const QString line = text.section("python3 -c \"", 1).section('"', 0, 0);
    QCOMPARE(python(line, {pickle, made}), QString());
    TaskConfig task;
    task.kind = TaskKind::Arrays;
    task.x = task.y = made.toStdString();
    if (saved.startsWith("torch")) // an array alone is found whatever its name is
        task.x = writeBytes(path("x.npy"), npy("<f4", "(4, 1)", std::string(16, '\0')));
    task.loss.kind = LossKind::CrossEntropy;
    task.validation = 0;
    QCOMPARE(makeDataset(task, 0)->samples(Split::Train), int64_t{4});
    QVERIFY(QFile::remove(made));
}

/// Whoever trains on weights by mistake is told where they go.
void TestOtherFiles::weightsOfANetwork() {
    const std::string file = path("weights.safetensors");
    for (const std::string name : {"0.weight", "fc1.bias", "weight"}) {
        const std::string header =
            "{\"" + name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
        writeBytes(file, safetensorsBytes(header, std::string(1, '\1')));
        QCOMPARE(thrownBy<InputError>([&] { checkCanBeExperiment(file); }),
                 file + ": these are weights of a network, not data to train on; it has " + name +
                     "; open the data, and set model.weights to this file (halfscope-cli run DATA "
                     "--weights FILE) to start every lane from them");
    }
}

/// It has arrays named as weights, too, but is no file of weights.
void TestOtherFiles::checkpointOfARun() {
    const std::string file = path("checkpoint.safetensors");
    writeBytes(file,
               safetensorsBytes(R"({"__metadata__":{"format":"halfscope checkpoint"},"0/0.weight":)"
                                R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                std::string(1, '\1')));
    QCOMPARE(thrownBy<InputError>([&] { checkCanBeExperiment(file); }),
             file + ": this is a checkpoint of a run, not data to train on; halfscope-cli run "
                    "--resume FILE goes on from it");
}

/// Of many arrays the first few are named.
void TestOtherFiles::otherArrays() {
    std::string header;
    for (int i = 0; i < 9; ++i)
        header += (i > 0 ? ",\"" : "{\"") + std::string(1, static_cast<char>('a' + i)) +
                  R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," +
                  std::to_string(i + 1) + "]}";
    const std::string file = path("many.safetensors");
    writeBytes(file, safetensorsBytes(header + "}", std::string(9, '\1')));
    const std::string error = thrownBy<InputError>([&] { checkCanBeExperiment(file); });
    QVERIFY2(error.ends_with("; it has a, b, c, d, e, f, g, h and 1 more"), error.c_str());
}

void TestOtherFiles::foldersNameTheirFiles() {
    QDir().mkpath(m_folder.filePath("mixed/deeper.csv"));
    const auto about = [this] { return nothingInFolder(path("mixed")).message().english(); };
    QVERIFY2(about().ends_with("and no folders of pictures"), about().c_str());
    QDir().mkpath(m_folder.filePath("alone/cats"));
    writeBytes(path("alone/cats/1.png"), "");
    QCOMPARE(nothingInFolder(path("alone")).message().english(),
             path("alone") + ": its pictures are all in one folder, cats; there must be one for "
                             "each class, at least 2");
    for (const char* name : {"mixed/notes.md", "mixed/d.csv.gz", "mixed/B.CSV", "mixed/c.png"})
        writeBytes(path(name), "");
    QVERIFY2(about().ends_with("pictures; open one of the files in it, such as B.CSV, c.png, "
                               "d.csv.gz"),
             about().c_str());
    writeBytes(path("mixed/a\n.txt"), "");
    QVERIFY2(about().ends_with("such as B.CSV, a\\n.txt, c.png"), about().c_str());
}

/// Folders of pictures that are no samples as they lie are told what would make them some.
void TestOtherFiles::picturesOfAnotherForm() {
    const auto about = [this](const char* folder) {
        const std::string whole = nothingInFolder(path(folder)).message().english();
        return QString::fromStdString(whole).remove(m_folder.path() + "/");
    };
    for (const char* name :
         {"web/cat/1.webp", "web/cat/2.GIF", "web/dog/1.webp", "tga/cat/1.tga", "tga/dog/1.tga",
          "pgm/cat/1.pgm", "pgm/dog/1.pgm", "flat/2.webp", "flat/1.webp", "packed/b.tar.gz",
          "packed/a.tar.gz", "packed/a.webp", "outer/pets/cat/1.png", "outer/pets/dog/1.png",
          "outer/.git/a/1.png", "outer/__MACOSX/pets/._1.png", "home/Pictures/trip/1.png",
          "home/Music/1.txt"}) {
        QDir().mkpath(QFileInfo(m_folder.filePath(name)).path());
        writeBytes(path(name), "");
    }
    QCOMPARE(about("web"), "web: only .png and .jpg pictures are read, not such as web/cat/1.webp; "
                           "an image program can save them so");
    for (const char* kind : {"tga", "pgm"})
        QCOMPARE(about(kind), QString("%1: only .png and .jpg pictures are read, not such as "
                                      "%1/cat/1.%1; an image program can save them so")
                                  .arg(kind));
    QCOMPARE(about("flat"), "flat: only .png and .jpg pictures are read, not such as flat/1.webp; "
                            "an image program can save them so");
    QCOMPARE(about("packed"), "packed/a.tar.gz: such packed files are not opened; unpack it and "
                              "open what was in it");
    QCOMPARE(about("outer"), "outer: it holds no pictures of classes itself; open the folder "
                             "outer/pets in it");
    QVERIFY(about("home").startsWith("home: the folder holds no saved run"));
}

/// Pictures in other formats beside those that are samples are none, which is told, and so is a
/// class that has no others or none at all.
void TestOtherFiles::picturesLeftOut() {
    const auto put = [this](std::initializer_list<const char*> names) {
        for (const char* name : names) {
            QDir().mkpath(QFileInfo(m_folder.filePath(name)).path());
            writeBytes(path(name), "");
        }
    };
    TaskConfig task;
    task.kind = TaskKind::Pictures;
    task.path = path("some");
    task.loss.kind = LossKind::CrossEntropy;
    put({"some/a/1.png", "some/b/1.jpg"});
    const auto notes = [&task] { return infoOf(task.kind).facts(task).notes; };
    QVERIFY(notes().at(0).english().starts_with("Pictures that cannot be decoded: 2 of 2."));
    put({"some/b/2.webp", "some/b/3.BMP", "some/c/1.gif", "some/b/notes.txt"});
    QDir().mkpath(m_folder.filePath("some/empty"));
    QDir().mkpath(m_folder.filePath("some/__MACOSX/b"));
    QCOMPARE(notes().at(0).english(), "Folders that are not classes, because no .png or .jpg "
                                      "picture is in them: c, empty.");
    QCOMPARE(notes().at(1).english(),
             "Pictures that are left out, because only .png and .jpg files are read: 3, such as " +
                 path("some/b/2.webp") + ".");
    QCOMPARE(makeDataset(task, 0)->notes().at(0).english(), notes()[0].english());
    put({"one/a/1.png", "one/b/1.gif"});
    task.path = path("one");
    QVERIFY(thrownBy<InputError>([&] {
                notes();
            }).ends_with("2 to 10000 of them; it has 1, and no such picture is in: b"));
    // of a data set in parts, those of the part to train on are told alone
    put({"parts/train/a/1.png", "parts/train/b/1.jpg", "parts/train/c/1.gif", "parts/val/a/1.png"});
    QDir().mkpath(m_folder.filePath("parts/labels"));
    task.path = path("parts");
    QVERIFY(notes().at(1).english().ends_with("picture is in them: c."));
}

} // namespace tst_other_files

QTEST_GUILESS_MAIN(tst_other_files::TestOtherFiles)
#include "tst_other_files.moc"
