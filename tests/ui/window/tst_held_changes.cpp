// What is changed after the end of a run, where nothing trains any more: the window says that it
// waits, and offers to go on with it or to start over. What it does then is in tst_after_the_end.
#include "tests/support/opened_window.h"
#include "ui/panels/banner.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"

#include <QLabel>
#include <QLocale>
#include <QPushButton>

namespace tst_held_changes {

using namespace halfscope;

namespace {

bool edit(MainWindow& window, const char* key, int lane, const char* text) {
    ConfigModel& model = window.config();
    return model.setData(model.index(model.rowOf(key, lane)), QString::fromLatin1(text));
}

} // namespace

class TestHeldChanges : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void saysWhatWaitsForContinue();
    void aScaleThatWaitsIsTold();
};

/// A setting that is called live does nothing in a run that has ended.
void TestHeldChanges::saysWhatWaitsForContinue() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    const auto* text = window.setup().findChild<QLabel*>(QStringLiteral("restartText"));
    QVERIFY(trainsTo(window, 30));
    window.setStopStep(40); // which Continue tells itself
    window.config().setData(window.config().index(window.config().rowOf("run.pace")), 50);
    QVERIFY(!window.setup().restartShown());
    QVERIFY(edit(window, "optimizer.lr", -1, "0.25"));
    QVERIFY(window.setup().restartShown());
    QCOMPARE(text->text(), QStringLiteral("The run has ended. Continue keeps training with the "
                                          "new value of Learning rate; a restart uses it from the "
                                          "start."));
    QCOMPARE(window.config().heldNames().join(u'|'), QStringLiteral("Learning rate"));
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(!window.setup().restartShown());
    for (const int lane : {0, 1})
        QVERIFY(edit(window, "scaler.growth_interval", lane, "7"));
    QCOMPARE(window.config().heldNames().join(u'|'), QStringLiteral("Growth interval"));
    QVERIFY(trainsTo(window, 40));
    QTRY_VERIFY_WITH_TIMEOUT(!window.setup().restartShown(), kPatience);
}

/// The view of the gradients shows nothing of it yet, and says so.
void TestHeldChanges::aScaleThatWaitsIsTold() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    auto* banner = window.findChild<Banner*>();
    const auto* view = window.findChild<GradientView*>();
    window.shown().watchGradients(true);
    QVERIFY(trainsTo(window, 30));
    QTRY_VERIFY_WITH_TIMEOUT(!view->empty() && view->note().isEmpty(), kPatience);
    window.shown().setScale(1, QStringLiteral("64"));
    QVERIFY2(window.bannerText().startsWith(QStringLiteral(
                 "The run has ended, so the loss scale of lane B changes to 64 = 2^6 only when ")),
             qPrintable(window.bannerText()));
    QTRY_VERIFY2_WITH_TIMEOUT(view->note().contains(QStringLiteral("Continue")),
                              qPrintable(view->note()), kPatience);
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QTRY_VERIFY_WITH_TIMEOUT(view->note().isEmpty(), kPatience);
    window.shown().setScale(1, QStringLiteral("32"));
    QVERIFY(!window.bannerText().isEmpty());
    banner->findChild<QPushButton*>(QStringLiteral("offer"))->click();
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() == 60, kPatience);
    QCOMPARE(*window.shown().run()->now().column(1, metric::Scale).at(31), 32.0);
    QVERIFY(reaches(window, SessionState::Finished));
    // before an audience nothing comes between the figures
    banner->holdNoticesBack(true);
    window.shown().setScale(1, QStringLiteral("64"));
    banner->holdNoticesBack(false);
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
}

} // namespace tst_held_changes

QTEST_MAIN(tst_held_changes::TestHeldChanges)
#include "tst_held_changes.moc"
