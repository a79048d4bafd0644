// The box of experiments: a menu in groups, by mouse and by keys, that reports what was chosen.
#include "engine/settings/fields.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "tests/support/stand_in_data.h"
#include "ui/panels/preset_box.h"

#include <QAbstractItemModel>
#include <QAction>
#include <QGuiApplication>
#include <QLibraryInfo>
#include <QMenu>
#include <QSignalSpy>
#include <QStyle>
#include <QStyleOptionComboBox>
#include <QTemporaryDir>
#include <QTest>
#include <QVersionNumber>
#include <QWheelEvent>

#include <algorithm>

namespace tst_preset_box {

using namespace halfscope;

namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }
QString text(const Phrase& words) { return QString::fromUtf8(words.text()); }

/// The menu's entry of a preset, and the submenu that contains it.
struct Place {
    QMenu* menu = nullptr;
    QAction* action = nullptr;
};
Place placeOf(const PresetBox& box, const Preset& preset) {
    QList<QMenu*> menus{box.menu()};
    for (QAction* entry : box.menu()->actions())
        if (entry->menu()) menus << entry->menu();
    for (QMenu* menu : menus)
        for (QAction* action : menu->actions())
            if (action->text() == text(preset.titleHere())) return {menu, action};
    return {};
}

QString marked(const PresetBox& box) {
    const QAction* active = box.menu()->activeAction();
    return active ? active->text() : QString();
}

/// Returns the menu that receives the keys.
QWidget* popup() { return QApplication::activePopupWidget(); }

} // namespace

class TestPresetBox : public QObject {
    Q_OBJECT
    QTemporaryDir m_home;

private slots:
    void initTestCase() { qputenv("XDG_DATA_HOME", m_home.path().toUtf8()); }
    void groups();
    void everyEntryChoosesItsPreset();
    void keysReachEveryGroup();
    void lettersReachTheNextEntry();
    void mouseReachesThePresentGroup();
    void titlesAreNotCut();
    void marksWhatIsOpen();
    void foreignExperiments();
    void wheelChangesNothing();
    void tellsWhatHasArrived(); // last: the data stay
};

/// Examples are listed at once, the other groups in submenus of their names, each entry with its
/// sentence.
void TestPresetBox::groups() {
    const PresetBox box;
    QStringList submenus, groups;
    for (QAction* entry : box.menu()->actions())
        if (entry->menu()) submenus << entry->text();
    int entries = 0;
    for (const Preset& preset : presets()) {
        const Place place = placeOf(box, preset);
        QVERIFY2(place.action, preset.name.c_str());
        QVERIFY(place.action->toolTip().contains(text(preset.aboutHere())));
        QVERIFY(place.menu->toolTipsVisible());
        const bool first = preset.group == presets().front().group;
        QCOMPARE(place.menu == box.menu(), first);
        if (!first) QCOMPARE(place.menu->title(), text(preset.group));
        if (!first && !groups.contains(text(preset.group))) groups << text(preset.group);
        ++entries;
    }
    QCOMPARE(submenus, groups);
    QCOMPARE(box.count(), entries);
    QCOMPARE(box.accessibleName(), QStringLiteral("Experiment"));
}

void TestPresetBox::everyEntryChoosesItsPreset() {
    PresetBox box;
    QSignalSpy chosen(&box, &PresetBox::chosen);
    for (const Preset& preset : presets()) {
        placeOf(box, preset).action->trigger();
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen.takeFirst().front().toString(), text(preset.name));
        QCOMPARE(box.currentText(), text(preset.titleHere()));
    }
    QVERIFY(chosen.isEmpty());
}

