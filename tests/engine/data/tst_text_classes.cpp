// Tables of texts and classes: tokens, which of them are known, samples and their padding, the
// columns that are chosen, texts to predict, and tables that are refused.
#include "engine/core/error.h"
#include "engine/data/class_counts.h"
#include "engine/data/data_print.h"
#include "engine/data/gallery.h"
#include "engine/data/text_sheet.h"
#include "engine/data/text_table.h"
#include "engine/data/tokens.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <set>

namespace tst_text_classes {

using namespace halfscope;
using namespace std::string_literals;

namespace {

using Words = std::vector<std::string>;

Words tokensOf(std::string_view text, Tokens kind = Tokens::Words) {
    Words tokens;
    forTokens(text, kind, [&tokens](std::string_view token) {
        tokens.emplace_back(token);
        return true;
    });
    return tokens;
}

std::vector<int32_t> valuesOf(std::span<const int32_t> values) {
    return {values.begin(), values.end()};
}

/// Returns "good" or "bad" films: so many lines.
std::string films(int lines) {
    std::string table = "id,review,mood\n";
    for (int i = 0; i < lines; ++i)
        table += std::to_string(i) + ",\"A " + (i % 2 ? "good" : "bad") + " film, number " +
                 std::to_string(i) + "\"," + (i % 2 ? "up" : "down") + "\n";
    return table;
}

} // namespace

class TestTextClasses : public QObject {
    Q_OBJECT

private slots:
    void tokens_data();
    void tokens();
    void tokensEndEarly();
    void knownTokens();
    void samples();
    void characters();
    void vocabularyOfTheTrainingTexts();
    void linesWithoutTextOrClass();
    void namesThatAreRepeated();
    void shippedWords();
    void chosenColumns_data();
    void chosenColumns();
    void foundColumns_data();
    void foundColumns();
    void contexts();
    void givenKind();
    void newTexts();
    void printSeesTheVocabulary();
    void sheets();
    void sheetsOfWords();
    void refuses_data();
    void refuses();

private:
    TaskConfig task(const std::string& table, int64_t context = 4) const {
        TaskConfig made;
        made.kind = TaskKind::TextClasses;
        made.loss.kind = LossKind::CrossEntropy;
        made.path = writeBytes(path("t.csv"), table);
        made.context = context;
        made.validation = 0;
        return made;
    }
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    QTemporaryDir m_folder;
};

/// As re.findall(kWordsInPython, text.encode().lower().decode()) has them in Python.
void TestTextClasses::tokens_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<Words>("wanted");
    const auto row = [](const char* text, const Words& wanted) {
        QTest::newRow(text) << QByteArray(text) << wanted;
    };
    row("", {});
    row(" \t\n", {});
    row("Don't STOP", {"don't", "stop"});
    row("'quoted' o'' x'", {"'", "quoted", "'", "o", "'", "'", "x", "'"});
    row("a,b 3.5!", {"a", ",", "b", "3", ".", "5", "!"});
    row("\u00dcber \u20ac5", {"\u00dcber", "\u20ac5"}); // only ASCII counts without case
    row("rock'n'roll", {"rock'n'roll"});
    row("\x01z\x7f", {"z"});
}

void TestTextClasses::tokens() {
    QFETCH(QByteArray, text);
    QFETCH(Words, wanted);
    QCOMPARE(tokensOf(text.toStdString()), wanted);
}

void TestTextClasses::tokensEndEarly() {
    for (const Tokens kind : {Tokens::Words, Tokens::Characters}) {
        int calls = 0;
        forTokens("a b c", kind, [&calls](std::string_view) { return ++calls < 2; });
        QCOMPARE(calls, 2);
    }
    QCOMPARE(tokensOf("A\u00e4 \u20ac", Tokens::Characters), (Words{"A", "\u00e4", " ", "\u20ac"}));
}

