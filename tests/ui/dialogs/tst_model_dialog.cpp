// The network as text: shapes while it is typed, errors with their line, and its effect on the
// settings and the training.
#include "engine/settings/fields.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/model_dialog.h"
#include "ui/models/translated.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/setup_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLocale>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTemporaryFile>
#include <QTest>
#include <QTextBlock>
#include <QTextLayout>
#include <QTimer>
#include <QToolButton>
#include <QTreeWidget>

#include <algorithm>
#include <utility>

#include <sys/stat.h>

namespace tst_model_dialog {

using namespace halfscope;

namespace {

RunConfig checkerboard() {
    RunConfig config = defaultConfig();
    config.task.side = 16;
    config.model = {.width = 8, .depth = 1, .norm = Norm::BatchNorm};
    return config;
}

/// Returns "layer | shape | parameters" of each row.
QStringList rowsOf(const ModelDialog& dialog) {
    QStringList rows;
    for (int i = 0; i < dialog.layers()->topLevelItemCount(); ++i) {
        const QTreeWidgetItem& item = *dialog.layers()->topLevelItem(i);
        rows << item.text(0) + u'|' + item.text(1) + u'|' + item.text(2);
    }
    return rows;
}

RunConfig drawingDigits(Adversary adversary) {
    const std::span<const Preset> all = presets();
    RunConfig config = std::find_if(all.begin(), all.end(), [](const Preset& preset) {
                           return preset.name == "wgan-gp";
                       })->config;
    config.task.batch = 4;
    config.model.adversary = adversary;
    config.model.width = 8;
    return config;
}

QPushButton* useOf(const ModelDialog& dialog) {
    return dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
}

} // namespace

class TestModelDialog : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void showsTheTemplate();
    void shapesFollowTheText();
    void aPasteReplacesTheText();
    void errorsNameTheirLine_data();
    void errorsNameTheirLine();
    void showsLayersBeforeAnError_data();
    void showsLayersBeforeAnError();
    void namesLayersInFull();
    void usesTheTextByKey();
    void wrapsALongLine();
    void asksBeforeItLosesText();
    void keepsTheTextFromTheTemplate();
    void comesIntoTheSettings();
    void showsTheCritic();
    void refusesCritics_data();
    void refusesCritics();
    void criticComesIntoTheSettings();
};

void TestModelDialog::showsTheTemplate() {
    const ModelDialog dialog(checkerboard());
    QCOMPARE(rowsOf(dialog).size(), qsizetype(8));
    QCOMPARE(rowsOf(dialog).front(), QStringLiteral("input|(256, 2)|"));
    QVERIFY2(rowsOf(dialog).at(1).endsWith(QStringLiteral("|(256, 8)|24")),
             qPrintable(rowsOf(dialog).at(1)));
    QVERIFY(rowsOf(dialog).back().endsWith(QStringLiteral("|(256, 1)|9")));
    QCOMPARE(dialog.text(), QString()); // nothing was written
    QCOMPARE(dialog.errorText(), QString());
    QVERIFY(useOf(dialog)->isEnabled());
}

/// This includes the shapes of images, for a network that begins with a convolution.
void TestModelDialog::shapesFollowTheText() {
    ModelDialog dialog(checkerboard());
    dialog.editor()->setPlainText(QStringLiteral(
        "Sequential(\n  (0): Conv2d(2, 32, kernel_size=(1, 1), stride=(1, 1))\n"
        "  (1): ReLU()\n  (2): Conv2d(32, 1, kernel_size=(1, 1), stride=(1, 1))\n)"));
    QVERIFY(!useOf(dialog)->isEnabled()); // until it was read
    QTRY_VERIFY(useOf(dialog)->isEnabled());
    QCOMPARE(rowsOf(dialog).size(), qsizetype(4));
    QCOMPARE(rowsOf(dialog).front(), QStringLiteral("input|(1, 2, 16, 16)|"));
    QVERIFY2(rowsOf(dialog).at(1).endsWith(QStringLiteral("|(1, 32, 16, 16)|96")),
             qPrintable(rowsOf(dialog).at(1)));
    QVERIFY(rowsOf(dialog).back().endsWith(QStringLiteral("|(1, 1, 16, 16)|33")));
}

