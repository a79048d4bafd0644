// The dialogs by keyboard and for a screen reader: every control has a name, Tab leads to each of
// them and back to the first, Esc closes, and Enter does what the default button says.
#include "engine/core/error.h"
#include "tests/support/opened_window.h"
#include "ui/dialogs/help.h"
#include "ui/dialogs/help_dialog.h"
#include "ui/dialogs/layer_gradients_dialog.h"
#include "ui/dialogs/scale_dialog.h"
#include "ui/dialogs/types_dialog.h"
#include "ui/dialogs/verify_dialog.h"
#include "ui/look/text_fit.h"
#include "ui/look/theme.h"
#include "ui/models/typed_number.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDesktopServices>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPointer>
#include <QScopeGuard>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSplitter>
#include <QTableView>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTreeWidget>
#include <QUrl>

#include <map>
#include <memory>
#include <set>

namespace tst_dialogs {

using namespace halfscope;

namespace {

const char* const kDialogs[] = {"help", "questions", "about",  "verify",
                                "map",  "types",     "layers", "scale"};

/// Returns what a screen reader says about a control: its name or its text.
QString nameOfControl(const QWidget& widget) {
    if (!widget.accessibleName().isEmpty()) return widget.accessibleName();
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) return button->text();
    return {};
}

/// Returns the controls that Tab must reach.
std::set<QWidget*> stopsOf(QWidget& dialog) {
    std::set<QWidget*> stops;
    for (QWidget* each : dialog.findChildren<QWidget*>())
        if ((each->focusPolicy() & Qt::TabFocus) && each->isVisible() && each->isEnabled() &&
            !each->focusProxy() && each->window() == &dialog)
            stops.insert(each);
    return stops;
}

/// Returns where the links of a text lead, in the text's order.
QStringList linksOf(const QTextBrowser& text) {
    QStringList links;
    const QTextDocument& document = *text.document();
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it)
            if (const QString link = it.fragment().charFormat().anchorHref(); !link.isEmpty())
                links << link;
    return links;
}

/// Returns the heading at the top of the visible text.
QString headingAt(const QTextBrowser& text) {
    constexpr int kBelowTheEdge = 20; // pixels
    return text.cursorForPosition({kBelowTheEdge, kBelowTheEdge}).block().text();
}

} // namespace

class TestDialogs : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void init();
    void cleanup() { m_opened.reset(); }
    void walk_data();
    void walk();
    void escapeCloses_data() { walk_data(); }
    void escapeCloses();
    void typesByKeyboard();
    void layersFollowTheTraining();
    void wrongScaleStays();
    void presentScaleIsKept();
    void reasonsAreNotCut();
    void scalesAsTheyArePrinted_data();
    void scalesAsTheyArePrinted();
    void helpLeadsToItsParts();
    void helpLeavesTheWindow();
    void helpRemembersItsPlace();
    void helpGoesBack();
    void helpSearches();
    void helpShowsTwoLines();
    void helpShowsManyPlaces();
    void helpFollowsLinks();
    void helpAsksBeforeTheBrowser();
    void answersOpenExperiments();
    void linksReadInEitherTheme();

private:
    /// Opens a dialog as the user does, with a running window if the dialog needs one.
    QDialog* open(const QString& name);
    /// Receives the address that the program wanted to open in a browser.
    Q_INVOKABLE void browse(const QUrl& address) { m_browsed = address; }
    std::unique_ptr<Opened> m_opened;
    QUrl m_browsed;
};

void TestDialogs::init() {
    m_opened = std::make_unique<Opened>(tinyConfig(100));
    QVERIFY(reaches(m_opened->window, SessionState::Ready));
}

void TestDialogs::walk_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : kDialogs)
        QTest::newRow(name) << QString::fromLatin1(name);
}