/// The most frequent ones come first; on a tie, the order of Unicode decides.
void TestTextClasses::knownTokens() {
    TokenNumbers tokens;
    int32_t next = 0;
    for (const char* token : {"z", "b", "a", "once", "most"})
        QCOMPARE(tokens.add(token), next++);
    QCOMPARE(tokens.add("b"), 1);
    const std::vector<int64_t> counts{2, 3, 3, 1, 9};
    const Vocabulary all(tokens, counts, 100);
    QCOMPARE(all.size(), int64_t{6});
    QCOMPARE(all.indexOf("most"), 2);
    QCOMPARE(all.indexOf("a"), 3);
    QCOMPARE(all.indexOf("b"), 4);
    QCOMPARE(all.indexOf("z"), 5);
    for (const char* unknown : {"once", "new", ""})
        QCOMPARE(all.indexOf(unknown), Vocabulary::kUnknown);
    const Vocabulary few(tokens, counts, 4);
    QCOMPARE(few.size(), int64_t{4});
    QCOMPARE(few.indexOf("a"), 3);
    QCOMPARE(few.indexOf("b"), Vocabulary::kUnknown);
    QCOMPARE(Vocabulary(tokens, counts, 0).size(), int64_t{2});
}

void TestTextClasses::samples() {
    const auto data = makeDataset(task("text,kind\n\"the cat, the dog\",pet\n"
                                       "the cat,pet\nA fish dog fish fish,food\n"),
                                  0);
    const TensorSpec& x = data->tensors()[kX];
    QCOMPARE(x.shape, (Shape{4}));
    QCOMPARE(x.dtype, DType::I32);
    QVERIFY(x.padded);
    QCOMPARE(x.classes, int64_t{5});
    QCOMPARE(data->view().classes, (Words{"food", "pet"}));
    const Batch batch = allOf(*data);
    // "the" occurs three times, "cat" and "fish" twice; "dog" is cut off once
    const std::vector<int32_t> wanted{2, 3, 1, 2, 2, 3, 0, 0, 1, 4, 1, 4};
    const std::vector<int32_t> made = valuesOf(batch.labels(kX));
    QCOMPARE(made, wanted);
    QCOMPARE(data->textOf(std::span(made).first(4)), "the cat \u25a1 the"s);
    QCOMPARE(data->textOf(std::span(made).subspan(4, 4)), "the cat"s);
    QCOMPARE(data->textOf(std::span(made).last(4)), "\u25a1 fish \u25a1 fish"s);
    QCOMPARE(valuesOf(batch.labels(kTarget)), (std::vector<int32_t>{1, 1, 0}));
    Words notes;
    for (const Message& note : data->notes())
        notes.push_back(note.english());
    QCOMPARE(notes[0], "The column kind is predicted, as one of 2 classes, from the texts in the "
                       "column text."s);
    QCOMPARE(notes[1], "A text has 4 words and signs on average."s);
    QCOMPARE(notes[2], "2 of 3 texts are longer than data.context, 4, and only their beginning is "
                       "used."s);
}

void TestTextClasses::characters() {
    TaskConfig made = task("name,land\nAda\u00df,b\nAd,a\nda,b\n", 5);
    made.tokens = Tokens::Characters;
    const auto data = makeDataset(made, 0);
    const std::vector<int32_t> x = valuesOf(allOf(*data).labels(kX));
    QCOMPARE(data->textOf(std::span(x).first(5)), "Ada\u25a1"s); // case counts
    QCOMPARE(data->tensors()[kX].classes, int64_t{5});           // A, a and d
    QVERIFY(data->notes().back().english().find(" different characters in the training texts, 3 "
                                                "occur more than once") != std::string::npos);
}