/// Each letter goes on from the entry that is marked, and round. Groups are marked like the others
/// and stay folded: they would take the letters that follow.
void TestPresetBox::lettersReachTheNextEntry() {
    PresetBox box;
    box.show();
    QVERIFY(test::isActive(&box));
    box.setFocus();
    QSignalSpy chosen(&box, &PresetBox::chosen);
    QTest::keyClick(&box, Qt::Key_Space);
    QTRY_COMPARE(popup(), box.menu());
    int groups = 0;
    for (char letter = 'a'; letter <= 'z'; ++letter) {
        QStringList own, met; // the entries that begin with the letter
        for (const QAction* entry : box.menu()->actions()) {
            if (!entry->text().startsWith(QLatin1Char(letter), Qt::CaseInsensitive)) continue;
            own << entry->text();
            groups += entry->menu() != nullptr;
        }
        if (own.isEmpty()) continue;
        for (qsizetype i = 0; i <= own.size(); ++i) {
            QTest::keyClick(popup(), letter);
            met << marked(box);
            QCOMPARE(popup(), box.menu());
        }
        std::rotate(own.begin(), own.begin() + own.indexOf(met.front()), own.end());
        QCOMPARE(met, own << own.front());
    }
    QVERIFY(groups > 1);
    QTest::keyClick(popup(), Qt::Key_T);
    const QString before = marked(box);
    QTest::keyClick(popup(), Qt::Key_T, Qt::ControlModifier);
    QCOMPARE(marked(box), before);
    QTest::keyClick(popup(), Qt::Key_Return);
    QTRY_COMPARE(chosen.size(), 1);
    QCOMPARE(box.currentText(), before);
    QTRY_VERIFY(!popup());
}

/// Space opens the menu at the present experiment, arrows move in it, Right enters a group, Enter
/// chooses.
void TestPresetBox::keysReachEveryGroup() {
    PresetBox box;
    box.show();
    QVERIFY(test::isActive(&box));
    box.setFocus();
    QSignalSpy chosen(&box, &PresetBox::chosen);
    QTest::keyClick(&box, Qt::Key_Space);
    QTRY_COMPARE(popup(), box.menu());
    QCOMPARE(marked(box), box.currentText());
    QTest::keyClick(popup(), Qt::Key_Up); // round to the last group
    QTest::keyClick(popup(), Qt::Key_Right);
    QTRY_VERIFY(popup() && popup() != box.menu());
    QTest::keyClick(popup(), Qt::Key_Up);
    QTest::keyClick(popup(), Qt::Key_Return);
    QTRY_COMPARE(chosen.size(), 1);
    QCOMPARE(chosen.front().front().toString(), text(presets().back().name));
    QTRY_VERIFY(!popup());
    // opened again: the group of the present one has the mark, and is entered like the others
    QTest::keyClick(&box, Qt::Key_F4);
    QTRY_COMPARE(popup(), box.menu());
    QCOMPARE(marked(box), QString());
    QTest::keyClick(popup(), Qt::Key_Escape);
    QTRY_VERIFY(!popup());
    QCOMPARE(chosen.size(), 1);
}

/// A submenu that opened with its menu would take no clicks.
void TestPresetBox::mouseReachesThePresentGroup() {
    if (QLibraryInfo::version() >= QVersionNumber(6, 8) &&
        QGuiApplication::platformName() == QLatin1String("offscreen"))
        QSKIP("from Qt 6.8 on, menus without a display do not follow a simulated mouse");
    PresetBox box;
    box.show();
    QVERIFY(test::isActive(&box));
    QSignalSpy chosen(&box, &PresetBox::chosen);
    const Preset& now = presetNamed("overflow");
    box.showExperiment(text(now.name), text(now.titleHere()));
    QMenu* group = placeOf(box, now).menu;
    QTest::mouseClick(&box, Qt::LeftButton);
    QTRY_COMPARE(popup(), box.menu());
    test::serveEvents(50);
    QVERIFY(!group->isVisible());
    const auto clickOn = [](QMenu& menu, QAction* entry) {
        const QPoint at = menu.actionGeometry(entry).center();
        for (int x : {-9, -6, -3, 0}) // a menu ignores the first moves
            QTest::mouseMove(&menu, at + QPoint(x, 0));
        QTest::mouseClick(&menu, Qt::LeftButton, {}, at);
    };
    clickOn(*box.menu(), group->menuAction());
    QTRY_COMPARE(popup(), group);
    QAction* other = group->actions().back();
    QVERIFY(!other->isChecked());
    clickOn(*group, other);
    QTRY_COMPARE(chosen.size(), 1);
    QCOMPARE(box.currentText(), other->text());
    QTRY_VERIFY(!popup());
}

