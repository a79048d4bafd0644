// No training begins, goes on or takes a step while a box has a value that is not allowed: the
// window says which one, and leads to it.
#include "tests/support/opened_window.h"
#include "ui/look/style.h"
#include "ui/panels/banner.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/stop_box.h"

#include <QLocale>
#include <QPushButton>
#include <QSpinBox>

namespace tst_refused_start {

using namespace halfscope;

namespace {

constexpr QSize kRoomy(1280, 800); // for the settings, and for the box of the last step

QSpinBox* boxOf(MainWindow& window, const char* key) {
    return qobject_cast<QSpinBox*>(window.setup().editor(key)->control());
}

StopBox* stopOf(MainWindow& window) { return window.findChild<StopBox*>(QStringLiteral("stopAt")); }

/// Types a text and leaves the box, as a click elsewhere does.
void type(QWidget* box, const QString& text) {
    box->setFocus();
    QTest::keyClick(box, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(box, text);
    box->window()->findChild<QWidget*>(QStringLiteral("page"))->setFocus();
}

} // namespace

class TestRefusedStart : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void playLeadsToTheSetting();
    void nothingElseBegins();
    void aHiddenPanelIsNamed();
    void anAudienceIsToldOfTheWayBack();
    void aWrongLastStepIsTold();
    void aCorrectedLastStepIsTaken();
    void wordsEndTheRefusal();
    void anotherExperimentBegins();
};

void TestRefusedStart::playLeadsToTheSetting() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(takesKeys(window));
    QSpinBox* box = boxOf(window, "model.width");
    type(box, QStringLiteral("70000"));
    QVERIFY(!box->hasFocus());
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText())); // nothing was tried
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("play")), Qt::LeftButton);
    QVERIFY2(window.bannerText().startsWith(
                 QStringLiteral("Nothing was started, because Width has a value that is not ")),
             qPrintable(window.bannerText()));
    QVERIFY2(window.bannerText().contains(QStringLiteral("\nAllowed: ")),
             qPrintable(window.bannerText()));
    QCOMPARE(window.focusWidget(), box);
    QVERIFY(!window.controller().willTrain());
    QTest::qWait(100);
    QCOMPARE(window.run().step(), int64_t{0});
    QTest::keyClick(box, Qt::Key_Escape);
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    type(box, QStringLiteral("80000"));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText())); // not tried again yet
    type(box, QStringLiteral("6"));
    QVERIFY(trainsTo(window, 3));
    QCOMPARE(window.shown().run()->info().recorded.model.width, int64_t{6});
}

/// What is still being typed counts, too.
void TestRefusedStart::nothingElseBegins() {
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 2));
    const RunPtr before = window.shown().run();
    QSpinBox* box = boxOf(window, "model.width");
    box->setFocus();
    box->selectAll();
    QTest::keyClicks(box, QStringLiteral("70000"));
    window.stepOnce();
    QVERIFY(!window.bannerText().isEmpty());
    window.play();
    window.restart();
    QTest::qWait(100);
    QCOMPARE(window.controller().state(), SessionState::Paused);
    QCOMPARE(window.run().step(), int64_t{2});
    QVERIFY(window.shown().run() == before);
    QTest::keyClick(box, Qt::Key_Escape);
    QVERIFY(stepsTo(window, 3));
}

void TestRefusedStart::aHiddenPanelIsNamed() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    type(boxOf(window, "model.width"), QStringLiteral("70000"));
    window.setup().hide();
    window.play();
    QVERIFY2(window.bannerText().contains(QStringLiteral(" F9 shows the settings.")),
             qPrintable(window.bannerText()));
    QVERIFY(!window.controller().willTrain());
    window.setup().show();
    QTRY_COMPARE(window.focusWidget(), boxOf(window, "model.width"));
    QVERIFY2(window.bannerText().contains(QStringLiteral("is not allowed. Esc in its box ")) &&
                 !window.bannerText().contains(QStringLiteral("F9")),
             qPrintable(window.bannerText()));
}

/// An audience sees no boxes, and neither Esc nor F9 leads to one.
void TestRefusedStart::anAudienceIsToldOfTheWayBack() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(takesKeys(window));
    type(boxOf(window, "model.width"), QStringLiteral("70000"));
    QTest::keyClick(&window, Qt::Key_F5);
    window.play();
    QVERIFY2(window.bannerText().contains(QStringLiteral(" F5 leads back to its box.\nAllowed: ")),
             qPrintable(window.bannerText()));
    QVERIFY(!window.bannerText().contains(QStringLiteral("Esc")) &&
            !window.bannerText().contains(QStringLiteral("F9")));
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_COMPARE(window.focusWidget(), boxOf(window, "model.width"));
    QVERIFY2(window.bannerText().contains(QStringLiteral(" Esc in its box ")),
             qPrintable(window.bannerText()));
}

