// The folder of a stranger's run: whatever its files say is shown as plain text, in the available
// room. Every label, tool tip and list of the window is checked, not only those that are known to
// show something.
#include "tests/support/saved_run_parts.h"
#include "tests/support/served_events.h"
#include "ui/panels/runs_panel.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QMessageBox>
#include <QStatusBar>
#include <QTimer>
#include <QToolTip>

namespace tst_hostile_run {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 12;

/// Puts this text wherever a file of the run may contain text.
void spoil(const QString& folder, const QString& text) {
    const std::string words = text.toStdString();
    Json experiment = Json::parse(contentOf(folder, "experiment.json"));
    experiment["title"] = text.simplified().toStdString();
    put(folder, "experiment.json", experiment.dump());
    Json summary = Json::parse(contentOf(folder, "summary.json"));
    summary["device"]["name"] = summary["device"]["libraries"] = words;
    summary["versions"] = {{"halfscope", words}, {"compiler", words}};
    put(folder, "summary.json", summary.dump());
    std::string quoted = words;
    for (size_t at = 0; (at = quoted.find('"', at)) != quoted.npos; at += 2)
        quoted.insert(at, 1, '"');
    std::string events = contentOf(folder, "events.csv");
    events = events.substr(0, events.find('\n') + 1);
    for (const char* kind : {"overflow", "edit", "loss-not-finite"})
        events += "3,amp-fp16," + std::string(kind) + ",65536,32768,\"" + quoted + "\",\"" +
                  quoted + "\"\n";
    put(folder, "events.csv", events);
    std::string steps = contentOf(folder, "steps.csv"), wider;
    for (size_t at = 0, line = 0; at < steps.size(); ++line) {
        const size_t end = steps.find('\n', at);
        const std::string column = quoted.substr(0, 99);
        wider += steps.substr(at, end - at) + (line == 0 ? ",\"" + column + '"' : ",0.5") + '\n';
        at = end + 1;
    }
    put(folder, "steps.csv", wider);
}

bool turnsDirection(const QString& text) {
    return std::any_of(text.begin(), text.end(), [](QChar c) {
        return (c >= QChar(0x202A) && c <= QChar(0x202E)) ||
               (c >= QChar(0x2066) && c <= QChar(0x2069));
    });
}

/// Shows also what is hidden until somebody asks for it.
void showEverything(MainWindow& window) {
    window.runs().refresh();
    window.findChild<RunsPanel*>()->show();
    for (auto* view : window.findChildren<QAbstractItemView*>())
        if (!view->isWindow() && !view->parentWidget()->isWindow()) view->setVisible(true);
    test::serveEvents(100);
}

/// Returns the least size that the parts of the window ask for.
QSize leastSize(MainWindow& window) {
    return window.findChild<QWidget*>(QStringLiteral("page"))->minimumSizeHint();
}

/// Names the parts that ask for the most room, outermost first.
QString widestOf(MainWindow& window) {
    QStringList names;
    const QWidget* part = window.findChild<QWidget*>(QStringLiteral("page"));
    while (part) {
        const QWidget* widest = nullptr;
        for (const auto* child : part->findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
            if (!child->isWindow() && !child->isHidden() &&
                (!widest || child->minimumSizeHint().width() > widest->minimumSizeHint().width()))
                widest = child;
        part = widest;
        if (part)
            names << QStringLiteral("%1 %2 %3")
                         .arg(part->metaObject()->className(), part->objectName())
                         .arg(part->minimumSizeHint().width());
    }
    return names.join(QStringLiteral(" > "));
}

/// Returns the tip that is shown when the pointer rests there.
QString tipOf(QWidget& widget, const QPoint& at) {
    QToolTip::hideText();
    test::serveEvents(0);
    QHelpEvent event(QEvent::ToolTip, at, widget.mapToGlobal(at));
    QApplication::sendEvent(&widget, &event);
    return QToolTip::isVisible() ? QToolTip::text() : QString();
}

/// Returns all tips of a list: of its entries and of its headings.
QStringList tipsOf(QAbstractItemView& view) {
    QStringList tips;
    const auto* model = view.model();
    for (int row = 0; model && row < std::min(model->rowCount(view.rootIndex()), 50); ++row)
        for (int column = 0; column < model->columnCount(view.rootIndex()); ++column) {
            const QRect place = view.visualRect(model->index(row, column, view.rootIndex()));
            if (!place.isEmpty()) tips << tipOf(*view.viewport(), place.center());
        }
    return tips;
}

/// Returns everything that the window says anywhere.
QStringList textsOf(MainWindow& window) {
    QStringList texts{window.windowTitle(), window.statusBar()->currentMessage()};
    for (const QLabel* label : window.findChildren<QLabel*>())
        texts << label->text();
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>())
        texts << button->text();
    for (const QAction* action : window.findChildren<QAction*>())
        texts << action->text();
    for (const QWidget* widget : window.findChildren<QWidget*>())
        texts << widget->accessibleName() << widget->accessibleDescription();
    for (const QAbstractItemView* view : window.findChildren<QAbstractItemView*>())
        for (int row = 0; view->model() && row < view->model()->rowCount(); ++row)
            for (int column = 0; column < view->model()->columnCount(); ++column)
                texts << view->model()->index(row, column).data().toString();
    return texts;
}

} // namespace

