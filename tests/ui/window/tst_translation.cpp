// The window in another language: a stand-in for a translation puts brackets around every text that
// is looked up, so any words without brackets bypassed the translation.
#include "engine/runs/run_writer.h"
#include "engine/scaler/scaler_presets.h"
#include "engine/settings/fields.h"
#include "engine/settings/model_settings.h"
#include "engine/train/experiment.h"
#include "tests/support/opened_window.h"
#include "tests/support/train_into.h"
#include "ui/dialogs/model_dialog.h"
#include "ui/dialogs/scale_dialog.h"
#include "ui/dialogs/sweep_dialog.h"
#include "ui/models/translated.h"
#include "ui/models/typed_number.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QRegularExpression>
#include <QSpinBox>
#include <QTabWidget>
#include <QTextBrowser>
#include <QTranslator>
#include <QTreeWidget>
#include <qcustomplot.h>

#include <functional>
#include <set>

namespace tst_translation {

using namespace halfscope;

namespace {

const QChar kOpen(0x27E6), kClose(0x27E7);

/// Puts every text in brackets. Qt's names of keys are left alone, because shortcuts are read from
/// them.
class Brackets : public QTranslator {
public:
    QString translate(const char* context, const char* text, const char*, int) const override {
        if (std::string_view(context) == "QShortcut") return {};
        return kOpen + QString::fromUtf8(text) + kClose;
    }
    bool isEmpty() const override { return false; }
};

/// Returns the text outside of brackets.
QString outside(const QString& text) {
    QString rest;
    int depth = 0;
    for (const QChar c : text) {
        if (c == kOpen) ++depth;
        if (depth == 0) rest += c;
        if (c == kClose) --depth;
    }
    return rest;
}

QString withoutBrackets(QString text) { return text.remove(kOpen).remove(kClose); }

/// Returns the words of a text in small letters, without tags of rich text.
QStringList wordsOf(QString text) {
    static const QRegularExpression tags(QStringLiteral("<[^>]*>|&[a-z]+;"));
    static const QRegularExpression word(QStringLiteral("[A-Za-z]{2,}"));
    text.remove(tags).remove(u'&');
    QStringList words;
    for (auto at = word.globalMatch(text); at.hasNext();)
        words << at.next().captured().toLower();
    return words;
}

/// Returns words that are the same in every language: keys and choices of settings, names of
/// formats and files, and this machine's names.
std::set<QString> properWords(MainWindow& window) {
    std::set<QString> words;
    const auto add = [&words](const std::string& text) {
        for (const QString& word : wordsOf(QString::fromStdString(text)))
            words.insert(word);
    };
    for (const Field& field : fieldTable()) {
        add(field.key);
        for (const std::string& choice : field.choices)
            add(choice);
    }
    for (const char* each :
         {"nan inf fp", "true false", "png svg json csv html", "Halfscope small"})
        add(each);
    if (const auto info = window.controller().info()) add(info->device.name);
    add("thread threads"); // in a processor's name
    return words;
}

/// Everything that a widget, its actions and its items show or say.
class Texts {
public:
    void add(const QString& where, const QString& text) {
        if (!text.isEmpty()) m_all.emplace_back(where, text);
    }
    void addAll(QWidget& top) {
        addWidget(top);
        for (QWidget* widget : top.findChildren<QWidget*>())
            addWidget(*widget);
        for (QAction* action : top.findChildren<QAction*>()) {
            const QString where = QStringLiteral("action ") + action->text();
            for (const QString& text : {action->text(), action->toolTip(), action->statusTip()})
                add(where, text);
        }
    }
    const std::vector<std::pair<QString, QString>>& all() const { return m_all; }

private:
    void addWidget(QWidget& widget) {
        const QString where =
            QString::fromLatin1(widget.metaObject()->className()) + u' ' + widget.objectName();
        for (const QString& text :
             {widget.windowTitle(), widget.toolTip(), widget.statusTip(), widget.whatsThis(),
              widget.accessibleName(), widget.accessibleDescription()})
            add(where, text);
        if (auto* label = qobject_cast<QLabel*>(&widget)) add(where, label->text());
        if (auto* button = qobject_cast<QAbstractButton*>(&widget)) add(where, button->text());
        if (auto* group = qobject_cast<QGroupBox*>(&widget)) add(where, group->title());
        if (auto* line = qobject_cast<QLineEdit*>(&widget)) add(where, line->placeholderText());
        if (auto* text = qobject_cast<QPlainTextEdit*>(&widget))
            add(where, text->placeholderText());
        if (auto* bar = qobject_cast<QProgressBar*>(&widget)) add(where, bar->format());
        if (auto* menu = qobject_cast<QMenu*>(&widget)) add(where, menu->title());
        if (auto* spin = qobject_cast<QSpinBox*>(&widget))
            for (const QString& text : {spin->prefix(), spin->suffix(), spin->specialValueText()})
                add(where, text);
        if (auto* tabs = qobject_cast<QTabWidget*>(&widget))
            for (int i = 0; i < tabs->count(); ++i)
                add(where, tabs->tabText(i));
        if (auto* combo = qobject_cast<QComboBox*>(&widget))
            for (int i = 0; i < combo->count(); ++i)
                for (const int role : {Qt::DisplayRole, Qt::ToolTipRole})
                    add(where, combo->itemData(i, role).toString());
        auto* view = qobject_cast<QAbstractItemView*>(&widget);
        const bool ofCombo = view && view->parentWidget() && // its items are known
                             view->parentWidget()->inherits("QComboBoxPrivateContainer");
        if (view && view->model() && !ofCombo && !qobject_cast<QHeaderView*>(view))
            addModel(where, *view->model());
        if (auto* plot = qobject_cast<QCustomPlot*>(&widget))
            for (const QCPAxisRect* rect : plot->axisRects())
                for (const QCPAxis* axis : rect->axes())
                    add(where, axis->label());
    }
    void addModel(const QString& where, const QAbstractItemModel& model) {
        constexpr int kMostRows = 200;
        for (int column = 0; column < model.columnCount(); ++column) {
            for (const int role : {Qt::DisplayRole, Qt::ToolTipRole})
                add(where, model.headerData(column, Qt::Horizontal, role).toString());
            for (int row = 0; row < std::min(model.rowCount(), kMostRows); ++row)
                for (const int role :
                     {Qt::DisplayRole, Qt::ToolTipRole, Qt::AccessibleDescriptionRole})
                    add(where, model.index(row, column).data(role).toString());
        }
    }