void TestModelDialog::aPasteReplacesTheText() {
    RunConfig config = checkerboard();
    for (const char* own : {"", "nn.Linear(2, 1)"}) {
        config.model.layers = own;
        ModelDialog dialog(config);
        dialog.show();
        QVERIFY(test::isActive(&dialog));
        const QString before = dialog.editor()->toPlainText();
        QTest::keyClick(dialog.editor(), Qt::Key_Space); // leaves the text there
        QCOMPARE(dialog.editor()->toPlainText(), u' ' + before);
        dialog.editor()->undo();
        dialog.editor()->moveCursor(QTextCursor::Start);
        const QString pasted = QStringLiteral("nn.Sequential(nn.Linear(2, 1))");
        QGuiApplication::clipboard()->setText(pasted);
        dialog.editor()->paste();
        QCOMPARE(dialog.text(), pasted);
        QTRY_VERIFY(useOf(dialog)->isEnabled());
        dialog.editor()->undo();
        QCOMPARE(dialog.editor()->toPlainText(), before);
        dialog.editor()->moveCursor(QTextCursor::Start);
        QGuiApplication::clipboard()->setMimeData(new QMimeData); // nothing has been copied yet
        dialog.editor()->paste();
        QCOMPARE(dialog.editor()->toPlainText(), before);
        const auto pasteFile = [&dialog](const QString& path) {
            auto* data = new QMimeData;
            data->setUrls({QUrl::fromLocalFile(path)});
            QGuiApplication::clipboard()->setMimeData(data);
            dialog.editor()->paste();
        };
        // what cannot be taken is told, and changes nothing; a pipe is not waited for
        QTemporaryDir folder;
        QFile weights(folder.filePath("model.pt"));
        QVERIFY(weights.open(QIODevice::WriteOnly) && weights.write("PK\3\4\0", 5) == 5);
        weights.close();
        const QByteArray pipe = QFile::encodeName(folder.filePath("pipe.py"));
        QCOMPARE(::mkfifo(pipe.constData(), 0600), 0);
        for (const auto& [path, why] :
             {std::pair(QStringLiteral("/no such file.py"), "not a file on this computer"),
              std::pair(folder.path(), "not a file on this computer"),
              std::pair(QString(pipe), "not a file on this computer"),
              std::pair(weights.fileName(), "not a Python program")}) {
            pasteFile(path);
            QCOMPARE(dialog.editor()->toPlainText(), before);
            QCOMPARE(dialog.refusalText(), path + ": " + why);
            QVERIFY(dialog.errorText().isEmpty());
        }
        QTemporaryFile program;
        QVERIFY(program.open() && program.write(pasted.toUtf8()) > 0 && program.flush());
        pasteFile(program.fileName());
        QCOMPARE(dialog.text(), pasted);
        QVERIFY(dialog.refusalText().isEmpty());
    }
}

void TestModelDialog::errorsNameTheirLine_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("part");
    QTest::addColumn<int>("line"); ///< the line that is marked; -1: none
    QTest::newRow("unknown layer") << "nn.Sequential(\n    nn.Linear(2, 8),\n    nn.Rellu())"
                                   << ", line 3, column 5: " << 2;
    QTest::newRow("does not fit") << "nn.Sequential(\n    nn.Linear(2, 8),\n    nn.Linear(9, 1))"
                                  << ", line 3, column 5: " << 2;
    QTest::newRow("other outputs") << "nn.Linear(2, 5)"
                                   << ": the model turns (256, 2) into (256, 5)" << -1;
    QTest::newRow("no text") << "nn."
                             << ", line 1, column " << 0;
}

void TestModelDialog::errorsNameTheirLine() {
    QFETCH(const QString, text);
    QFETCH(const QString, part);
    QFETCH(const int, line);
    ModelDialog dialog(checkerboard());
    dialog.editor()->setPlainText(text);
    QTRY_VERIFY(!dialog.errorText().isEmpty());
    const QString field = labelInWindow(*findField("model.layers"));
    QVERIFY2(dialog.errorText().startsWith(field + part), qPrintable(dialog.errorText()));
    QVERIFY(!useOf(dialog)->isEnabled());
    const auto marks = dialog.editor()->extraSelections();
    QCOMPARE(marks.isEmpty() ? -1 : marks.front().cursor.blockNumber(), line);
}