class TestHostileRun : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void isShownAsPlainText_data();
    void isShownAsPlainText();
    void questionsArePlain();
    void errorsArePlain();
    void fileNamesArePlain();

private:
    QString spoilt(const QString& text) {
        const QString folder = copyOf(m_results, m_folder.filePath(QString::number(++m_copies)));
        spoil(folder, text);
        return folder;
    }
    QTemporaryDir m_folder;
    QString m_results;
    QSize m_least; ///< of a window with an ordinary run
    int m_copies = 0;
};

void TestHostileRun::initTestCase() {
    m_results = m_folder.filePath(QStringLiteral("results"));
    trainElsewhere(m_results, skippingConfig(kSteps));
    MainWindow window;
    window.show();
    QVERIFY(window.tryFile(m_results));
    QVERIFY(showsSaved(window));
    showEverything(window);
    m_least = leastSize(window);
}

void TestHostileRun::isShownAsPlainText_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("picture") << "<img src='file:///dev/zero' width=60000 height=60000>";
    QTest::newRow("bold") << "<b>bold</b><br>new line";
    QTest::newRow("wide") << "<table width=60000><tr><td>x</td></tr></table>";
    QTest::newRow("rich") << "<qt><h1>large</h1></qt>";
    QTest::newRow("long") << QString(190, u'W');
    QTest::newRow("direction") << QStringLiteral("name\u202Egnp.exe\u2066");
    QTest::newRow("mnemonics") << "&File & %1 %2 %n";
}

void TestHostileRun::isShownAsPlainText() {
    QFETCH(QString, text);
    MainWindow window;
    window.show();
    QVERIFY2(window.tryFile(spoilt(text)), qPrintable(window.bannerText()));
    QVERIFY2(showsSaved(window), qPrintable(window.bannerText()));
    showEverything(window);

    for (const QLabel* label : window.findChildren<QLabel*>()) {
        // labels with figures only, and one whose names are escaped
        const QStringList styled{QStringLiteral("speeds"), QStringLiteral("largeFigures"),
                                 QStringLiteral("runLegend")};
        const bool own = styled.contains(label->objectName());
        QVERIFY2(label->textFormat() == Qt::PlainText || own, qPrintable(label->text()));
        QVERIFY2(!own || !label->text().contains(text), qPrintable(label->text()));
    }
    int shown = 0;
    const auto check = [&](const QString& tip) {
        shown += tip.contains(text.left(20)) || tip.contains(text.left(20).toHtmlEscaped());
        const bool asMarkup = Qt::mightBeRichText(tip) && tip.contains(text);
        QVERIFY2(!asMarkup || !Qt::mightBeRichText(text), qPrintable(tip));
        QVERIFY2(!turnsDirection(tip), qPrintable(tip));
    };
    for (QWidget* widget : window.findChildren<QWidget*>()) {
        if (widget->isHidden()) continue;
        if (auto* view = qobject_cast<QAbstractItemView*>(widget))
            for (const QString& tip : tipsOf(*view))
                check(tip);
        check(tipOf(*widget, widget->rect().center()));
    }
    if (!turnsDirection(text)) QVERIFY2(shown > 3, qPrintable(QString::number(shown)));
    for (const QString& each : textsOf(window))
        QVERIFY2(!turnsDirection(each), qPrintable(each));
    const QSize least = leastSize(window);
    constexpr int kName = 160; // the longest name of a device beside that of the other run
    QVERIFY2(least.width() <= m_least.width() + kName && least.height() <= m_least.height(),
             qPrintable(QStringLiteral("%1 x %2, of %3")
                            .arg(least.width())
                            .arg(least.height())
                            .arg(widestOf(window))));
    const QString picture = qEnvironmentVariable("HALFSCOPE_HOSTILE_PICTURES");
    if (!picture.isEmpty())
        window.grab().save(QStringLiteral("%1/%2.png").arg(picture, QTest::currentDataTag()));
}