    std::vector<std::pair<QString, QString>> m_all; ///< where, and the text
};

/// Returns the texts that have a word outside of brackets, with the widget that has them.
QStringList strays(const Texts& texts, const std::set<QString>& proper) {
    QStringList found;
    for (const auto& [where, text] : texts.all()) {
        QStringList words;
        for (const QString& word : wordsOf(outside(text)))
            if (!proper.contains(word)) words << word;
        const QString line = QStringLiteral("%1: \"%2\"").arg(where, text.left(200));
        if (!words.isEmpty() && !found.contains(line)) found << line;
    }
    return found;
}

/// Returns a run with skipped steps, growths and an edit.
RunConfig eventfulConfig() {
    RunConfig config = tinyConfig(40);
    ScalerConfig& scaler = config.lanes[1].scaler;
    scaler.initScale = 1e9;
    scaler.rules.growthInterval = 5;
    return config;
}

} // namespace

class TestTranslation : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void window();
    void dialogs_data();
    void dialogs();
    void refusals_data();
    void refusals();
    void refusalsInTheWindow();
    void events();
    void skips();
    void filesStayEnglish();

private:
    Brackets m_brackets;
};

void TestTranslation::initTestCase() {
    QLocale::setDefault(QLocale::c());
    QVERIFY(QCoreApplication::installTranslator(&m_brackets));
}

/// Before, while and after it trains, and with each of the experiments that come with the program.
void TestTranslation::window() {
    Opened opened(eventfulConfig());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    Texts texts;
    texts.addAll(window);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    window.config().setData(window.config().index(window.config().rowOf("run.steps")), "50");
    window.stepOnce();
    QVERIFY(reaches(window, SessionState::Paused));
    QTRY_VERIFY(window.events().rowCount() > 3);
    window.config().setData(window.config().index(window.config().rowOf("model.width")), "0");
    texts.addAll(window);
    for (const Preset& preset : presets()) {
        window.openPreset(QString::fromStdString(preset.name));
        texts.addAll(window);
    }
    QTRY_VERIFY_WITH_TIMEOUT(window.controller().info(), kPatience);
    const std::set<QString> proper = properWords(window);
    const QStringList found = strays(texts, proper);
    QVERIFY2(found.isEmpty(), qPrintable(u'\n' + found.join(u'\n')));
    QVERIFY(texts.all().size() > 500);
}

void TestTranslation::dialogs_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"Help and", "Questions", "About", "Verify", "Map of", "Number types",
                             "scale", "sweep", "model"})
        QTest::newRow(name) << QString::fromLatin1(name);
}