/// What only texts to validate on contain is unknown, and counts nothing.
void TestTextClasses::vocabularyOfTheTrainingTexts() {
    TaskConfig made = task(films(40), 8);
    made.validation = 0.25;
    const auto data = makeDataset(made, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{30});
    QCOMPARE(data->samples(Split::Validation), int64_t{10});
    // a, film, the comma, number, and the two words; each number occurs once
    QCOMPARE(data->tensors()[kX].classes, int64_t{8});
    const std::vector<int32_t> x = valuesOf(allOf(*data, Split::Validation).labels(kX));
    const std::string text = data->textOf(std::span(x).first(8));
    QVERIFY2(text == "a good film , number \u25a1" || text == "a bad film , number \u25a1",
             text.c_str());
    made.vocabulary = 4;
    const auto few = makeDataset(made, 0);
    QCOMPARE(few->tensors()[kX].classes, int64_t{4});
    QVERIFY(few->notes().back().english().find("the 2 most frequent are known") !=
            std::string::npos);
}

void TestTextClasses::linesWithoutTextOrClass() {
    const auto data = makeDataset(task("t,c\none two,a\n,b\nthree four,\n\nfive six,None\n"), 0);
    QCOMPARE(data->samples(Split::Train), int64_t{2});
    QCOMPARE(data->view().classes, (Words{"None", "a"})); // a word like any other
    QCOMPARE(data->number(Split::Train, 1), int64_t{3});
    QCOMPARE(data->notes()[1].english(), "2 of 4 lines lack a text or a class and are left out."s);
}

/// The second column of a name has a number, which settings and the note tell.
void TestTextClasses::namesThatAreRepeated() {
    const auto data = makeDataset(task("t,kind,kind\none two,a,b\nthree four,a,c\n"), 0);
    QCOMPARE(data->view().classes, (Words{"b", "c"}));
    QCOMPARE(data->notes()[0].english(), "The column kind.1 is predicted, as one of 2 classes, "
                                         "from the texts in the column t."s);
    QCOMPARE(data->notes()[1].english(), "Names of columns stand in the first line more than once; "
                                         "those after the first are called: kind.1."s);
}

/// Words of small letters, as many of each language, and none twice.
void TestTextClasses::shippedWords() {
    TaskConfig made;
    made.kind = TaskKind::TextClasses;
    made.loss.kind = LossKind::CrossEntropy;
    made.tokens = Tokens::Characters;
    made.context = 12;
    const TextTable table = readTextTable(made);
    QCOMPARE(table.columns.text, "word"s);
    QCOMPARE(table.columns.target, "language"s);
    QCOMPARE(table.classes,
             (Words{"English", "French", "German", "Italian", "Spanish", "Swedish"}));
    for (int32_t label = 0; label < 6; ++label)
        QCOMPARE(std::ranges::count(table.labels, label), std::ptrdiff_t{450});
    QCOMPARE(table.known.size(), size_t{26});
    QCOMPARE(makeDataset(made, 0)->notes().back().english(),
             "All 26 different characters in the training texts are known."s);
    QCOMPARE(table.cut, int64_t{0});
    std::vector<int64_t> all(table.places);
    const Words words = textsAt(made, all);
    QCOMPARE(std::set<std::string>(words.begin(), words.end()).size(), size_t{2700});
    for (const std::string& word : words)
        QVERIFY2(word.size() >= 4 && word.size() <= 12 &&
                     word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == word.npos,
                 word.c_str());
    made.textColumn = "wrod";
    QCOMPARE(thrownBy<InputError>([&] { factsOf(made); }),
             "data.text: words.csv has no column \"wrod\"; the nearest one is word"s);
    made.textColumn.clear();
    made.predictFile = writeBytes(path("new.csv"), "word\nwhatever\nwoher\n");
    const int64_t second[] = {1};
    QCOMPARE(textsAt(made, second), Words{"woher"});
}