QDialog* TestDialogs::open(const QString& name) {
    MainWindow& window = m_opened->window;
    if (name == QLatin1String("scale")) {
        auto dialog = std::make_unique<ScaleDialog>(QStringLiteral("B"), 1024, &window);
        dialog->open();
        return dialog.release();
    }
    const std::map<QString, QString> titles{{"help", "Help and"},      {"questions", "Questions"},
                                            {"about", "About"},        {"verify", "Verify"},
                                            {"map", "Map of two"},     {"types", "Number types"},
                                            {"layers", "Gradients by"}};
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text().remove(u'&').startsWith(titles.at(name))) action->trigger();
    const auto dialogs = window.findChildren<QDialog*>();
    return dialogs.isEmpty() ? nullptr : dialogs.back();
}

void TestDialogs::walk() {
    QFETCH(const QString, name);
    QDialog* dialog = open(name);
    QVERIFY(dialog);
    QVERIFY(!dialog->windowTitle().isEmpty());
    QApplication::setActiveWindow(dialog);
    QTRY_VERIFY(dialog->isActiveWindow());
    const std::set<QWidget*> stops = stopsOf(*dialog);
    QVERIFY(!stops.empty());
    for (const QWidget* stop : stops)
        QVERIFY2(!nameOfControl(*stop).isEmpty(), stop->metaObject()->className());
    std::set<QWidget*> reached;
    // in a text, Tab first moves from link to link
    const auto* text = dialog->findChild<QTextBrowser*>();
    const QString page = text ? text->document()->firstBlock().text() : QString();
    const size_t links = text ? static_cast<size_t>(linksOf(*text).size()) : 0;
    for (size_t i = 0; i < 2 * (stops.size() + links); ++i) {
        if (QWidget* now = dialog->focusWidget()) reached.insert(now);
        QTest::keyClick(dialog->focusWidget() ? dialog->focusWidget() : dialog, Qt::Key_Tab);
    }
    if (QWidget* now = dialog->focusWidget()) reached.insert(now);
    for (QWidget* stop : stops)
        QVERIFY2(reached.contains(stop), qPrintable(nameOfControl(*stop)));
    if (text) QCOMPARE(text->document()->firstBlock().text(), page); // only Return turns pages
}

void TestDialogs::escapeCloses() {
    QFETCH(const QString, name);
    QPointer<QDialog> dialog = open(name);
    QVERIFY(dialog);
    QTest::keyClick(dialog.data(), Qt::Key_Escape);
    QTRY_VERIFY(!dialog || !dialog->isVisible());
    // the window's own keys work again
    QVERIFY(m_opened->window.isEnabled());
}

void TestDialogs::typesByKeyboard() {
    auto* dialog = qobject_cast<TypesDialog*>(open(QStringLiteral("types")));
    QVERIFY(dialog);
    QTRY_VERIFY(dialog->model().rowCount() > 0);
    auto* table = dialog->findChild<QTableView*>();
    QVERIFY(table && table->hasFocus());
    // the first lane that casts has the cursor
    QTRY_COMPARE(table->currentIndex().column(), TypesModel::FirstLane + 1);
    const QString first = dialog->told();
    QVERIFY2(first.contains(QStringLiteral("linear in layer 0, lane B")), qPrintable(first));
    QTest::keyClick(table, Qt::Key_Down);
    QVERIFY(dialog->told() != first);
    QTest::keyClick(table, Qt::Key_Up);
    QTest::keyClick(table, Qt::Key_Tab);
    auto* type = dialog->findChild<QComboBox*>();
    for (int stop = 0; stop < 5 && dialog->focusWidget() != type; ++stop)
        QTest::keyClick(dialog->focusWidget(), Qt::Key_Tab);
    QCOMPARE(dialog->focusWidget(), type);
    QTest::keyClick(dialog->focusWidget(), Qt::Key_Down);
    QCOMPARE(m_opened->window.config().config().lanes[1].layers, std::string("layer 0=float32"));
    QTRY_VERIFY(dialog->told() != first);
}