void TestTranslation::dialogs() {
    QFETCH(const QString, name);
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    std::unique_ptr<QDialog> own;
    if (name == QLatin1String("scale"))
        own = std::make_unique<ScaleDialog>(QStringLiteral("B"), 1024);
    if (name == QLatin1String("sweep")) own = std::make_unique<SweepDialog>(tinyConfig(10));
    RunConfig wrong = tinyConfig(10);
    wrong.model.layers = "Linear(3, 4)";
    if (name == QLatin1String("model")) own = std::make_unique<ModelDialog>(wrong);
    QDialog* dialog = own.get();
    if (!own) {
        for (QAction* action : window.findChildren<QAction*>())
            if (withoutBrackets(action->text()).remove(u'&').startsWith(name)) action->trigger();
        dialog = window.findChildren<QDialog*>().value(0);
    }
    QVERIFY(dialog);
    for (QTextBrowser* page : dialog->findChildren<QTextBrowser*>())
        page->setAccessibleDescription(QString()); // pages of the manual have files of their own
    for (auto* names : dialog->findChildren<QTreeWidget*>())
        if (dialog->findChild<QTextBrowser*>()) names->clear(); // and so do their names
    Texts texts;
    texts.addAll(*dialog);
    std::set<QString> proper = properWords(window);
    for (const char* word : {"layer", "linear", "relu", "tanh", "sequential", "input"})
        proper.insert(QString::fromLatin1(word));
    const QStringList found = strays(texts, proper);
    QVERIFY2(found.isEmpty(), qPrintable(u'\n' + found.join(u'\n')));
}

void TestTranslation::refusals_data() {
    QTest::addColumn<std::function<void()>>("call");
    QTest::addColumn<QString>("argument"); // it must be in the text as it was given
    const auto row = [](const char* name, const char* argument, std::function<void()> call) {
        QTest::newRow(name) << std::move(call) << QString::fromUtf8(argument);
    };
    const auto setting = [](const char* text) {
        return [text] {
            RunConfig config = defaultConfig();
            applySetting(config, text);
            checkConfig(config);
        };
    };
    row("number", "9999999", setting("model.width=9999999"));
    row("choice", "\"adem\"", setting("optimizer.kind=adem"));
    row("key", "Optimizer", setting("optimizer.kynd=adam"));
    row("lane", "lanes.7", setting("lanes.7.scaler.floor=1"));
    row("together", "1000000", setting("scaler.floor=1e6"));
    row("syntax", "line 1", setting("model.layers=Linear(2,"));
    row("layer", "Lineer", setting("model.layers=Lineer(2, 3)"));
    row("shape", "Linear(5, 1)", [] {
        RunConfig config = tinyConfig(1);
        applySetting(config, "model.layers=Sequential(Linear(2, 4), Linear(5, 1))");
        Experiment experiment(config);
    });
    row("preset", "chekerboard", [] { presetNamed("chekerboard"); });
    row("json", "f.json", [] { parseConfig("{\"version\": 1, \"task\": 3}", "f.json"); });
    row("text", "f.json", [] { parseConfig("{\"version\": 1, ", "f.json"); });
    row("file", "no/such/file.json", [] { readConfig("no/such/file.json"); });
    row("live edit", "Width", [] { checkLiveEdit("model.width", int64_t{3}); });
    row("scale", "\"much\"", [] { parseScale(QStringLiteral("much")); });
    row("steps", "%1", setting("run.steps=%1"));
}

/// Refusals read as in English except for the brackets, with the arguments in their places.
void TestTranslation::refusals() {
    QFETCH(const std::function<void()>, call);
    QFETCH(const QString, argument);
    try {
        call();
        QFAIL("not refused");
    } catch (const InputError& error) {
        const QString text = translated(error);
        QVERIFY2(text.startsWith(kOpen) && text.endsWith(kClose), qPrintable(text));
        QCoreApplication::removeTranslator(&m_brackets);
        const QString english = translated(error);
        QVERIFY(QCoreApplication::installTranslator(&m_brackets));
        QCOMPARE(withoutBrackets(text), withoutBrackets(english));
        QVERIFY2(withoutBrackets(text).contains(argument), qPrintable(text));
    }
}