void TestTextClasses::chosenColumns_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<QByteArray>("chosen");
    const auto row = [](const char* name, const char* table, const char* text, const char* target,
                        const char* chosen) {
        QTest::newRow(name) << QByteArray(table) << QByteArray(text) << QByteArray(target)
                            << QByteArray(chosen);
    };
    row("last", "a,t,b\nx,long text,y\n", "", "", "t b");
    row("text last", "a,b,t\nx,y,long text\n", "", "", "t b");
    row("given", "a,b,t\nx,y,long text\n", "", "a", "t a");
    row("not the longest", "a,b,t\nx,y,long text\n", "b", "a", "b a");
    row("target is the longest", "a,bb,t\nx,yy,long text\n", "", "t", "bb t");
    row("no name", "v1,v2,,\nham,some text,,\n", "", "", "v2 v1");
}

void TestTextClasses::chosenColumns() {
    QFETCH(QByteArray, table);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, target);
    QFETCH(QByteArray, chosen);
    TaskConfig made = task(table.toStdString());
    made.textColumn = text.toStdString();
    made.target = target.toStdString();
    const TextColumns columns = readTextTable(made).columns;
    QCOMPARE(columns.text + " " + columns.target, chosen.toStdString());
    const TextColumns alone = halfscope::chosenColumns(made);
    QCOMPARE(alone.text + " " + alone.target, chosen.toStdString());
}

/// Which tables are taken for texts when nothing else is said.
void TestTextClasses::foundColumns_data() {
    QTest::addColumn<QByteArray>("header");
    QTest::addColumn<QByteArray>("line"); ///< # is replaced by the line's number, % by 0 or 1
    QTest::addColumn<QByteArray>("found");
    const auto row = [](const char* name, const char* header, const char* line, const char* found) {
        QTest::newRow(name) << QByteArray(header) << QByteArray(line) << QByteArray(found);
    };
    row("reviews", "review,mood", "this is film #,mood %", "review mood");
    row("with ids", "id,review,stars", "#,this is film #,%", "review stars");
    row("class first", "label,text", "%,this is film #", "text label");
    row("names", "name,land", "Person#ab,land %", "name land");
    row("two texts", "title,text,label", "the film named #,a longer text on film #,%",
        "text label");
    row("with a number", "text,length,label", "this is film #,#.5,%", "");
    row("two classes", "text,a,b", "this is film #,%,%", "");
    row("dates", "date,rain", "2024-01-# 10:00:00,%", "");
    row("numbers", "a,b", "#,%", "");
    row("price", "text,price", "this is house #,#.25", "");
    row("few words", "colour,size", "red %,large %", "");
}

void TestTextClasses::foundColumns() {
    QFETCH(QByteArray, header);
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, found);
    QByteArray table = header + "\n";
    for (int i = 0; i < 300; ++i) {
        QByteArray each = line;
        each.replace("#", QByteArray::number(i * 7919 % 1000)).replace("%", i % 3 ? "1" : "0");
        table += each + "\n";
    }
    const auto columns = textColumnsOf(writeBytes(path("f.csv"), table.toStdString()), true);
    QCOMPARE(columns ? columns->text + " " + columns->target : ""s, found.toStdString());
}

/// Of 40 texts of six words and signs and two long ones, one in twenty may be cut.
void TestTextClasses::contexts() {
    std::string table = films(40), longText;
    for (int i = 0; i < 60; ++i)
        longText += "word ";
    QCOMPARE(contextFor(task(table)), int64_t{8});
    QCOMPARE(contextFor(task(table + "40," + longText + ",up\n")), int64_t{8});
    for (int i = 0; i < 5; ++i)
        table += "40," + longText + ",up\n";
    QCOMPARE(contextFor(task(table)), int64_t{64});
    const std::string longer = "1," + longText + longText + longText + longText + longText + ",a\n";
    QCOMPARE(contextFor(task("id,text,c\n" + longer)), int64_t{256});
}