void TestModelDialog::showsLayersBeforeAnError_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("rows");
    const QString first = QStringLiteral("input|(256, 2)|, 0  Linear(2, 8)|(256, 8)|24");
    QTest::newRow("unknown") << "Sequential(Linear(2, 8), ReLU(), LSTM(8, 8), Linear(8, 1))"
                             << first + QStringLiteral(", 1  ReLU()|(256, 8)|");
    QTest::newRow("an argument") << "Sequential(Linear(2, 8), Linear(8, out=1))" << first;
    QTest::newRow("within others")
        << "Sequential(Linear(2, 8), Sequential(Tanh(), Rellu()), Tanh())"
        << first + QStringLiteral(",   1.0  Tanh()|(256, 8)|");
    QTest::newRow("does not fit") << "Sequential(Linear(2, 8), Linear(9, 1), Rellu())" << first;
    QTest::newRow("the first") << "Sequential(Rellu(), Linear(2, 8))"
                               << "input|(256, 2)|";
}

/// What can be read is shown, without a sum of what cannot.
void TestModelDialog::showsLayersBeforeAnError() {
    QFETCH(const QString, text);
    QFETCH(const QString, rows);
    ModelDialog dialog(checkerboard());
    dialog.show();
    const auto sums = [&dialog] {
        const auto labels = dialog.findChildren<QLabel*>();
        return std::count_if(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->isVisible() && label->text().endsWith(QStringLiteral(" parameters"));
        });
    };
    QCOMPARE(sums(), 1);
    dialog.editor()->setPlainText(text);
    QTRY_VERIFY(!dialog.errorText().isEmpty());
    QCOMPARE(rowsOf(dialog).join(QStringLiteral(", ")), rows);
    QCOMPARE(sums(), 0);
}

/// The tool tip has what the column has no room for, and the engine does not cut it either.
void TestModelDialog::namesLayersInFull() {
    ModelDialog dialog(checkerboard());
    dialog.show();
    const QString layer = QStringLiteral(
        "Conv2d(2, 1, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=True)");
    dialog.editor()->setPlainText(layer);
    QTRY_VERIFY(useOf(dialog)->isEnabled());
    QCOMPARE(dialog.layers()->topLevelItem(1)->text(0), layer);
    QVERIFY(dialog.layers()->width() > dialog.editor()->width());
}

/// Text that was typed a moment ago counts, too; a network that does not fit is not used.
void TestModelDialog::usesTheTextByKey() {
    ModelDialog dialog(checkerboard());
    dialog.show();
    QVERIFY(test::isActive(&dialog));
    dialog.editor()->setFocus();
    dialog.editor()->setPlainText(QStringLiteral("nn.Linear(2, 5)"));
    QTest::keyClick(dialog.editor(), Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(dialog.isVisible());
    QVERIFY(!dialog.errorText().isEmpty());
    dialog.editor()->setPlainText(QStringLiteral("nn.Linear(2, 1)"));
    QTest::keyClick(dialog.editor(), Qt::Key_Return, Qt::ControlModifier);
    QVERIFY(!dialog.isVisible());
    QCOMPARE(dialog.result(), int(QDialog::Accepted));
    QCOMPARE(dialog.text(), QStringLiteral("nn.Linear(2, 1)"));
}

/// The part that is wrong is marked, and all of the line can be seen.
void TestModelDialog::wrapsALongLine() {
    ModelDialog dialog(checkerboard());
    dialog.show();
    QString line = QStringLiteral("nn.Sequential(nn.Linear(2, 8), ");
    for (int i = 0; i < 20; ++i)
        line += QStringLiteral("nn.Linear(8, 8), nn.Tanh(), ");
    dialog.editor()->setPlainText(line + QStringLiteral("nn.Rellu(), nn.Linear(8, 1))"));
    QTRY_VERIFY(!dialog.errorText().isEmpty());
    QVERIFY(dialog.editor()->document()->firstBlock().layout()->lineCount() > 3);
    const auto marks = dialog.editor()->extraSelections();
    QCOMPARE(marks.size(), qsizetype(1));
    QCOMPARE(marks.front().cursor.position(), int(line.size()));
    for (QPushButton* button : dialog.findChildren<QPushButton*>())
        if (button != dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Cancel))
            QVERIFY2(button->text().contains(u'&'), qPrintable(button->text()));
}

