// Messages: formats with arguments in place, in English and in any other language, and the errors
// that carry them.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/lang/syntax.h"
#include "engine/settings/fields.h"
#include "tests/support/thrown.h"

#include <QTest>
#include <limits>
#include <utility>

namespace tst_message {

using namespace halfscope;

namespace {

/// Translates one format to "Zwei %2, eins %1", and all others to capitals.
std::string inAnotherLanguage(const Phrase& phrase) {
    std::string text = phrase.text();
    if (text == "%1, then %2") return "%2 nach %1";
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

} // namespace

class TestMessage : public QObject {
    Q_OBJECT
private slots:
    void arguments();
    void argumentsAreNotSearched();
    void nested();
    void otherLanguage();
    void numbersAreNoData();
    void partsComeBack();
    void empty();
    void lists();
    void errorsSayTheSame();
    void otherErrors();
    void dataIsFitToBeShown();
    void hints();
    void settingsAndModels();
};

void TestMessage::arguments() {
    const Message message(phrase("Test", "%1: %2 of %3 in %4"), "a", std::string("b"), 3,
                          int64_t{-4});
    QCOMPARE(message.english(), std::string("a: b of 3 in -4"));
    QCOMPARE(Message(phrase("Test", "%2 before %1, %1 twice"), "x", "y").english(),
             std::string("y before x, x twice"));
    QCOMPARE(Message(phrase("Test", "%1%2%3%4%5%6%7%8%9"), 1, 2, 3, 4, 5, 6, 7, 8, 9).english(),
             std::string("123456789"));
    // text that is no place of an argument stays: percentages, and numbers beyond the arguments
    QCOMPARE(Message(phrase("Test", "100 % of %1, %0, %2, %")).english(),
             std::string("100 % of %1, %0, %2, %"));
    QCOMPARE(Message(phrase("Test", "%1%"), 5).english(), std::string("5%"));
}

void TestMessage::argumentsAreNotSearched() {
    QCOMPARE(Message(phrase("Test", "%1 and %2"), "%2", "%1").english(), std::string("%2 and %1"));
    const Message inner(phrase("Test", "<%1>"), "%2 %1");
    QCOMPARE(Message(phrase("Test", "%1, %2"), inner, "x").english(), std::string("<%2 %1>, x"));
}

void TestMessage::nested() {
    const Message inner(phrase("Test", "a whole number from %1 to %2"), 1, 8);
    const Message outer(phrase("Test", "%1 is not allowed: %2"), "9", inner);
    QCOMPARE(within("run.json", within("task.side", outer)).english(),
             std::string("run.json: task.side: 9 is not allowed: a whole number from 1 to 8"));
}

void TestMessage::otherLanguage() {
    const Message message(phrase("Test", "%1, then %2"), phrase("Test", "first"), "data");
    QCOMPARE(message.english(), std::string("first, then data"));
    QCOMPARE(message.text(inAnotherLanguage), std::string("data nach FIRST"));
}

/// A number may be shown in another way, a text of the same digits may not.
void TestMessage::numbersAreNoData() {
    const Message message(phrase("Test", "%1 %2 %3 %4"), "2005", 2005, 0.5f,
                          Message(phrase("Test", "(%1)"), std::numeric_limits<uint64_t>::max()));
    QCOMPARE(message.english(), std::string("2005 2005 0.5 (18446744073709551615)"));
    const auto bracketed = [](std::string_view x) { return '<' + std::string(x) + '>'; };
    QCOMPARE(message.text(inAnotherLanguage, bracketed),
             std::string("2005 <2005> <0.5> (<18446744073709551615>)"));
    QCOMPARE(Message::number(int64_t{-7}).text(inAnotherLanguage, bracketed), std::string("<-7>"));
    QVERIFY(message.arguments()[1] == Message::number(2005.0));
    const std::pair<double, const char*> written[] = {
        {1e-4, "0.0001"}, {-3e-4, "-0.0003"}, {1e-5, "1e-05"}, {1e5, "100000"},
        {1e6, "1000000"}, {3e8, "3e+08"},     {0.0, "0"}};
    for (const auto& [number, text] : written) {
        QCOMPARE(Message::number(number).english(), std::string(text));
        QCOMPARE(Message::number(static_cast<float>(number)).english(), std::string(text));
    }
}

void TestMessage::partsComeBack() {
    const Message inner(phrase("Test", "<%1>"), "in");
    const Message message(phrase("Test", "%1 %2 %3"), inner, Message(), "out");
    QVERIFY(message.format() == phrase("Test", "%1 %2 %3"));
    QVERIFY(!(message.format() == phrase("Other", "%1 %2 %3")));
    const std::vector<Message> parts = message.arguments();
    QCOMPARE(parts.size(), size_t{3});
    QVERIFY(parts[0] == inner && parts[0].format() == phrase("Test", "<%1>"));
    QVERIFY(parts[1].english().empty());
    QVERIFY(parts[2].format().empty() && parts[2].english() == "out");
    QVERIFY(Message::data("out").arguments().empty());
    // a message that is composed from its parts equals the original
    QVERIFY(Message(message.format(), parts[0], parts[1], parts[2]) == message);
}

void TestMessage::empty() {
    QVERIFY(Message().empty() && Message::data("").empty());
    QVERIFY(Message().english().empty());
    QVERIFY(!Message(phrase("Test", "x")).empty() && !Message::data("x").empty());
    QCOMPARE(Message(phrase("Test", "[%1][%2]"), Message(), "").english(), std::string("[][]"));
}

void TestMessage::lists() {
    const std::vector<Message> parts{Message::data("a"), phrase("Test", "b"), Message::data("c")};
    QCOMPARE(listed(parts).english(), std::string("a, b, c"));
    QCOMPARE(listed(parts, phrase("Test", "%1 or %2")).english(), std::string("a or b or c"));
    QCOMPARE(listed(std::span(parts).first(1)).english(), std::string("a"));
    QVERIFY(listed({}).empty());
}

void TestMessage::errorsSayTheSame() {
    const InputError input(phrase("Test", "%1 is wrong"), "x");
    QCOMPARE(std::string(input.what()), std::string("x is wrong"));
    QVERIFY(input.message() == Message(phrase("Test", "%1 is wrong"), "x"));
    const EngineError copy = EngineError(input.message());
    QCOMPARE(std::string(copy.what()), std::string("x is wrong"));
    static_assert(std::is_nothrow_copy_constructible_v<RunError>);
    try {
        throw RunError(within("y", input.message()));
    } catch (const std::exception& error) {
        QCOMPARE(messageOf(error).text(inAnotherLanguage), std::string("y: x IS WRONG"));
    }
}

void TestMessage::otherErrors() {
    QCOMPARE(messageOf(std::runtime_error("%1 stays")).text(inAnotherLanguage),
             std::string("%1 stays"));
}

void TestMessage::dataIsFitToBeShown() {
    const Message inner(phrase("Test", "<%1>"), std::string("\xff"));
    const Message message(phrase("Test", "%1, then %2"), "a\x1b[2J\nb", inner);
    QCOMPARE(message.english(), std::string("a\\u001b[2J\\nb, then <\\xff>"));
    QCOMPARE(message.text(inAnotherLanguage), std::string("<\\xff> nach a\\u001b[2J\\nb"));
    QCOMPARE(message.arguments().at(0).english(), std::string("a\\u001b[2J\\nb"));
    const std::string most(2000, 'x'), more = "begin" + std::string(20'000'000, 'x') + "end";
    QCOMPARE(Message::data(most).english(), most);
    const std::string cut = Message(phrase("Test", "%1"), more).english();
    QVERIFY(cut.size() == 2000 && cut.find("x...x") != cut.npos && cut.starts_with("beginx") &&
            cut.ends_with("xend"));
    const InputError error(phrase("Test", "%1%2"), more, more);
    QCOMPARE(std::string(error.what()).size(), size_t{2000});
}

void TestMessage::hints() {
    const std::vector<std::string> known{"checkerboard", "regression"};
    QCOMPARE(nearestHint("chekerboard", known).english(),
             std::string("; the nearest one is checkerboard"));
    QCOMPARE(nearestHint("elephant", known).english(),
             std::string("; there are: checkerboard, regression"));
    QCOMPARE(nearestHint("regresion", known, phrase("Test", ", not %1?")).english(),
             std::string(", not regression?"));
}

/// Refusals that pass through several layers keep the parts that they were made of.
void TestMessage::settingsAndModels() {
    RunConfig config = defaultConfig();
    try {
        applySetting(config, "model.width=%1");
        QFAIL("taken");
    } catch (const InputError& error) {
        QCOMPARE(std::string(error.what()),
                 std::string("model.width: \"%1\" is not allowed: a whole number from 1 to 4096"));
        QCOMPARE(error.message().arguments().at(0).english(), std::string("model.width"));
        QVERIFY(!error.message().arguments().at(2).format().empty());
    }
    try {
        applySetting(config, "model.layers=Linear(2,");
        QFAIL("taken");
    } catch (const InputError& error) {
        QVERIFY(error.message().format() == phrase("Model", "model.layers, %1"));
        const Message place = error.message().arguments().at(0);
        QVERIFY(place.format() == phrase("Model", "line %1, column %2: %3"));
        QCOMPARE(place.arguments().at(1).english(), std::string("10"));
    }
    QCOMPARE(thrownBy<InputError>([] { parseConfig("{\"version\": 2}", "f.json"); }),
             std::string("f.json: version: 2 is not allowed: 1, the version that this program "
                         "reads"));
}

} // namespace tst_message

QTEST_APPLESS_MAIN(tst_message::TestMessage)
#include "tst_message.moc"