/// A file that looks like another kind of data is taken for the kind that is given.
void TestTextClasses::givenKind() {
    std::string text = "number,what\n", reviews = "id,review,praise\n";
    for (int i = 0; i < 60; ++i) {
        const std::string number = std::to_string(i);
        text += number + ".5," + number + ".25\n";
        reviews += number + ",the film is " + (i % 2 ? "fine" : "dull") + " as ever,no\n";
    }
    writeBytes(path("plain.csv"), text);
    writeBytes(path("reviews.csv"), reviews);
    const auto taken = [&](const char* file, const char* kind) {
        const Assignment given[] = {parseAssignment(std::string("data.kind=") + kind)};
        const RunConfig config = *experimentOn(path(file), given);
        checkConfig(config);
        return config.task;
    };
    QCOMPARE(taken("plain.csv", "text-classes").context, int64_t{8}); // of three words each
    QCOMPARE(taken("plain.csv", "text-classes").loss.kind, LossKind::CrossEntropy);
    QCOMPARE(taken("plain.csv", "text").path, path("plain.csv"));
    QCOMPARE(taken("reviews.csv", "csv").loss.kind, LossKind::CrossEntropy);
    QCOMPARE(taken("reviews.csv", "csv").drop, std::string());
}

/// The vocabulary stays that of the training texts.
void TestTextClasses::newTexts() {
    TaskConfig made = task(films(40), 8);
    made.predictFile =
        writeBytes(path("new.csv"), "other,review\n1,A GOOD house\n2,\n3,Bad film\n");
    const auto data = makeDataset(made, 0);
    QCOMPARE(data->samples(Split::Train), int64_t{40});
    QCOMPARE(data->samples(Split::Validation), int64_t{2});
    QCOMPARE(data->number(Split::Validation, 1), int64_t{2});
    const std::vector<int32_t> x = valuesOf(allOf(*data, Split::Validation).labels(kX));
    QCOMPARE(data->textOf(std::span(x).first(8)), "a good \u25a1"s);
    QCOMPARE(data->textOf(std::span(x).last(8)), "bad film"s);
    QVERIFY(data->notes().back().english().ends_with(
        "1 of 3 lines lacks a text and is not predicted."));
    writeBytes(path("new.csv"), "other,text\n1,good\n");
    QVERIFY(isAbout(thrownBy<InputError>([&] { makeDataset(made, 0); }), made.predictFile,
                    "there is no column \"review\", which the network was trained on"));
}

/// A word that is added changes what the indices mean, whatever the classes are.
void TestTextClasses::printSeesTheVocabulary() {
    const TaskConfig before = task(films(40), 8);
    const std::string print = dataPrint(before, *makeDataset(before, 0));
    const TaskConfig same = task(films(40), 8);
    QVERIFY(!predictsOtherwise(print, dataPrint(same, *makeDataset(same, 0))));
    const TaskConfig more = task(films(40) + "40,new new,up\n", 8);
    QVERIFY(predictsOtherwise(print, dataPrint(more, *makeDataset(more, 0))));
}

/// The predicted class stands behind the text, on orange where it is wrong.
void TestTextClasses::sheets() {
    const auto data = makeDataset(task(films(40), 8), 0);
    const auto gallery = galleryOf(*data);
    QVERIFY(gallery);
    QCOMPARE(gallery->texts.size(), size_t{kClassedTexts});
    QVERIFY(gallery->prompt.empty());
    QCOMPARE(gallery->texts[0], "a bad film , number \u25a1"s);
    const Words names = data->view().classes;
    const Picture wanted = galleryWithClasses(*gallery, names);
    const auto labels = gallery->samples.labels(kTarget);
    std::vector<float> scores(labels.size() * 2);
    for (size_t i = 0; i < labels.size(); ++i)
        scores[2 * i + static_cast<size_t>(labels[i])] = 1;
    const Picture right = galleryWithMistakes(*gallery, scores, names);
    QCOMPARE(right.values, wanted.values);
    QCOMPARE(right.caption, "8/8"s);
    std::swap(scores[0], scores[1]);
    const Picture wrong = galleryWithMistakes(*gallery, scores, names);
    QCOMPARE(wrong.caption, "7/8"s);
    const auto orange = [](const Picture& picture) {
        size_t count = 0;
        for (size_t i = 0; i < picture.values.size(); i += 3)
            count += picture.values[i] == 1.0f && picture.values[i + 2] < 0.5f;
        return count;
    };
    QCOMPARE(orange(right), size_t{0});
    QVERIFY(orange(wrong) > 0);
    const std::vector<float> none(scores.size(), NAN);
    QCOMPARE(galleryWithMistakes(*gallery, none, names).caption, std::string(kNoClasses));
    const std::vector<ClassedText> longOnes(9, {std::string(200, 'm'), std::string(40, 'w')});
    QCOMPARE(classedSheet(longOnes).values.size(), wanted.values.size());
    const auto drawn = [](const std::string& text) {
        return classedSheet(std::vector<ClassedText>{{text, "w"}}).values;
    };
    const std::string m(75, 'm'); // two rows of 40 without the class and a gap hold 78 letters
    QCOMPARE(drawn(m + "mmmm"), drawn(m + "..."));
    QCOMPARE(drawn(m + std::string(99, 'm')), drawn(m + "..."));
    QVERIFY(drawn(m + "mmm") != drawn(m + "..."));
}