void TestDialogs::layersFollowTheTraining() {
    QPointer<LayerGradientsDialog> dialog =
        qobject_cast<LayerGradientsDialog*>(open(QStringLiteral("layers")));
    QVERIFY(dialog);
    const LayerGradientsModel& model = dialog->model();
    QTRY_VERIFY(model.rowCount() > 0);
    QTRY_VERIFY2(dialog->heading().startsWith(QStringLiteral("Gradients after step 0, times")),
                 qPrintable(dialog->heading()));
    const auto cell = [&model](int row, int column) {
        return model.index(row, column).data().toString();
    };
    QCOMPARE(cell(0, LayerGradientsModel::Layer), QStringLiteral("layer 0"));
    QCOMPARE(cell(0, LayerGradientsModel::Error), QStringLiteral("–")); // float32's own
    QTRY_VERIFY(cell(1, LayerGradientsModel::Error).toDouble() > 0);
    QTRY_VERIFY2(dialog->summary().startsWith(QStringLiteral("B amp-fp16: ")),
                 qPrintable(dialog->summary()));
    QVERIFY(stepsTo(m_opened->window, 1));
    QTRY_VERIFY2(dialog->heading().startsWith(QStringLiteral("Gradients after step 1, times")),
                 qPrintable(dialog->heading()));
    auto* table = dialog->findChild<QTableView*>();
    table->setCurrentIndex(model.index(2, 0));
    QVERIFY(stepsTo(m_opened->window, 2));
    QTRY_VERIFY2(dialog->heading().startsWith(QStringLiteral("Gradients after step 2,")),
                 qPrintable(dialog->heading()));
    QCOMPARE(table->currentIndex().row(), 2);                  // the cursor stays where it is
    m_opened->window.shown().setScale(1, QStringLiteral("1")); // is one all the same
    QTRY_VERIFY2(dialog->heading().contains(QStringLiteral("times the loss scale (B: 1 = 2^0)")),
                 qPrintable(dialog->heading()));
    // its button leads to the types; once it is closed, nothing is counted for it
    for (auto* button : dialog->findChildren<QAbstractButton*>())
        if (button->text().contains(QStringLiteral("types by"))) button->click();
    QVERIFY(m_opened->window.findChild<TypesDialog*>());
    const QSignalSpy watched(dialog.data(), &LayerGradientsDialog::watched);
    QTest::keyClick(dialog.data(), Qt::Key_Escape);
    QVERIFY(dialog && !dialog->isVisible());
    QCOMPARE(watched.size(), 1);
    QCOMPARE(watched.front().front().toBool(), false);
}

void TestDialogs::wrongScaleStays() {
    auto* dialog = qobject_cast<ScaleDialog*>(open(QStringLiteral("scale")));
    QVERIFY(dialog);
    const QSignalSpy chosen(dialog, &ScaleDialog::chosen);
    auto* line = dialog->findChild<QLineEdit*>();
    const int height = dialog->sizeHint().height();
    for (const char* wrong : {"much", "0", "1e40", ""}) {
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Delete);
        QTest::keyClicks(line, QString::fromLatin1(wrong));
        QTest::keyClick(dialog, Qt::Key_Return);
        QVERIFY2(dialog->isVisible(), wrong);
        QCOMPARE(dialog->errorText(),
                 QStringLiteral("Allowed: a number above 0 and at most 3.4e+38"));
        QCOMPARE(line->accessibleDescription(), dialog->errorText());
        QCOMPARE(dialog->sizeHint().height(), height); // the buttons stay where they are
    }
    QCOMPARE(chosen.count(), 0);
    line->setText(QString());
    QTest::keyClicks(line, QStringLiteral("0")); // is judged before OK is pressed
    QVERIFY(dialog->errorText().isEmpty());
    QTRY_COMPARE(dialog->errorText(),
                 QStringLiteral("Allowed: a number above 0 and at most 3.4e+38"));
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("2^7"));
    QVERIFY(dialog->errorText().isEmpty());
    QTest::keyClick(dialog, Qt::Key_Return);
    QCOMPARE(chosen.count(), 1);
    QVERIFY(!dialog->isVisible());
}

