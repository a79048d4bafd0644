// "A number in 16 or 8 bits": sentences that follow what is typed, refusals, and the way there by
// keys.
#include "tests/support/opened_window.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/number_dialog.h"
#include "ui/models/translated.h"

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QScopeGuard>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>

#include <algorithm>

namespace tst_number_dialog {

using namespace halfscope;

class TestNumberDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void sentences_data();
    void sentences();
    void numbersAreGrouped();
    void refusesAndGoesOn();
    void everyTextIsReachedByKeys();
    void allIsSeenAtFirst();
    void opensFromTheMenu();

private:
    static void type(NumberDialog&, const QStringList& texts);
};

/// Types into the fields, in their order.
void TestNumberDialog::type(NumberDialog& dialog, const QStringList& texts) {
    const auto fields = dialog.findChildren<QLineEdit*>();
    QCOMPARE(fields.size(), 3);
    for (qsizetype i = 0; i < texts.size(); ++i) {
        fields[i]->selectAll();
        QTest::keyClicks(fields[i], texts[i]);
    }
}

void TestNumberDialog::sentences_data() {
    QTest::addColumn<QStringList>("typed");
    QTest::addColumn<QStringList>("lines");
    QTest::newRow("a gradient that a loss scale saves")
        << QStringList{"1e-8", "2^16", "1"}
        << QStringList{
               "0: the number underflows. The smallest float16 number above 0 is 5.96046e-08.",
               "float16: multiplied by 65536, it is stored as 0.000655174. Divided by 65536 "
               "again, in float32, it is 9.99717e-09, off by 0.028 %.",
               "float32: the weight stays 1, and the update is lost. The next number is "
               "1.19e-07 away.",
               "float16: the weight stays 1, and the update is lost. The next number is "
               "0.000977 away.",
               "Not even float32 keeps this update. It keeps much smaller ones than float16 and "
               "bfloat16: that is why AMP keeps the weights in float32."};
    QTest::newRow("an update that only float32 keeps")
        << QStringList{"1e-8", "1", "0.1"}
        << QStringList{"float32 keeps this update, unlike float16 and bfloat16. That is why AMP "
                       "keeps the weights in float32."};
    QTest::newRow("an update that bfloat16 loses")
        << QStringList{"0.001", "1", "1"}
        << QStringList{"float32 keeps this update, unlike bfloat16. That is why AMP keeps the "
                       "weights in float32."};
    QTest::newRow("a weight that float16 cannot hold")
        << QStringList{"1000", "1", "70000"}
        << QStringList{"float32 keeps this update, unlike float16. That is why AMP keeps the "
                       "weights in float32."};
    QTest::newRow("an update that all keep")
        << QStringList{"0.1", "1", "1"}
        << QStringList{"All three keep this update, but float16 and bfloat16 round the sum. Most "
                       "updates are smaller relative to their weights, and AMP keeps the weights "
                       "in float32 because of those."};
    QTest::newRow("an update that only bfloat16 rounds")
        << QStringList{"1.001953125", "1", "1"}
        << QStringList{"All three keep this update, but bfloat16 rounds the sum. Most updates are "
                       "smaller relative to their weights, and AMP keeps the weights in float32 "
                       "because of those."};
    QTest::newRow("an update that all keep exactly")
        << QStringList{"0.5", "1", "1"}
        << QStringList{"All three keep this update. Most updates are smaller relative to their "
                       "weights, and AMP keeps the weights in float32 because of those."};
    QTest::newRow("an update that swallows the weight")
        << QStringList{"65519", "1", "0.1"}
        << QStringList{"float16: the weight becomes 65504.", "bfloat16: the weight becomes 65536.",
                       "All three keep this update, but float16 and bfloat16 round the sum. Most "
                       "updates are smaller relative to their weights, and AMP keeps the weights "
                       "in float32 because of those."};
    QTest::newRow("no update") << QStringList{"0", "1", "1"}
                               << QStringList{"An update of 0 changes no weight."};
    QTest::newRow("too small for the loss scale")
        << QStringList{"1e-8", "1", "1"}
        << QStringList{"float16: multiplied by 1, it is still too small and becomes 0. The "
                       "gradient is lost."};
    QTest::newRow("too large for the loss scale")
        << QStringList{"2^1", "2^15", "1"}
        << QStringList{"float16: multiplied by 32768, it is too large and becomes inf. The step is "
                       "skipped.",
                       "bfloat16: multiplied by 32768, it is stored as 65536. Divided by 32768 "
                       "again, in float32, it is 2."};
    QTest::newRow("exact") << QStringList{"-1.5", "1", "2"}
                           << QStringList{"float16   1 01111 1000000000",
                                          "bfloat16  1 01111111 1000000",
                                          "-1.5 exactly. The next number is 0.000977 away.",
                                          "bfloat16: the weight becomes 0.5."};
    QTest::newRow("overflow and few digits")
        << QStringList{"70000", "1", "1"}
        << QStringList{"inf: the number overflows. The largest finite float16 number is 65504.",
                       "70144, off by 0.21 %. The next number is 512 away."};
    QTest::newRow("FP8") << QStringList{"0.53", "2^17", "1"}
                         << QStringList{"FP8 E4M3  0 0110 000", "FP8 E5M2  0 01110 00",
                                        "0.5, off by 5.7 %. The next number is 0.0625 away.",
                                        "FP8 E5M2 without a scale of its own: multiplied by "
                                        "131072, it is too large and becomes the largest "
                                        "number, 57344. No step is skipped."};
    QTest::newRow("FP8, too large, and a gradient that fits")
        << QStringList{"1000", "2^-1", "1"}
        << QStringList{"448: the number is too large, and becomes the largest FP8 E4M3 number.",
                       "FP8 E5M2 without a scale of its own: multiplied by 0.5, it is stored as "
                       "512. Divided by 0.5 again, in "
                       "float32, it is 1024, off by 2.4 %."};
    QTest::newRow("a weight that overflows")
        << QStringList{"1", "1", "70000"}
        << QStringList{
               "float16: the weight itself overflows: it is inf.",
               "bfloat16: the weight stays 70144, and the update is lost. The next number is "
               "512 away."};
    QTest::newRow("a tiny update of nothing")
        << QStringList{"-2^-30", "1", "0"}
        << QStringList{"float16: the weight stays 0, and the update is lost. The next number is "
                       "5.96e-08 away.",
                       "bfloat16: the weight becomes -9.313226e-10."};
    QTest::newRow("off by nearly all")
        << QStringList{"2.983e-8", "1", "1"}
        << QStringList{"5.96046e-08, off by 100 %: a subnormal number, which has fewer digits. "
                       "The next number is 5.96e-08 away."};
    QTest::newRow("subnormal")
        << QStringList{"1e-7", "1", "1"}
        << QStringList{"1.19209e-07, off by 19 %: a subnormal number, which has fewer digits. "
                       "The next number is 5.96e-08 away."};
}

