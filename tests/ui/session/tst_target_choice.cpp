// The column of a table that the user chooses to predict, and the settings that follow it.
#include "tests/support/array_files.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"
#include "ui/session/edit_history.h"
#include "ui/session/facts_reader.h"
#include "ui/session/target_choice.h"

#include "engine/settings/data_experiment.h"

#include <QApplication>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

namespace tst_target_choice {

using namespace halfscope;

namespace {

/// Houses: two columns of numbers, one of words, a price.
std::string houses() {
    std::string text = "area,city,rooms,price\n";
    for (int i = 0; i < 80; ++i)
        text += std::to_string(30 + i) + ".5," + (i % 3 ? "Bonn" : "Trier") + "," +
                std::to_string(i % 7) + "," + std::to_string(90000 + 2000 * i) + "\n";
    return text;
}

} // namespace

class TestTargetChoice : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void init();
    void theLossFollowsTheColumn();
    void oneUndoTakesItBack();
    void theButtonListsTheColumns();
    void longNamesAreCutInTheirMiddle();
    void wordsThatShipHaveColumns();
    void aWrongNameIsToldWhereItWasTyped();

private:
    /// Types into the setting's box, as far as Enter.
    void type(SetupPanel&, const QString& text);
    const TaskConfig& task() const { return m_model.config().task; }

    QTemporaryDir m_folder;
    ConfigModel m_model;
};

void TestTargetChoice::init() {
    const std::string path =
        writeBytes(m_folder.filePath(QStringLiteral("houses.csv")).toStdString(), houses());
    m_model.load(*experimentOn(path));
    QCOMPARE(task().loss.kind, LossKind::Mse);
    QVERIFY(task().standardiseTarget);
}

void TestTargetChoice::type(SetupPanel& panel, const QString& text) {
    auto* line = qobject_cast<QLineEdit*>(panel.editor("data.target")->control());
    QVERIFY(line);
    line->selectAll();
    QTest::keyClicks(line, text);
    QTest::keyClick(line, Qt::Key_Return);
}

void TestTargetChoice::theLossFollowsTheColumn() {
    TargetChoice choice(m_model);
    choice.choose(QStringLiteral("city"));
    QTRY_COMPARE(task().target, std::string("city"));
    QCOMPARE(task().loss.kind, LossKind::CrossEntropy);
    QVERIFY(!task().standardiseTarget);
    choice.choose(QStringLiteral("area")); // numbers of many values
    QTRY_COMPARE(task().target, std::string("area"));
    QCOMPARE(task().loss.kind, LossKind::Mse);
    choice.choose(QString()); // the last column
    QTRY_COMPARE(task().target, std::string());
    QVERIFY(task().standardiseTarget);
}

void TestTargetChoice::oneUndoTakesItBack() {
    EditHistory history(m_model);
    const std::string before = configText(m_model.config());
    TargetChoice choice(m_model);
    choice.choose(QStringLiteral("city"));
    QTRY_COMPARE(history.stack().count(), 1);
    QCOMPARE(history.stack().undoText(), QStringLiteral("Target column"));
    history.stack().undo();
    QCOMPARE(configText(m_model.config()), before);
    history.stack().redo();
    QCOMPARE(task().loss.kind, LossKind::CrossEntropy);
}

void TestTargetChoice::theButtonListsTheColumns() {
    SetupPanel panel(m_model);
    panel.show();
    FieldEditor* editor = panel.editor("data.target");
    auto* button = editor->findChild<QToolButton*>(QStringLiteral("browse"));
    QVERIFY(button);
    QCOMPARE(button->accessibleName(), QStringLiteral("Choose Target column"));
    button->click();
    QTRY_VERIFY(editor->findChild<QMenu*>());
    QStringList names;
    for (QAction* each : editor->findChild<QMenu*>()->actions()) {
        names << each->text();
        QCOMPARE(each->isChecked(), each->text() == QStringLiteral("price"));
    }
    QCOMPARE(names, QStringList({"area", "city", "rooms", "price"}));
    editor->findChild<QMenu*>()->actions()[1]->trigger();
    QTRY_COMPARE(task().loss.kind, LossKind::CrossEntropy);
    QCOMPARE(qobject_cast<QLineEdit*>(editor->control())->text(), QStringLiteral("city"));
}

/// A menu as wide as the longest name would not fit on the screen.
void TestTargetChoice::longNamesAreCutInTheirMiddle() {
    const QString name = QStringLiteral("first&") + QString(150, u'x') + QStringLiteral("_last");
    const std::string path = writeBytes(m_folder.filePath(QStringLiteral("long.csv")).toStdString(),
                                        name.toStdString() + ",b\n1,2\n3,4\n5,7\n");
    m_model.load(*experimentOn(path));
    SetupPanel panel(m_model);
    panel.show();
    FieldEditor* editor = panel.editor("data.target");
    editor->findChild<QToolButton*>(QStringLiteral("browse"))->click();
    QTRY_VERIFY(editor->findChild<QMenu*>());
    const auto* menu = editor->findChild<QMenu*>();
    QAction* action = menu->actions().front();
    QVERIFY2(action->text().startsWith("first&&x") && action->text().endsWith("x_last"),
             qPrintable(action->text()));
    QVERIFY(menu->sizeHint().width() < 800);
    QVERIFY(menu->toolTipsVisible());
    QCOMPARE(action->toolTip(), name);
    action->trigger();
    QTRY_COMPARE(task().target, name.toStdString());
}

/// The words that come with the program are a table, too, though no path names it.
void TestTargetChoice::wordsThatShipHaveColumns() {
    m_model.load(presetNamed("languages").config);
    SetupPanel panel(m_model);
    panel.show();
    TargetChoice choice(m_model);
    const QSignalSpy named(&choice, &TargetChoice::named);
    choice.readNames();
    QTRY_COMPARE(named.size(), 1);
    QCOMPARE(named.front().front().toStringList(), QStringList({"word", "language"}));
    QCOMPARE(panel.editor("data.target")->errorText(), QString());
    type(panel, QStringLiteral("origin"));
    QVERIFY2(panel.editor("data.target")->errorText().contains(QStringLiteral("word, language")),
             qPrintable(panel.editor("data.target")->errorText()));
    QCOMPARE(panel.editor("data.path")->errorText(), QString());
}

void TestTargetChoice::aWrongNameIsToldWhereItWasTyped() {
    SetupPanel panel(m_model);
    panel.show();
    FactsReader facts;
    connect(&facts, &FactsReader::changed, &panel, [this] { m_model.dataArrived(); });
    type(panel, QStringLiteral("cty"));
    QTRY_VERIFY(panel.editor("data.target")->errorText().contains(QStringLiteral("nearest one")));
    QCOMPARE(panel.editor("data.path")->errorText(), QString());
    type(panel, QStringLiteral("city"));
    QTRY_COMPARE(panel.editor("data.target")->errorText(), QString());
    QCOMPARE(task().loss.kind, LossKind::CrossEntropy);
}

} // namespace tst_target_choice

QTEST_MAIN(tst_target_choice::TestTargetChoice)
#include "tst_target_choice.moc"