/// What stands in the field reads like the card, and is the same scale when it is sent back.
void TestDialogs::presentScaleIsKept() {
    const std::pair<double, const char*> scales[] = {
        {0x1p-14, "2^-14"}, {1, "2^0"}, {65536, "2^16"}, {70000, "70000"}, {0.3, "0.3"}};
    for (const auto& [scale, text] : scales) {
        ScaleDialog dialog(QStringLiteral("B"), scale);
        const QSignalSpy chosen(&dialog, &ScaleDialog::chosen);
        QCOMPARE(dialog.findChild<QLineEdit*>()->text(), QString::fromLatin1(text));
        dialog.accept();
        QCOMPARE(chosen.count(), 1);
        QCOMPARE(std::get<double>(parseScale(chosen.front().front().toString())), scale);
    }
}

/// The longest reason is the one about commas.
void TestDialogs::reasonsAreNotCut() {
    auto* dialog = qobject_cast<ScaleDialog*>(open(QStringLiteral("scale")));
    QVERIFY(dialog);
    auto* line = dialog->findChild<QLineEdit*>();
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("0,001"));
    QTest::keyClick(dialog, Qt::Key_Return);
    QVERIFY2(dialog->errorText().contains(QStringLiteral("\nDecimals follow a point")),
             qPrintable(dialog->errorText()));
    dialog->resize(dialog->minimumSizeHint());
    QCoreApplication::processEvents();
    for (const QLabel* label : dialog->findChildren<QLabel*>())
        if (label->text() == dialog->errorText())
            QVERIFY2(label->height() >= heightOf(label->text(), label->font(), label->width()),
                     qPrintable(QString::number(label->height())));
}

void TestDialogs::scalesAsTheyArePrinted_data() {
    QTest::addColumn<QLocale>("locale");
    QTest::addColumn<QString>("typed");
    QTest::addColumn<double>("scale"); // 0: refused
    const QLocale english(QLocale::English, QLocale::UnitedStates);
    const QLocale german(QLocale::German, QLocale::Germany);
    QTest::newRow("grouped") << english << "32,768" << 32768.0;
    QTest::newRow("with spaces") << english << " 1,048,576 " << 1048576.0;
    QTest::newRow("with decimals") << english << "1,024.5" << 1024.5;
    QTest::newRow("plain") << english << "32768" << 32768.0;
    QTest::newRow("power") << english << "2^15" << 32768.0;
    QTest::newRow("a decimal comma") << english << "0,001" << 0.0;
    QTest::newRow("two digits") << english << "1,50" << 0.0;
    QTest::newRow("four digits") << english << "3,2768" << 0.0;
    QTest::newRow("four digits before") << english << "1024,576" << 0.0;
    QTest::newRow("nothing between") << english << "1,,024" << 0.0;
    QTest::newRow("not printed so") << QLocale::c() << "32,768" << 0.0;
    QTest::newRow("a point that groups") << german << "1.024" << 1.024;
}

void TestDialogs::scalesAsTheyArePrinted() {
    QFETCH(const QLocale, locale);
    QFETCH(const QString, typed);
    QFETCH(const double, scale);
    const auto before = qScopeGuard([] { QLocale::setDefault(QLocale::c()); });
    QLocale::setDefault(locale);
    double parsed = 0;
    try {
        parsed = std::get<double>(parseScale(typed));
    } catch (const InputError&) {
        QVERIFY(allowedScale(typed).contains(QStringLiteral("\nDecimals follow a point")));
    }
    QCOMPARE(parsed, scale);
    ConfigModel model;
    const QModelIndex index = model.index(model.rowOf("scaler.init_scale", 1));
    QCOMPARE(model.setData(index, typed), scale > 0); // likewise in a setting
}

