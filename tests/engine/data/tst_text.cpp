// A text as data: its characters as numbers, samples and what follows them, the end that is held
// back, and files that are no text.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/data/shipped_data.h"
#include "engine/settings/fields.h"
#include "engine/step/model_shapes.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <numeric>

namespace tst_text {

using namespace halfscope;
using namespace std::string_literals;

namespace {

using Row = std::pair<std::vector<int32_t>, int32_t>; ///< a sample and its class

std::vector<Row> rowsOf(const Dataset& data, Split split) {
    const Batch batch = allOf(data, split);
    const auto length = data.tensors()[kX].shape.elements();
    std::vector<Row> rows;
    for (size_t i = 0; i < batch.labels(kTarget).size(); ++i) {
        const auto x = batch.labels(kX).begin() + static_cast<std::ptrdiff_t>(i) * length;
        rows.push_back({{x, x + length}, batch.labels(kTarget)[i]});
    }
    return rows;
}

} // namespace

class TestText : public QObject {
    Q_OBJECT

private slots:
    void samplesAndWhatFollows();
    void charactersInTheOrderOfUnicode();
    void tablesOfNumbers_data();
    void tablesOfNumbers();
    void endIsHeldBack();
    void everyCharacter();
    void shippedText();
    void stops();
    void refuses_data();
    void refuses();
    void heldBackTooMuch();
    void networksThatDoNotFit();

private:
    TaskConfig task(const std::string& text, int64_t context) const {
        TaskConfig made;
        made.kind = TaskKind::Text;
        made.loss.kind = LossKind::CrossEntropy;
        made.path = writeBytes(m_folder.filePath("t.txt").toStdString(), text);
        made.context = context;
        made.validation = 0;
        return made;
    }
    QTemporaryDir m_folder;
};

void TestText::samplesAndWhatFollows() {
    const auto data = makeDataset(task("abcab", 2), 0);
    QCOMPARE(data->tensors()[kX].shape, (Shape{2}));
    QCOMPARE(data->tensors()[kX].dtype, DType::I32);
    QCOMPARE(data->tensors()[kX].classes, int64_t{3});
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{3});
    const std::vector<Row> wanted{{{0, 1}, 2}, {{1, 2}, 0}, {{2, 0}, 1}};
    QCOMPARE(rowsOf(*data, Split::Train), wanted);
    QCOMPARE(data->samples(Split::Validation), int64_t{0});
    QCOMPARE(data->notes().size(), size_t{1});
    QCOMPARE(data->notes()[0].english(), "The text has 5 characters, 3 different ones."s);
}

void TestText::tablesOfNumbers_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("told");
    const auto row = [](const char* text, bool told) { QTest::newRow(text) << text << told; };
    row("1.5e-3 2\n-3 4\n", true);
    row("age\tbmi\r\n48\t21.5\r\n", true);
    row("a;b\n1,5;2\n", true);
    row("Chapter 1\n\n, - ...\n", false);
    row("1 2\n3 four\n", false);
    row("1 2 3 4", false);
}

/// A table under the name of a text is not what its characters are learnt for.
void TestText::tablesOfNumbers() {
    QFETCH(QString, text);
    QFETCH(bool, told);
    const auto notes = makeDataset(task(text.toStdString(), 2), 0)->notes();
    QCOMPARE(notes.size(), size_t{told ? 2u : 1u});
    if (told) QVERIFY(notes[1].english().starts_with("The text seems to be a table of numbers, "));
}

/// Characters are sorted as Python sorts them: one, two, three and four bytes long, and after a
/// byte order mark.
void TestText::charactersInTheOrderOfUnicode() {
    const auto data = makeDataset(task("\xef\xbb\xbf\U0001f600\u20ac\u00e4 a\n\u20ac", 6), 0);
    const std::vector<Row> wanted{{{5, 4, 3, 1, 2, 0}, 4}};
    QCOMPARE(rowsOf(*data, Split::Train), wanted);
    const std::vector<std::string> names{"\u21b5", "\u2423", "a", "\u00e4", "\u20ac", "\U0001f600"};
    QCOMPARE(data->view().classes, names);
    QCOMPARE(data->view().kind, ViewKind::Classes);
}