void TestTranslation::refusalsInTheWindow() {
    Opened opened(tinyConfig(100));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString broken = write(opened.folder, QStringLiteral("broken.json"), "{\"version\": 1,");
    QVERIFY(!window.tryFile(broken));
    QVERIFY2(window.bannerText().contains(broken) && window.bannerText().startsWith(kOpen),
             qPrintable(window.bannerText()));
    const QString picture = write(opened.folder, QStringLiteral("broken.png"), "no picture");
    QVERIFY(!window.tryFile(picture));
    QVERIFY2(window.bannerText().contains(picture) && window.bannerText().startsWith(kOpen),
             qPrintable(window.bannerText()));
    // on the training thread
    window.controller().edit(-1, "model.width", int64_t{3});
    QTRY_VERIFY2(window.bannerText().contains(translated(findField("model.width")->label)) &&
                     window.bannerText().startsWith(kOpen),
                 qPrintable(window.bannerText()));
    ConfigModel& config = window.config();
    const QModelIndex width = config.index(config.rowOf("model.width"));
    QVERIFY(!config.setData(width, QStringLiteral("much")));
    QVERIFY(width.data(ConfigModel::ErrorRole).toString().count(kOpen) >= 2);
    const QModelIndex layers = config.index(config.rowOf("model.layers"));
    QVERIFY(!config.setData(layers, QStringLiteral("Lineer(2, 3)")));
    QVERIFY(layers.data(ConfigModel::ErrorRole).toString().count(kOpen) >= 3);
}

void TestTranslation::events() {
    Experiment experiment(eventfulConfig());
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int step = 0; step < 30; ++step)
        QVERIFY(experiment.advance(records, events));
    experiment.setLive(1, "scaler.growth_interval", int64_t{7}, events);
    experiment.setLive(1, kLiveScale, 8.0, events);
    experiment.setLive(-1, "run.steps", int64_t{90}, events);
    experiment.fork(0, experiment.config().lanes[1], events);
    std::set<EventKind> kinds;
    for (const Event& event : events) {
        kinds.insert(event.kind);
        const QString text = translated(event.text);
        QVERIFY2(text.startsWith(kOpen) && text.endsWith(kClose), qPrintable(text));
        QCOMPARE(withoutBrackets(text), QString::fromStdString(event.text.english()));
        QVERIFY(text.contains(QString::number(event.step)));
        QVERIFY2(outside(EventModel::whatText(event)).remove(QRegularExpression("[ ,]")).isEmpty(),
                 qPrintable(EventModel::whatText(event)));
        QVERIFY(outside(EventModel::sentenceOf(event)).isEmpty());
    }
    QVERIFY(kinds.contains(EventKind::Overflow) && kinds.contains(EventKind::Backoff) &&
            kinds.contains(EventKind::Growth) && kinds.contains(EventKind::Edit));
    const auto what = [&](size_t fromEnd) {
        return withoutBrackets(EventModel::whatText(events[events.size() - fromEnd]));
    };
    QCOMPARE(what(4), QStringLiteral("Growth interval: 7 steps"));
    QCOMPARE(what(3), QStringLiteral("Loss scale: 2^3"));
    QCOMPARE(what(2), QStringLiteral("Ends after 90 steps"));
    // the window calls lanes by their letters
    QCOMPARE(withoutBrackets(EventModel::sentenceOf(events[events.size() - 4])),
             QStringLiteral("From step 31: Growth interval set to 7 steps (before: 5) in lane B."));
}

void TestTranslation::skips() {
    SkipTally tally;
    StepRecord record;
    record.flags = kSkipped | kBackedOff;
    record.scale = 1024;
    for (record.step = 1; record.step < 4; ++record.step)
        tally.add(record);
    const QString text = translated(tally.sentence(true));
    QVERIFY2(text.startsWith(kOpen) && text.contains(u'3'), qPrintable(text));
    QCOMPARE(withoutBrackets(text), QString::fromStdString(tally.sentence(true).english()));
}

/// Tables and summaries of a run are the same in whatever language the window is.
void TestTranslation::filesStayEnglish() {
    Opened opened(eventfulConfig());
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Finished));
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.events().rowCount() > 0, kPatience);
    const QString folder = opened.folder.filePath(QStringLiteral("run"));
    for (const QString& name : opened.window.saveResults(folder)) {
        if (name.endsWith(QLatin1String(".svg")) || name.endsWith(QLatin1String(".png"))) continue;
        QFile file(folder + u'/' + name);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        QVERIFY2(!text.contains(kOpen), qPrintable(name));
        if (name == QLatin1String("events.csv"))
            QVERIFY(text.contains(QStringLiteral("reached inf at loss scale")));
    }
}

} // namespace tst_translation

QTEST_MAIN(tst_translation::TestTranslation)
#include "tst_translation.moc"
