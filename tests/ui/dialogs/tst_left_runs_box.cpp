// The question about the runs of a window that was not closed comes up by itself: what is typed
// meanwhile must not delete them.
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/left_runs_box.h"

#include <QAbstractButton>
#include <QApplication>
#include <QSignalSpy>
#include <QTest>

#include <memory>

namespace tst_left_runs_box {

using namespace halfscope;

class TestLeftRunsBox : public QObject {
    Q_OBJECT
private slots:
    void keysThatWereMeantForTheWindow_data();
    void keysThatWereMeantForTheWindow();
    void lettersDoNotAnswer();
    void shortcutsWaitUntilItIsRead();
    void keysAnswerOnceItIsRead_data();
    void keysAnswerOnceItIsRead();
    void speaksOfOneRunOrMore();
    void countsTheRunsThatItDoesNotName();
    void speaksOfNoAccidentWhereRunsWereKept();
    void tellsOneSessionOnce();
};

namespace {

/// A shown box, and what it was answered; 0: nothing yet.
struct Asked {
    LeftRunsBox* box = new LeftRunsBox({QStringLiteral("Overflow, 227 steps")},
                                       LeftRunsBox::Why::Crashed, nullptr);
    QSignalSpy answers{box, &QDialog::finished};

    Asked() { box->open(); }
    ~Asked() {
        if (answers.isEmpty()) box->close();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    void type(int key, Qt::KeyboardModifiers with = {}) {
        QWidget* focus = box->focusWidget();
        QTest::keyClick(focus ? focus : box, static_cast<Qt::Key>(key), with);
    }
    /// Returns the answer so far.
    int answer() {
        test::serveEvents(150); // Qt shows a pressed button for a moment
        return answers.isEmpty() ? 0 : answers[0][0].toInt();
    }
    /// Waits for an answer.
    int finalAnswer() {
        return QTest::qWaitFor([this] { return !answers.isEmpty(); }, test::kShowsWithin)
                   ? answers[0][0].toInt()
                   : 0;
    }
};

constexpr const char* kTooSlow = "this machine is too busy to type before the box has been read";

/// Returns a box that was typed into while its user cannot have read it; null when this machine
/// never was fast enough.
template <class Type>
std::unique_ptr<Asked> typedUnread(const Type& type) {
    return test::doneWithin(LeftRunsBox::kUnreadMs, [&type]() -> std::unique_ptr<Asked> {
        auto asked = std::make_unique<Asked>();
        if (!test::isActive(asked->box)) return nullptr;
        type(*asked);
        return asked;
    });
}

} // namespace

void TestLeftRunsBox::keysThatWereMeantForTheWindow_data() {
    QTest::addColumn<QList<int>>("keys");
    QTest::newRow("play") << QList<int>{Qt::Key_Space};
    QTest::newRow("move, play") << QList<int>{Qt::Key_Right, Qt::Key_Space};
    QTest::newRow("another box, play") << QList<int>{Qt::Key_Tab, Qt::Key_Space};
    QTest::newRow("return") << QList<int>{Qt::Key_Tab, Qt::Key_Return};
}

void TestLeftRunsBox::keysThatWereMeantForTheWindow() {
    QFETCH(const QList<int>, keys);
    const auto asked = typedUnread([&keys](Asked& box) {
        for (const int key : keys)
            box.type(key);
    });
    if (!asked) QSKIP(kTooSlow);
    QCOMPARE(asked->answer(), 0);
    QVERIFY(asked->box->button(QMessageBox::Open)->hasFocus() || !asked->box->isActiveWindow());
}

void TestLeftRunsBox::lettersDoNotAnswer() {
    Asked asked;
    QTest::qWait(LeftRunsBox::kUnreadMs + 100);
    for (const int key : {Qt::Key_D, Qt::Key_R, Qt::Key_N, Qt::Key_1})
        for (const Qt::KeyboardModifier with : {Qt::NoModifier, Qt::ShiftModifier})
            asked.type(key, with);
    QCOMPARE(asked.answer(), 0);
}

void TestLeftRunsBox::shortcutsWaitUntilItIsRead() {
    const auto asked = typedUnread([](Asked& box) { box.type(Qt::Key_D, Qt::AltModifier); });
    if (!asked) QSKIP(kTooSlow);
    QCOMPARE(asked->answer(), 0);
    QTest::qWait(LeftRunsBox::kUnreadMs);
    asked->type(Qt::Key_D, Qt::AltModifier);
    QCOMPARE(asked->finalAnswer(), int{QMessageBox::Discard});
}

void TestLeftRunsBox::keysAnswerOnceItIsRead_data() {
    QTest::addColumn<int>("key");
    QTest::addColumn<int>("answer");
    QTest::newRow("Space, on the first button") << int{Qt::Key_Space} << int{QMessageBox::Open};
    QTest::newRow("Return") << int{Qt::Key_Return} << int{QMessageBox::Open};
    QTest::newRow("Esc") << int{Qt::Key_Escape} << int{QMessageBox::Cancel};
}

void TestLeftRunsBox::keysAnswerOnceItIsRead() {
    QFETCH(const int, key);
    QFETCH(const int, answer);
    Asked asked;
    QTest::qWait(LeftRunsBox::kUnreadMs + 100);
    asked.type(key);
    QCOMPARE(asked.finalAnswer(), answer);
}

void TestLeftRunsBox::speaksOfOneRunOrMore() {
    using Why = LeftRunsBox::Why;
    LeftRunsBox one({QStringLiteral("Overflow, 227 steps")}, Why::Crashed, nullptr);
    QVERIFY2(one.text().contains(QStringLiteral("This run was")), qPrintable(one.text()));
    QCOMPARE(one.button(QMessageBox::Discard)->text(), QStringLiteral("&Delete it"));
    LeftRunsBox many(QStringList(9, QStringLiteral("Overflow, 227 steps")), Why::Crashed, nullptr);
    QVERIFY2(many.text().contains(QStringLiteral("runs were")), qPrintable(many.text()));
    QCOMPARE(many.button(QMessageBox::Discard)->text(), QStringLiteral("&Delete them"));
    QCOMPARE(many.informativeText().count(u'\n'), qsizetype(6)); // the last tells of more
}

void TestLeftRunsBox::countsTheRunsThatItDoesNotName() {
    QStringList runs;
    for (int i = 1; i <= 8; ++i)
        runs << QStringLiteral("Run %1").arg(i);
    const LeftRunsBox eight(runs, LeftRunsBox::Why::Kept, nullptr);
    QVERIFY2(eight.informativeText().endsWith(QStringLiteral("Run 6\nand 2 more")),
             qPrintable(eight.informativeText()));
    const LeftRunsBox six(runs.mid(0, 6), LeftRunsBox::Why::Kept, nullptr);
    QVERIFY(six.informativeText().endsWith(QStringLiteral("\nRun 6")));
}

void TestLeftRunsBox::speaksOfNoAccidentWhereRunsWereKept() {
    using Why = LeftRunsBox::Why;
    const QString run = QStringLiteral("Overflow, 227 steps");
    QCOMPARE(LeftRunsBox({run}, Why::Kept, nullptr).text(),
             QStringLiteral("You kept this run when you closed Halfscope:"));
    const QString many = LeftRunsBox({run, run}, Why::Kept, nullptr).text();
    QVERIFY2(many.startsWith(QStringLiteral("You kept these ")), qPrintable(many));
    QCOMPARE(LeftRunsBox({run}, Why::ToldToEnd, nullptr).text(),
             QStringLiteral("Halfscope was told to close before this run was saved:"));
    const QString various = LeftRunsBox({run, run}, Why::Various, nullptr).text();
    QVERIFY2(various.endsWith(QStringLiteral("runs of earlier windows were not saved:")),
             qPrintable(various));
}

void TestLeftRunsBox::tellsOneSessionOnce() {
    using Why = LeftRunsBox::Why;
    const QString run = QStringLiteral("Overflow, 227 steps"),
                  begun = QStringLiteral("begun today at 13:43");
    const auto text = [&](const QStringList& runs, Why why) {
        return LeftRunsBox(runs, why, nullptr, begun).text();
    };
    QCOMPARE(
        text({run}, Why::Crashed),
        QStringLiteral("Halfscope ended unexpectedly in the session begun today at 13:43. This "
                       "run was not saved:"));
    QCOMPARE(text({run}, Why::Kept),
             QStringLiteral("In the session begun today at 13:43, you kept this run when you "
                            "closed Halfscope:"));
    for (const Why why : {Why::Crashed, Why::Kept, Why::ToldToEnd}) {
        const QString many = text({run, run}, why);
        QVERIFY2(many.contains(QStringLiteral("in the session begun today at 13:43"),
                               Qt::CaseInsensitive) &&
                     many.contains(QStringLiteral("runs")),
                 qPrintable(many));
    }
}

} // namespace tst_left_runs_box

QTEST_MAIN(tst_left_runs_box::TestLeftRunsBox)
#include "tst_left_runs_box.moc"