/// Each place to which the window may lead is shown at the top, also the second time.
void TestDialogs::helpLeadsToItsParts() {
    HelpDialog help;
    help.resize(700, 400);
    auto* text = help.findChild<QTextBrowser*>();
    help.showPart(QLatin1String(kHelpMarks));
    const int marks = text->verticalScrollBar()->value();
    QVERIFY(marks > 0);
    QCOMPARE(headingAt(*text), QStringLiteral("Marks"));
    help.showPart(QLatin1String(kHelpKeys));
    QCOMPARE(headingAt(*text), QStringLiteral("Keyboard"));
    help.showPart(QLatin1String(kHelpMarks));
    QCOMPARE(text->verticalScrollBar()->value(), marks);
    help.showPart(QString()); // where it was left
    QCOMPARE(text->verticalScrollBar()->value(), marks);
    help.showPart(QStringLiteral("no such page"));
    QCOMPARE(text->verticalScrollBar()->value(), marks);
}

/// Beside the window, or else over the right of it: the window stays visible and usable.
void TestDialogs::helpLeavesTheWindow() {
    const QRect large(0, 0, 2560, 1440), usual(0, 0, 1366, 768), small(0, 0, 640, 400);
    const auto place = [](const QRect& window, const QRect& screen, const QRect& plots = {}) {
        return helpPlace(window, screen, plots);
    };
    QCOMPARE(place({100, 50, 1280, 800}, large).topLeft(), QPoint(1380, 50));
    QVERIFY(place({1270, 50, 1280, 800}, large).right() < 1270); // at its left
    for (const QRect& screen : {usual, small}) {
        const QRect over = place(screen, screen);
        QVERIFY(screen.contains(over));
        QVERIFY2(over.left() >= screen.width() / 2 - 8, qPrintable(QString::number(over.left())));
        QVERIFY(over.height() >= std::min(screen.height() - 36, 760));
    }
    const QRect plots(344, 400, 736, 368); // all of them stay in view, or most
    QVERIFY(place(usual, usual, plots).left() >= plots.left() + plots.width() * 85 / 100);
    QVERIFY(place(usual, usual, plots).width() >= 372);
    QCOMPARE(place(usual, usual, {300, 400, 600, 368}).left(), 900);
    HelpDialog help;
    help.resize(320, 360);
    help.show();
    const auto* halves = help.findChild<QSplitter*>();
    QCOMPARE(halves->orientation(), Qt::Vertical); // the list above the text
    QVERIFY(help.findChild<QTextBrowser*>()->height() > 150);
    help.resize(900, 600);
    QTRY_COMPARE(halves->orientation(), Qt::Horizontal);
}

/// Only a place that the user chose: the first one follows from the window.
void TestDialogs::helpRemembersItsPlace() {
    QVariantMap kept;
    HelpDialog first;
    first.show();
    first.savePlace(kept);
    HelpDialog unmoved;
    unmoved.restorePlace(kept);
    QCOMPARE(unmoved.geometry(), HelpDialog().geometry());
    const QSize given = first.size(), larger = given + QSize(40, 0);
    first.resize(larger);
    first.savePlace(kept);
    HelpDialog second;
    QVERIFY(second.size() != larger);
    second.restorePlace(kept);
    QCOMPARE(second.size(), larger);
    first.resize(given); // as it was: the earlier place must not come back
    QVariantMap later;
    first.savePlace(later);
    kept.insert(later); // as settings are kept
    HelpDialog third;
    third.restorePlace(kept);
    QCOMPARE(third.size(), given);
}

void TestDialogs::helpGoesBack() {
    HelpDialog help;
    help.resize(700, 400);
    help.showPart(QLatin1String(kHelpMarks));
    auto* text = help.findChild<QTextBrowser*>();
    const int marks = text->verticalScrollBar()->value();
    help.showPart(QLatin1String(kHelpKeys));
    const auto press = [&help](Qt::Key key) {
        QApplication::setActiveWindow(&help);
        QTest::keyClick(&help, key, Qt::AltModifier);
    };
    press(Qt::Key_Left);
    QCOMPARE(headingAt(*text), QStringLiteral("Marks"));
    QCOMPARE(text->verticalScrollBar()->value(), marks);
    press(Qt::Key_Right);
    QCOMPARE(headingAt(*text), QStringLiteral("Keyboard"));
    press(Qt::Key_Right); // nothing further there
    QCOMPARE(headingAt(*text), QStringLiteral("Keyboard"));
    press(Qt::Key_Left);
    press(Qt::Key_Left);
    QCOMPARE(headingAt(*text), QStringLiteral("Halfscope manual"));
}