/// Space takes it over as it stands in the box.
void TestRefusedStart::aCorrectedLastStepIsTaken() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(takesKeys(window));
    StopBox* box = stopOf(window);
    box->setFocus();
    QTest::keyClick(box, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(box, QStringLiteral("0"));
    QTest::keyClick(box, Qt::Key_Return);
    QVERIFY(!box->refusal().isEmpty());
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("play")), Qt::LeftButton);
    QVERIFY(!window.bannerText().isEmpty());
    QCOMPARE(window.focusWidget(), box);
    QTest::keyClick(box, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(box, QStringLiteral("500"));
    QTest::keyClick(box, Qt::Key_Space);
    QVERIFY(box->refusal().isEmpty() && !OutlinedStyle::isFramedAsWrong(*box));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 3, kPatience);
}

/// Words in place of the step leave nothing to be corrected.
void TestRefusedStart::wordsEndTheRefusal() {
    StopBox box;
    box.showStep(3);
    box.show();
    box.selectAll();
    QTest::keyClicks(&box, QStringLiteral("0"));
    QTest::keyClick(&box, Qt::Key_Return);
    QVERIFY(!box.refusal().isEmpty());
    box.showWords(QStringLiteral("reading…"));
    QVERIFY(box.refusal().isEmpty() && !OutlinedStyle::isFramedAsWrong(box));
    box.showWords({});
    QCOMPARE(box.text(), QStringLiteral("3"));
}

/// There is no room below it for a sentence that stays.
void TestRefusedStart::aWrongLastStepIsTold() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(takesKeys(window));
    StopBox* box = stopOf(window);
    for (const char* wrong : {"0", "2000000000", "99999999999999999999", "1.5"}) {
        type(box, QString::fromLatin1(wrong));
        QCOMPARE(box->text(), QString::fromLatin1(wrong));
        QVERIFY2(box->refusal().startsWith(QStringLiteral("Allowed: ")),
                 qPrintable(box->refusal()));
        QVERIFY(box->toolTip().startsWith(QStringLiteral("Allowed: ")));
        QVERIFY(box->accessibleDescription().contains(QStringLiteral("Allowed: ")));
        QVERIFY(OutlinedStyle::isFramedAsWrong(*box));
        window.play();
        QVERIFY2(window.bannerText().startsWith(QStringLiteral(
                     "Nothing was started, because Stop after has a value that is not ")),
                 qPrintable(window.bannerText()));
        QCOMPARE(window.focusWidget(), box);
        QVERIFY(!window.controller().willTrain());
        QTest::keyClick(box, Qt::Key_Escape);
        QCOMPARE(box->text(), QStringLiteral("3"));
        QVERIFY(box->refusal().isEmpty() && !OutlinedStyle::isFramedAsWrong(*box));
        QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    }
    type(box, QStringLiteral("0"));
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("optimizer.lr")), 0.25));
    QCOMPARE(box->text(), QStringLiteral("0")); // another setting leaves it
    window.setStopStep(5);
    QCOMPARE(box->text(), QStringLiteral("5"));
    QVERIFY(box->refusal().isEmpty());
    type(box, QStringLiteral("4"));
    QVERIFY(trainsTo(window, 4));
}

/// Its boxes have its own values.
void TestRefusedStart::anotherExperimentBegins() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(kRoomy);
    QVERIFY(reaches(window, SessionState::Ready));
    type(boxOf(window, "model.width"), QStringLiteral("70000"));
    type(stopOf(window), QStringLiteral("0"));
    window.play();
    QVERIFY(!window.bannerText().isEmpty());
    RunConfig other = tinyConfig(3);
    other.title = "Another";
    window.openFile(write(opened.folder, QStringLiteral("other.json"), configText(other)));
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QCOMPARE(stopOf(window)->text(), QStringLiteral("3"));
    QVERIFY(trainsTo(window, 3));
}

} // namespace tst_refused_start

QTEST_MAIN(tst_refused_start::TestRefusedStart)
#include "tst_refused_start.moc"
