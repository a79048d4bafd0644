// The box that tells what lanes predict for one picture.
#include "ui/dialogs/answer_box.h"
#include "ui/look/owned.h"

#include <QLocale>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

namespace tst_answer_box {

using namespace halfscope;

class TestAnswerBox : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void answers_data();
    void answers();
    void showsTextAsItIs();
    void savesWhenAsked();
    void closesWithoutSaving_data();
    void closesWithoutSaving();

private:
    static AnswerBox* opened(const QByteArray& table = "file,class_predicted,probability\n"
                                                       "a.png,cat,0.5\n");
};

void TestAnswerBox::answers_data() {
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QString>("lane");
    QTest::addColumn<QStringList>("lines");
    const auto row = [](const char* name, const QByteArray& table, const char* lane,
                        const QStringList& lines) {
        QTest::newRow(name) << table << QString::fromUtf8(lane) << lines;
    };
    const QByteArray one = "file,class_predicted,probability\n",
                     two = "file,class_predicted_fp32,probability_fp32,"
                           "class_predicted_amp-fp16,probability_amp-fp16\n";
    row("one lane", one + "a.png,cat,0.932\n", "fp32", {"fp32: cat, 93 %"});
    row("without a name", one + "a.png,cat,0.05\n", "", {"cat, 5.0 %"});
    row("without line end", one + "a.png,cat,1", "", {"cat, 100 %"});
    row("two lanes", two + "a.png,cat,0.932,dog,0.51\n", "",
        {"fp32: cat, 93 %", "amp-fp16: dog, 51 %"});
    row("one of them computes nan", two + "a.png,cat,0.932,,\n", "",
        {"fp32: cat, 93 %", "amp-fp16: no prediction"});
    row("a class without a number", one + "a.png,cat,\n", "", {"no prediction"});
    row("quoted", one + "\"a,b.png\",\"cat, \"\"old\"\"\",0.75\n", "", {"cat, \"old\", 75 %"});
    row("hardly at all", one + "a.png,cat,0.0004\n", "", {"cat, <0.1 %"});
    row("nearly sure", one + "a.png,cat,0.9999\n", "", {"cat, >99.9 %"});
    row("no picture", one, "fp32", {});
    row("no table", "", "fp32", {});
    row("cut off", one + "a.png,cat", "", {});
    row("turned around", one + "a.png,c\xE2\x80\xAEt,0.5\n", "", {"c\\u202et, 50 %"});
}

void TestAnswerBox::answers() {
    QFETCH(const QByteArray, table);
    QFETCH(const QString, lane);
    QFETCH(const QStringList, lines);
    QCOMPARE(AnswerBox::answers(table, lane), lines);
}

AnswerBox* TestAnswerBox::opened(const QByteArray& table) {
    auto* box = make<AnswerBox>(table, QStringLiteral("fp32"), QStringLiteral("Trained little."),
                                nullptr); // deletes itself when it closes
    box->open();
    return box;
}

/// A class may have any name.
void TestAnswerBox::showsTextAsItIs() {
    const QPointer<AnswerBox> box =
        opened("file,class_predicted,probability\na.png,<b>cat</b>,0.5\n");
    QTRY_VERIFY(box && box->isVisible());
    QCOMPARE(box->textFormat(), Qt::PlainText);
    QCOMPARE(box->text(), QStringLiteral("fp32: <b>cat</b>, 50 %"));
    QCOMPARE(box->informativeText(), QStringLiteral("Trained little."));
    QVERIFY(box->textInteractionFlags().testFlag(Qt::TextSelectableByKeyboard));
    box->close();
    QTRY_VERIFY(!box);
}

void TestAnswerBox::savesWhenAsked() {
    const QPointer<AnswerBox> box = opened();
    const QSignalSpy asked(box.data(), &AnswerBox::saveAsked);
    QCOMPARE(box->button(QMessageBox::Save)->text().remove(u'&'), QStringLiteral("Save as CSV…"));
    box->button(QMessageBox::Save)->click();
    QCOMPARE(asked.count(), 1);
    QTRY_VERIFY(!box);
}

void TestAnswerBox::closesWithoutSaving_data() {
    QTest::addColumn<int>("key");
    QTest::newRow("Enter") << int{Qt::Key_Return};
    QTest::newRow("Esc") << int{Qt::Key_Escape};
}

void TestAnswerBox::closesWithoutSaving() {
    QFETCH(const int, key);
    const QPointer<AnswerBox> box = opened();
    const QSignalSpy asked(box.data(), &AnswerBox::saveAsked);
    QTRY_VERIFY(box->isVisible());
    QTest::keyClick(box.data(), static_cast<Qt::Key>(key));
    QTRY_VERIFY(!box);
    QCOMPARE(asked.count(), 0);
}

} // namespace tst_answer_box

QTEST_MAIN(tst_answer_box::TestAnswerBox)
#include "tst_answer_box.moc"