/// Words take one row each: a picture of the same size has letters of twice the height.
void TestTextClasses::sheetsOfWords() {
    const auto drawn = [](const std::string& word, const std::string& name, size_t longest = 7) {
        return classedSheet(std::vector<ClassedText>(kClassedTexts, {word, name}), longest);
    };
    const Picture words = drawn("abgetragen", "German"), texts = drawn("abgetragen", "German", 15);
    QVERIFY(2 * words.height < texts.height + words.height / 8);
    QVERIFY(words.width < texts.width);
    // another predicted class changes no size, and hides no letter
    QCOMPARE(drawn("abgetragen", "x").values.size(), words.values.size());
    QVERIFY(drawn(std::string(17, 'm'), "Spanish").values !=
            drawn(std::string(16, 'm') + ".", "Spanish").values);
}

void TestTextClasses::refuses_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("target");
    QTest::addColumn<QByteArray>("why");
    const auto row = [](const char* name, const char* table, const char* text, const char* target,
                        const char* why) {
        QTest::newRow(name) << QByteArray(table) << QByteArray(text) << QByteArray(target)
                            << QByteArray(why);
    };
    row("one column", "text\nabc\n", "", "",
        "one column is not enough: a column of texts and one of classes are expected");
    row("no lines", "text,c\n", "", "", "no line of values follows the names of the columns");
    row("all lack", "text,c\nabc,\n,a\n", "", "", "every line lacks its text or its class");
    row("text column", "text,c\nabc,a\n", "txet", "", "has no column \"txet\"");
    row("target", "text,c\nabc,a\n", "", "d", "has no column \"d\"");
    row("one for both", "text,c\nabc,a\n", "c", "c", "is the column to predict (data.target)");
    row("nothing beside", "text,\nabc,a\n", "", "",
        "there is no column of classes beside the "
        "column of texts, \"text\"");
    row("Latin-1", "text,c\nabc,a\ncaf\xe9,b\n", "", "",
        "t.csv, line 3: the text is not UTF-8; save the table as CSV (UTF-8)");
    row("fields", "text,c\nabc,a,b\n", "", "",
        "the number of fields in \"abc,a,b\" is 3, but must be 2, as in the first line");
}

void TestTextClasses::refuses() {
    QFETCH(QByteArray, table);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, target);
    QFETCH(QByteArray, why);
    TaskConfig made = task(table.toStdString());
    made.textColumn = text.toStdString();
    made.target = target.toStdString();
    const std::string error = thrownBy<InputError>([&] { makeDataset(made, 0); });
    QVERIFY2(error.find(why.toStdString()) != std::string::npos, error.c_str());
}

} // namespace tst_text_classes

QTEST_GUILESS_MAIN(tst_text_classes::TestTextClasses)
#include "tst_text_classes.moc"