void TestNumberDialog::sentences() {
    QFETCH(QStringList, typed);
    QFETCH(QStringList, lines);
    NumberDialog dialog;
    type(dialog, typed);
    QCOMPARE(dialog.errorText(), QString());
    const QStringList shown = dialog.text().split('\n');
    for (const QString& line : lines)
        QVERIFY2(shown.contains(line), qPrintable(line + "\nis not in\n" + dialog.text()));
}

/// A fraction does not take the comma from a number.
void TestNumberDialog::numbersAreGrouped() {
    const auto before = qScopeGuard([] { QLocale::setDefault(QLocale::c()); });
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
    const auto shown = [](const char* number) {
        return translated(Message::number(std::string_view(number)));
    };
    QCOMPARE(shown("65519"), QStringLiteral("65,519"));
    QCOMPARE(shown("65519.1"), QStringLiteral("65,519.1"));
    QCOMPARE(shown("-65519.1"), QStringLiteral("-65,519.1"));
    QCOMPARE(shown("-0.5"), QStringLiteral("-0.5"));
    QCOMPARE(shown("6.5e+04"), QStringLiteral("6.5e+04"));
    QLocale::setDefault(QLocale(QLocale::German, QLocale::Germany));
    QCOMPARE(shown("65519.1"), QStringLiteral("65.519,1"));
}