/// No sample contains characters of both parts.
void TestText::endIsHeldBack() {
    TaskConfig made = task("abcdefghij", 2);
    made.validation = 0.4;
    const auto data = makeDataset(made, 0);
    const std::vector<Row> train{{{0, 1}, 2}, {{1, 2}, 3}, {{2, 3}, 4}, {{3, 4}, 5}};
    QCOMPARE(rowsOf(*data, Split::Train), train);
    const std::vector<Row> validation{{{6, 7}, 8}, {{7, 8}, 9}};
    QCOMPARE(rowsOf(*data, Split::Validation), validation);
    const DataFacts facts = infoOf(TaskKind::Text).facts(made);
    QCOMPARE(facts.train, int64_t{4});
    QCOMPARE(facts.validation, int64_t{2});
    made.validation = 0.2; // two characters are too few for a sample
    QCOMPARE(makeDataset(made, 0)->samples(Split::Validation), int64_t{0});
}

/// Samples lie side by side, and the target at every position is the next character; what is left
/// over at the end of a part is too short for another sample.
void TestText::everyCharacter() {
    TaskConfig made = task("abcdefghijklm", 2);
    made.predicted = Predicted::Every;
    made.validation = 0.4;
    const auto data = makeDataset(made, 0);
    QCOMPARE(data->tensors()[kX].shape, (Shape{2}));
    QCOMPARE(data->tensors()[kTarget].shape, (Shape{2}));
    QCOMPARE(data->tensors()[kTarget].classes, int64_t{13});
    const auto valuesOf = [&](Split split) {
        std::vector<int64_t> all(static_cast<size_t>(data->samples(split)));
        std::iota(all.rbegin(), all.rend(), 0); // the last one first
        Batch batch = Batch::of(data->tensors(), data->samples(split));
        data->read(split, all, batch);
        const auto x = batch.labels(kX), target = batch.labels(kTarget);
        return std::pair(std::vector(x.begin(), x.end()),
                         std::vector(target.begin(), target.end()));
    };
    using Values = std::vector<int32_t>;
    QCOMPARE(valuesOf(Split::Train), std::pair(Values{4, 5, 2, 3, 0, 1}, Values{5, 6, 3, 4, 1, 2}));
    QCOMPARE(valuesOf(Split::Validation), std::pair(Values{10, 11, 8, 9}, Values{11, 12, 9, 10}));
    const DataFacts facts = infoOf(TaskKind::Text).facts(made);
    QCOMPARE(facts.train, int64_t{3});
    QCOMPARE(facts.validation, int64_t{2});
    const BatchShape shape = batchShape(facts.tensors, 5);
    QCOMPARE(shape.target(), (Shape{5, 2}));
    QCOMPARE(shape.prediction(), (Shape{5, 2, 13}));
    made.validation = 0.15; // two characters are too few for a sample
    QCOMPARE(makeDataset(made, 0)->samples(Split::Validation), int64_t{0});
    made.validation = 0;
    made.context = 13;
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(made); }), made.path,
                    "only 13 of 13 characters are left to train on, but a sample takes 14"));
    made.context = 12;
    QCOMPARE(factsOf(made).train, int64_t{1});
}

void TestText::shippedText() {
    TaskConfig made;
    made.kind = TaskKind::Text;
    const auto data = makeDataset(made, 0);
    QCOMPARE(sampleText().substr(0, 46), "                    GNU GENERAL PUBLIC LICENSE"s);
    QCOMPARE(data->tensors()[kX].classes, int64_t{76});
    QCOMPARE(data->samples(Split::Train), int64_t{35149 - 3515 - 32});
    QCOMPARE(data->samples(Split::Validation), int64_t{3515 - 32});
}

/// Building stops even when no file is read, whose reading could be stopped.
void TestText::stops() {
    TaskConfig made;
    made.kind = TaskKind::Text;
    std::stop_source stop;
    stop.request_stop();
    const Cancellable until(stop.get_token());
    QVERIFY_THROWS_EXCEPTION(Cancelled, makeDataset(made, 0));
}