/// Searches by keyboard: Ctrl+F, words, Enter, Down; an empty line brings the contents back.
void TestDialogs::helpSearches() {
    HelpDialog help;
    help.resize(700, 400);
    help.showPart(QString());
    QApplication::setActiveWindow(&help);
    QTRY_VERIFY(help.isActiveWindow());
    auto* text = help.findChild<QTextBrowser*>();
    auto* list = help.findChild<QTreeWidget*>();
    auto* line = help.findChild<QLineEdit*>();
    const int groups = list->topLevelItemCount();
    QTest::keyClick(text, Qt::Key_F, Qt::ControlModifier);
    QCOMPARE(help.focusWidget(), line);
    QTest::keyClicks(line, QStringLiteral("backoff factor"));
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(help.isVisible()); // Enter does not press Close
    QCOMPARE(help.focusWidget(), list);
    QCOMPARE(text->textCursor().selectedText().toLower(), QStringLiteral("backoff factor"));
    QVERIFY(text->viewport()->rect().contains(text->cursorRect()));
    const QString first = text->document()->toPlainText();
    QTest::keyClick(list, Qt::Key_End);
    QVERIFY(text->document()->toPlainText() != first); // on another page
    const auto says = [&help](const char* words) {
        const auto labels = help.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [words](const QLabel* label) {
            return label->isVisible() && label->text().contains(QLatin1String(words));
        });
    };
    QVERIFY(says("Places found: "));
    line->setText(QStringLiteral("nonexistentword backoff factor"));
    QTRY_VERIFY(says("No place has all of these words; these have the most."));
    QVERIFY(list->topLevelItemCount() > 0);
    line->setText(QStringLiteral("nonexistentword"));
    QTRY_VERIFY(says("Nothing found"));
    QCOMPARE(list->topLevelItemCount(), 0);
    QTest::keyClick(line, Qt::Key_Return);
    line->clear();
    QTRY_COMPARE(list->topLevelItemCount(), groups);
}

/// An excerpt that is longer than the list is wide has two lines; a short one has one.
void TestDialogs::helpShowsTwoLines() {
    HelpDialog help;
    help.resize(700, 400);
    help.showPart(QString());
    auto* list = help.findChild<QTreeWidget*>();
    help.findChild<QLineEdit*>()->setText(QStringLiteral("exit codes"));
    const auto first = [list] {
        const QTreeWidgetItem* page = list->topLevelItem(0);
        return page && page->childCount() > 0 ? page->child(0)->text(0) : QString();
    };
    QTRY_COMPARE(first(), QStringLiteral("Exit codes"));
    const QTreeWidgetItem* page = list->topLevelItem(0);
    const int one = list->visualItemRect(page->child(0)).height();
    help.findChild<QLineEdit*>()->setText(QStringLiteral("subnormal"));
    QTRY_VERIFY(first() != QStringLiteral("Exit codes"));
    page = list->topLevelItem(0);
    const int two = list->visualItemRect(page->child(0)).height();
    QVERIFY2(list->wordWrap() && two >= 2 * list->fontMetrics().lineSpacing() && one < two,
             qPrintable(QStringLiteral("%1, %2").arg(one).arg(two)));
}