/// Presses Esc and answers; returns what was asked, with the buttons, and with the default one
/// last.
QString askedOnEscape(ModelDialog& dialog, QMessageBox::StandardButton answer) {
    QString asked;
    QTimer::singleShot(0, &dialog, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        asked = box->text();
        for (QAbstractButton* each : box->buttons())
            asked += u'|' + each->text().remove(u'&');
        asked += u'|' + box->defaultButton()->text().remove(u'&');
        box->button(answer)->click();
    });
    QTest::keyClick(&dialog, Qt::Key_Escape);
    test::serveEvents(50); // the timer must not outlive what it writes to
    return asked;
}

void TestModelDialog::asksBeforeItLosesText() {
    ModelDialog dialog(checkerboard());
    dialog.show();
    dialog.editor()->setPlainText(QStringLiteral("nn.Linear(2, 1)"));
    const QString asked = askedOnEscape(dialog, QMessageBox::Cancel);
    QVERIFY2(asked.startsWith(QStringLiteral("This network is not in use yet. Discard it?|")),
             qPrintable(asked));
    QVERIFY2(asked.contains(QStringLiteral("|Discard|")), qPrintable(asked));
    QVERIFY2(asked.endsWith(QStringLiteral("|Keep editing")), qPrintable(asked));
    QVERIFY(dialog.isVisible());
    QCOMPARE(dialog.text(), QStringLiteral("nn.Linear(2, 1)"));
    QVERIFY(!askedOnEscape(dialog, QMessageBox::Discard).isEmpty());
    QVERIFY(!dialog.isVisible());
    ModelDialog untouched(checkerboard());
    untouched.show();
    QCOMPARE(askedOnEscape(untouched, QMessageBox::Discard), QString());
    QVERIFY(!untouched.isVisible());
}

/// Enter presses the button that has the keyboard, not the default one, and what the template
/// replaces comes back.
void TestModelDialog::keepsTheTextFromTheTemplate() {
    ModelDialog dialog(checkerboard());
    dialog.show();
    const QString mine = QStringLiteral("nn.Linear(2, 1)");
    dialog.editor()->setPlainText(mine);
    QPushButton* reset = nullptr;
    for (QPushButton* button : dialog.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("&From width and depth")) reset = button;
    QVERIFY(reset);
    QTRY_VERIFY(useOf(dialog)->isEnabled()); // so that Enter could press it
    reset->setFocus();
    QTest::keyClick(reset, Qt::Key_Return);
    QVERIFY(dialog.isVisible());
    QCOMPARE(dialog.text(), QString()); // the template
    QCOMPARE(dialog.focusWidget(), dialog.editor());
    QTest::keyClick(dialog.editor(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(dialog.text(), mine);
    QTRY_VERIFY(useOf(dialog)->isEnabled());
}

/// Follows the text from the button beside the setting to the weights.
void TestModelDialog::comesIntoTheSettings() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    FieldEditor* field = window.setup().editor("model.layers");
    QVERIFY(field);
    QToolButton* edit = nullptr;
    for (QToolButton* button : field->findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("Edit…")) edit = button;
    QVERIFY(edit);
    edit->click();
    auto* dialog = window.findChild<ModelDialog*>();
    QVERIFY(dialog);
    const QString text =
        QStringLiteral("nn.Sequential(\n    nn.Linear(2, 12),\n    nn.Tanh(),\n    "
                       "nn.Linear(12, 1),\n)");
    dialog->editor()->setPlainText(text);
    QTRY_VERIFY(useOf(*dialog)->isEnabled());
    useOf(*dialog)->click();
    QCOMPARE(QString::fromStdString(window.config().config().model.layers), text);
    QVERIFY(window.setup().restartShown());
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(20), kPatience);
    QCOMPARE(window.bannerText(), QString());
}