void TestText::refuses_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, const std::string& text, const char* why) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QString(why);
    };
    row("binary", "abc\0def"s, "byte 3 is a control character, which is not allowed in a text");
    row("UTF-16",
        "\xff\xfe"
        "a\0b\0"s,
        "the text is UTF-16; save it as UTF-8");
    row("Latin-1", "caf\xe9 noir", "byte 3 is not text in UTF-8");
    row("cut", "abcde\xe2\x82", "byte 5 is not text in UTF-8");
    row("behind a mark",
        "\xef\xbb\xbf"
        "ab\xff"
        "cd",
        "byte 5 is not text in UTF-8");
    row("control", "abcd\x1b[0m", "byte 4 is a control character, which is not allowed in a text");
    row("delete", "ab\x7f", "byte 2 is a control character, which is not allowed in a text");
    row("empty", "", "a text of at least two different characters is expected");
    row("one", "aaaaaaaa", "a text of at least two different characters is expected");
    row("short", "abcd",
        "only 4 of 4 characters are left to train on, but a sample takes 5 (data.context and the "
        "one that follows): use a longer text, or a smaller data.context or data.validation");
    std::string many;
    for (int i = 0; i < 2049; ++i)
        many += QString(QChar(0x4e00 + i)).toStdString();
    row("many", many, "more than 2048 different characters are not allowed");
}

void TestText::refuses() {
    QFETCH(const QByteArray, text);
    QFETCH(const QString, why);
    const TaskConfig made = task(text.toStdString(), 4);
    for (const bool whole : {false, true}) {
        const QString error = QString::fromStdString(thrownBy<InputError>([&] {
            if (whole)
                makeDataset(made, 0);
            else
                factsOf(made);
        }));
        QCOMPARE(error, QString::fromStdString(made.path) + ": " + why);
    }
}

/// The program's own text has no path that a message could name.
void TestText::heldBackTooMuch() {
    TaskConfig made;
    made.kind = TaskKind::Text;
    made.validation = 0.9995;
    QVERIFY(isAbout(thrownBy<InputError>([&] { factsOf(made); }), "data.context",
                    "only 18 of 35149 characters are left to train on, but a sample takes 33"));
}

/// Networks that do not fit are reported while a model is typed.
void TestText::networksThatDoNotFit() {
    RunConfig config = presetNamed("transformer-tiny").config;
    const auto errorOf = [&](const char* layers) {
        config.model.layers = layers;
        return QString::fromStdString(modelShapes(config).error.english());
    };
    QCOMPARE(errorOf("Sequential(Embedding(76, 2), Flatten(), Linear(64, 76))"), QString());
    QCOMPARE(errorOf("Sequential(Embedding(75, 2), Flatten(), Linear(64, 76))"),
             QString("model.layers, line 1, column 12: Embedding(75, 2): the data has indices from "
                     "0 to 75: num_embeddings must be at least 76"));
    QCOMPARE(errorOf(""), QString("model.layers: a text needs a network that begins with an "
                                  "Embedding(...), such as that of the preset transformer-tiny"));
    QCOMPARE(errorOf("Linear(32, 76)"),
             QString("model.layers, line 1, column 1: Linear(32, 76): the input holds indices; "
                     "put an Embedding(...) in front of this layer"));
    QCOMPARE(errorOf("Identity()"),
             QString("model.layers: the model returns its input, which holds indices; it needs an "
                     "Embedding(...)"));
    config.task.predicted = Predicted::Every;
    QCOMPARE(errorOf("Sequential(Embedding(76, 2), Linear(2, 76))"), QString());
    QCOMPARE(errorOf("Sequential(Embedding(76, 2), Flatten(), Linear(64, 76))"),
             QString("model.layers: the model turns (64, 32) into (64, 76), but with data.predict "
                     "every this task needs (64, 32, 76), a score for each class at each position: "
                     "no layer may join the positions, as Flatten() does"));
    QVERIFY(errorOf("").endsWith("such as that of the preset transformer-lm"));
    const std::string layer = "TransformerEncoderLayer(4, 1, batch_first=True)";
    for (const std::string mask : {"Causal", ""}) {
        config.model.layers =
            "Sequential(Embedding(76, 4), Sequential(" + mask + layer + "), Linear(4, 76))";
        const ModelShapes shapes = modelShapes(config);
        QVERIFY2(shapes.error.empty(), shapes.error.english().c_str());
        const std::string warning = "TransformerEncoderLayer 1.0 sees the characters that it is to "
                                    "predict, so a low loss means nothing: "
                                    "CausalTransformerEncoderLayer(...) hides them.";
        QCOMPARE(shapes.warning.english(), mask.empty() ? warning : std::string());
    }
    config.task.kind = TaskKind::Moons;
    QVERIFY(errorOf("Sequential(Embedding(76, 2), Flatten())").contains("floating-point numbers"));
}

} // namespace tst_text

QTEST_GUILESS_MAIN(tst_text::TestText)
#include "tst_text.moc"