void TestPresetBox::titlesAreNotCut() {
    PresetBox box;
    box.resize(box.sizeHint());
    QStyleOptionComboBox option;
    option.initFrom(&box);
    const QRect field = box.style()->subControlRect(QStyle::CC_ComboBox, &option,
                                                    QStyle::SC_ComboBoxEditField, &box);
    for (const Preset& preset : presets()) {
        const int wanted = box.fontMetrics().horizontalAdvance(text(preset.titleHere()));
        QVERIFY2(wanted <= field.width(), preset.titleHere().text());
    }
}

void TestPresetBox::marksWhatIsOpen() {
    PresetBox box;
    const QSignalSpy chosen(&box, &PresetBox::chosen);
    for (const Preset& preset : presets()) {
        box.showExperiment(text(preset.name), text(preset.titleHere()));
        for (const Preset& other : presets())
            QCOMPARE(placeOf(box, other).action->isChecked(), other.name == preset.name);
        const QMenu* inside = placeOf(box, preset).menu;
        for (const QAction* entry : box.menu()->actions())
            if (entry->menu()) QCOMPARE(entry->isChecked(), entry->menu() == inside);
        QVERIFY(box.toolTip().contains(text(preset.aboutHere())));
        QCOMPARE(box.accessibleDescription(), text(preset.aboutHere()));
    }
    QVERIFY(chosen.isEmpty());
}

void TestPresetBox::foreignExperiments() {
    PresetBox box;
    const int count = box.count();
    for (const char* title : {"mine", "yours"}) {
        box.showExperiment({}, QString::fromLatin1(title));
        QCOMPARE(box.currentText(), QString::fromLatin1(title));
        QCOMPARE(box.count(), count + 1);
        for (const Preset& preset : presets())
            QVERIFY(!placeOf(box, preset).action->isChecked());
    }
    box.showExperiment(QStringLiteral("overflow"), QStringLiteral("Overflow"));
    QCOMPARE(box.currentText(), QStringLiteral("Overflow"));
    QCOMPARE(box.count(), count);
}

void TestPresetBox::wheelChangesNothing() {
    PresetBox box;
    box.show();
    const QSignalSpy chosen(&box, &PresetBox::chosen);
    QWheelEvent down(QPointF(5, 5), box.mapToGlobal(QPointF(5, 5)), {}, QPoint(0, -120),
                     Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&box, &down);
    QCOMPARE(box.currentIndex(), 0);
    QVERIFY(chosen.isEmpty());
}

/// A preset that lacked its data has another name and sentence once they were fetched.
void TestPresetBox::tellsWhatHasArrived() {
    const auto about = [] { return text(presetNamed("fashion-cnn").aboutHere()); };
    const QString without = about();
    if (presetNamed("fashion-cnn").otherTitle.empty()) QSKIP("Debian's package is installed");
    PresetBox box;
    box.show();
    QVERIFY(test::isActive(&box));
    QAction* action = placeOf(box, presetNamed("fashion-cnn")).action;
    QCOMPARE(action->text(), QStringLiteral("Clothes (now digits)"));
    HttpServer server;
    const PublicData clothes = standIn("fashion-mnist", "clothes", server);
    serve(server, clothes, {"clothes"});
    getData(clothes, usualFolder(clothes), {});
    QVERIFY(about() != without);
    box.showPopup();
    QTRY_COMPARE(popup(), box.menu());
    QCOMPARE(action->text(), QStringLiteral("Clothes, convolutions"));
    QCOMPARE(action->toolTip(), about());
    QTest::keyClick(popup(), Qt::Key_Escape);
    QTRY_VERIFY(!popup());
    box.showExperiment(QStringLiteral("fashion-cnn"), QStringLiteral("Clothes, convolutions"));
    QCOMPARE(box.currentText(), QStringLiteral("Clothes, convolutions"));
    QCOMPARE(box.accessibleDescription(), about());
}

} // namespace tst_preset_box

QTEST_MAIN(tst_preset_box::TestPresetBox)
#include "tst_preset_box.moc"