/// Of a few rows above the text it would look as if a search had found no more.
void TestDialogs::helpShowsManyPlaces() {
    HelpDialog help;
    help.resize(380, 760);
    help.showPart(QString());
    auto* list = help.findChild<QTreeWidget*>();
    auto* line = help.findChild<QLineEdit*>();
    const int contents = list->height();
    line->setText(QStringLiteral("underflow"));
    const auto seen = [list] {
        int rows = 0;
        for (QTreeWidgetItemIterator it(list); *it; ++it)
            rows += (*it)->parent() && list->viewport()->rect().contains(list->visualItemRect(*it));
        return rows;
    };
    QTRY_VERIFY2(list->height() > 3 * contents / 2, qPrintable(QString::number(list->height())));
    QTRY_VERIFY2(seen() >= 5, qPrintable(QString::number(seen())));
    QVERIFY(help.findChild<QTextBrowser*>()->height() > 200);
    line->clear();
    QTRY_COMPARE(list->height(), contents);
}

void TestDialogs::helpFollowsLinks() {
    HelpDialog help;
    help.showPart(QStringLiteral("files"));
    auto* text = help.findChild<QTextBrowser*>();
    emit text->anchorClicked(QUrl(QStringLiteral("command-line.md#exit-codes")));
    QCOMPARE(text->document()->begin().text(), QStringLiteral("Command line"));
    for (const char* nowhere : {"file:///etc/hostname", "../../README.md", "http://localhost/"})
        emit text->anchorClicked(QUrl(QLatin1String(nowhere)));
    QCOMPARE(text->document()->begin().text(), QStringLiteral("Command line"));
}

/// The question contains the address, and only its button opens it.
void TestDialogs::helpAsksBeforeTheBrowser() {
    const QUrl address(QStringLiteral("https://pytorch.org/docs"));
    QDesktopServices::setUrlHandler(QStringLiteral("https"), this, "browse");
    HelpDialog help;
    help.showPart(QString());
    for (const auto answer : {QMessageBox::Cancel, QMessageBox::Open}) {
        emit help.findChild<QTextBrowser*>()->anchorClicked(address);
        QPointer<QMessageBox> box = help.findChild<QMessageBox*>();
        QVERIFY(box && box->isVisible());
        QVERIFY(box->informativeText().contains(address.toString()));
        QVERIFY(m_browsed.isEmpty());
        box->button(answer)->click();
        QTRY_VERIFY(!box);
    }
    QCOMPARE(m_browsed, address);
    QDesktopServices::unsetUrlHandler(QStringLiteral("https"));
}

/// The answer stays visible beside the experiment that it opens.
void TestDialogs::answersOpenExperiments() {
    auto* text = open(QStringLiteral("questions"))->findChild<QTextBrowser*>();
    QVERIFY(linksOf(*text).contains(QStringLiteral("preset:overflow")));
    emit text->anchorClicked(QUrl(QStringLiteral("preset:overflow")));
    QVERIFY(m_opened->window.windowTitle().startsWith(QStringLiteral("Overflow")));
    QVERIFY(text->isVisible());
}

/// This includes links that were written in the other theme's colour.
void TestDialogs::linksReadInEitherTheme() {
    auto* text = open(QStringLiteral("questions"))->findChild<QTextBrowser*>();
    text->verticalScrollBar()->setValue(text->verticalScrollBar()->maximum() / 2);
    const int left = text->verticalScrollBar()->value();
    for (const Theme theme : {Theme::Dark, Theme::Light}) {
        applyTheme(*qApp, theme);
        QCoreApplication::processEvents();
        QVERIFY(left > 0);
        QCOMPARE(text->verticalScrollBar()->value(), left);
        const QColor background = text->palette().color(QPalette::Base);
        int links = 0;
        const QTextDocument& document = *text->document();
        for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
            for (auto it = block.begin(); !it.atEnd(); ++it) {
                const QTextCharFormat format = it.fragment().charFormat();
                if (format.anchorHref().isEmpty()) continue;
                ++links;
                QVERIFY2(contrast(format.foreground().color(), background) >= 4.5,
                         qPrintable(it.fragment().text()));
            }
        QVERIFY(links > 8);
    }
}

} // namespace tst_dialogs

QTEST_MAIN(tst_dialogs::TestDialogs)
#include "tst_dialogs.moc"