void TestNumberDialog::refusesAndGoesOn() {
    NumberDialog dialog;
    dialog.show();
    const auto headings = [&dialog] {
        const auto labels = dialog.findChildren<QLabel*>();
        return std::count_if(labels.begin(), labels.end(), [](const QLabel* each) {
            return each->font().bold() && each->isVisible();
        });
    };
    QCOMPARE(headings(), 3);
    type(dialog, {"abc"});
    QCOMPARE(dialog.errorText(), QString("Number. Allowed: a number from -3.4e+38 to 3.4e+38"));
    QCOMPARE(dialog.text().trimmed(), QString()); // nothing old beside the new number
    QCOMPARE(headings(), 0);
    type(dialog, {"1", "0"});
    QCOMPARE(dialog.errorText(),
             QString("Loss scale. Allowed: a number above 0 and at most 3.4e+38"));
    type(dialog, {"1", "1", "1e99"});
    QCOMPARE(dialog.errorText(), QString("Weight. Allowed: a number from -3.4e+38 to 3.4e+38"));
    type(dialog, {"1", "1", "0,5"});
    QVERIFY2(dialog.errorText().endsWith("\nDecimals follow a point: type 0.5"),
             qPrintable(dialog.errorText()));
    type(dialog, {"1", "1", "1"});
    QCOMPARE(dialog.errorText(), QString());
    QCOMPARE(headings(), 3);
    QVERIFY(dialog.text().contains("float32: the weight becomes 2."));
}

void TestNumberDialog::everyTextIsReachedByKeys() {
    NumberDialog dialog;
    dialog.show();
    QVERIFY(test::isExposed(&dialog));
    QTest::keyClick(dialog.focusWidget(), Qt::Key_Return); // after a number
    QVERIFY(dialog.isVisible());
    QSet<QString> reached;
    for (int i = 0; i < 20; ++i) {
        if (const auto* label = qobject_cast<QLabel*>(dialog.focusWidget())) {
            QVERIFY(!label->accessibleName().isEmpty());
            reached << label->accessibleName();
        }
        QTest::keyClick(dialog.focusWidget(), Qt::Key_Tab);
    }
    QCOMPARE(reached.size(), 13); // bits and value of five formats, gradient, weight, and why
}

/// Where the screen has the room for it: the one of the tests has it for small letters.
void TestNumberDialog::allIsSeenAtFirst() {
    const QFont usual = QApplication::font();
    const auto back = qScopeGuard([&usual] { QApplication::setFont(usual); });
    for (const int pixels : {6, 7}) {
        QFont small = usual;
        small.setPixelSize(pixels);
        QApplication::setFont(small);
        NumberDialog dialog;
        dialog.show();
        QVERIFY(test::isExposed(&dialog));
        const auto* results = dialog.findChild<QScrollArea*>();
        QVERIFY(dialog.height() < dialog.screen()->availableSize().height());
        QTRY_VERIFY2(results->verticalScrollBar()->maximum() == 0,
                     qPrintable(QString::number(results->verticalScrollBar()->maximum())));
    }
}

void TestNumberDialog::opensFromTheMenu() {
    MainWindow window;
    const auto actions = window.findChildren<QAction*>();
    const auto found = std::find_if(actions.begin(), actions.end(), [](const QAction* action) {
        return action->text().remove('&') == QStringLiteral("A number in 16 or 8 bits…");
    });
    QVERIFY(found != actions.end());
    (*found)->trigger();
    const auto* dialog = window.findChild<NumberDialog*>();
    QVERIFY(dialog && dialog->isVisible() && !dialog->isModal());
    // the numbers that it opens with are an example of what it teaches
    QVERIFY2(dialog->text().contains("float32: the weight becomes 0.1"),
             qPrintable(dialog->text()));
    QVERIFY2(dialog->text().contains("unlike float16 and bfloat16"), qPrintable(dialog->text()));
}

} // namespace tst_number_dialog

QTEST_MAIN(tst_number_dialog::TestNumberDialog)
#include "tst_number_dialog.moc"