/// The critic of nothing but a width, whose batch holds targets and predictions, and with wgan-gp
/// as many points between them, which the dialog explains.
void TestModelDialog::showsTheCritic() {
    for (const Adversary adversary : {Adversary::Gan, Adversary::WganGp}) {
        RunConfig config = drawingDigits(adversary);
        config.model.critic.clear();
        const ModelDialog dialog(config, ModelDialog::Network::Critic);
        const QString rows = adversary == Adversary::Gan ? QStringLiteral("8") : "12";
        QCOMPARE(rowsOf(dialog).size(), qsizetype(4));
        QCOMPARE(rowsOf(dialog).front(), QStringLiteral("input|(%1, 784)|").arg(rows));
        const QString first = QStringLiteral("|(%1, 8)|6280").arg(rows);
        QVERIFY2(rowsOf(dialog).at(1).endsWith(first), qPrintable(rowsOf(dialog).at(1)));
        QVERIFY(rowsOf(dialog).back().endsWith(QStringLiteral("|(%1, 1)|9").arg(rows)));
        QVERIFY(dialog.editor()->toPlainText().contains(QStringLiteral("LeakyReLU(0.2)")));
        QCOMPARE(dialog.text(), QString()); // nothing was written
        QCOMPARE(dialog.errorText(), QString());
        const auto* about = dialog.findChild<QLabel*>(QStringLiteral("about"));
        QVERIFY(about);
        QVERIFY(about->text().startsWith(QStringLiteral("Paste a PyTorch class or ")));
        QCOMPARE(about->text().contains(QStringLiteral("A third of the rows are points between")),
                 adversary == Adversary::WganGp);
    }
}

void TestModelDialog::refusesCritics_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("part");
    QTest::addColumn<qsizetype>("rows"); ///< the layers up to the one that refuses its input
    QTest::newRow("first layer") << "nn.Linear(3, 1)"
                                 << ", line 1, column 1: " << qsizetype(1);
    QTest::newRow("later layer") << "nn.Sequential(\n    nn.Linear(784, 8),\n    nn.Linear(9, 1))"
                                 << ", line 3, column 5: " << qsizetype(2);
    QTest::newRow("two scores") << "nn.Linear(784, 2)"
                                << ": the critic makes (12, 2) of (12, 784)" << qsizetype(2);
    QTest::newRow("no text") << "nn."
                             << ", line 1, column " << qsizetype(1);
}

void TestModelDialog::refusesCritics() {
    QFETCH(const QString, text);
    QFETCH(const QString, part);
    QFETCH(const qsizetype, rows);
    ModelDialog dialog(drawingDigits(Adversary::WganGp), ModelDialog::Network::Critic);
    dialog.editor()->setPlainText(text);
    QTRY_VERIFY(!dialog.errorText().isEmpty());
    const QString field = labelInWindow(*findField("model.critic"));
    QVERIFY2(dialog.errorText().startsWith(field + part), qPrintable(dialog.errorText()));
    QVERIFY(!useOf(dialog)->isEnabled());
    QCOMPARE(rowsOf(dialog).size(), rows);
}

/// Its button writes the critic, and leaves the first network alone.
void TestModelDialog::criticComesIntoTheSettings() {
    ConfigModel model;
    model.load(drawingDigits(Adversary::Gan));
    SetupPanel panel(model);
    FieldEditor* field = panel.editor("model.critic");
    QVERIFY(field && field->applies());
    auto* edit = field->findChild<QToolButton*>(QStringLiteral("browse"));
    QVERIFY(edit);
    QCOMPARE(edit->accessibleName(), QStringLiteral("Edit Critic"));
    edit->click();
    auto* dialog = panel.findChild<ModelDialog*>();
    QVERIFY(dialog);
    QVERIFY(dialog->windowTitle().contains(QStringLiteral("critic")));
    const std::string layers = model.config().model.layers;
    dialog->editor()->setPlainText(QStringLiteral("nn.Linear(784, 1)"));
    QTRY_VERIFY(useOf(*dialog)->isEnabled());
    useOf(*dialog)->click();
    QCOMPARE(model.config().model.critic, std::string("nn.Linear(784, 1)"));
    QCOMPARE(model.config().model.layers, layers);
}

} // namespace tst_model_dialog

QTEST_MAIN(tst_model_dialog::TestModelDialog)
#include "tst_model_dialog.moc"