void TestHostileRun::questionsArePlain() {
    const QString text = QStringLiteral("<img src=x> <b>run</b>");
    MainWindow window;
    window.show();
    for (int i = 0; i < 2; ++i) {
        QVERIFY(window.tryFile(spoilt(text)));
        QVERIFY(showsSaved(window));
    }
    int asked = 0;
    QTimer answers;
    connect(&answers, &QTimer::timeout, this, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        ++asked;
        QVERIFY(box->text().contains(text));
        QCOMPARE(box->textFormat(), Qt::PlainText);
        box->reject();
    });
    answers.start(10);
    auto* panel = window.findChild<RunsPanel*>();
    panel->show();
    auto* table = panel->findChild<QAbstractItemView*>();
    for (int row = 0; row < table->model()->rowCount(); ++row) {
        table->setCurrentIndex(table->model()->index(row, 0));
        for (QAbstractButton* button : panel->findChildren<QAbstractButton*>())
            if (button->isEnabled() && button->text().contains(QLatin1String("elete")))
                button->click();
    }
    QVERIFY(asked > 0);
}

void TestHostileRun::errorsArePlain() {
    const QString folder = spoilt(QStringLiteral("fine"));
    std::string steps = contentOf(folder, "steps.csv");
    steps.insert(steps.find('\n') + 1, "<img src=x>\x1b[31m\xff,\"\xe2\x80\xae\"\n");
    put(folder, "steps.csv", steps); // damaged before its first row
    MainWindow window;
    window.show();
    QVERIFY(window.tryFile(folder));
    QTRY_VERIFY_WITH_TIMEOUT(!window.bannerText().isEmpty(), kPatience);
    const QString text = window.bannerText();
    QVERIFY2(text.contains(QLatin1String("<img src=x>\\u001b[31m\\xff")), qPrintable(text));
    QVERIFY(!turnsDirection(text));
    QVERIFY(text.size() < 3000);
    for (const QLabel* label : window.findChildren<QLabel*>())
        if (label->text() == text) QCOMPARE(label->textFormat(), Qt::PlainText);
}

void TestHostileRun::fileNamesArePlain() {
    const QString name = QStringLiteral("<b>x<img src=y>\u202Etxt.json");
    const QString path = write(m_folder, name, "{\"version\": 1}");
    MainWindow window;
    window.show();
    QVERIFY(window.tryFile(path));
    for (const QString& each : textsOf(window))
        QVERIFY2(!turnsDirection(each), qPrintable(each));
    QVERIFY(!window.tryFile(m_folder.filePath(QStringLiteral("<b>\u202Enone.json"))));
    QVERIFY2(window.bannerText().contains(QLatin1String("<b>\\u202enone.json")),
             qPrintable(window.bannerText()));
}

} // namespace tst_hostile_run

QTEST_MAIN(tst_hostile_run::TestHostileRun)
#include "tst_hostile_run.moc"
