// Weights that do not fit the network of the window by name, and files that must be converted: they
// open a preset or offer it, are matched by shape, or the banner offers what else can be done.
#include "engine/io/torch_file.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/named_weights.h"
#include "tests/support/opened_window.h"
#include "ui/dialogs/model_dialog.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"

#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QStatusBar>
#include <QTest>

namespace tst_opened_weights {

using namespace halfscope;

namespace {

QPushButton& offerOf(MainWindow& window) {
    return *window.findChild<Banner*>()->findChild<QPushButton*>(QStringLiteral("offer"));
}

constexpr const char* kOfDigits =
    "These are weights of another network, that of the preset Digits. ";

/// Returns the whole sentence, whatever there is room for.
QString headlineOf(MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("headline"))->toolTip();
}

/// The 2,000 digits that come with the program, for a training of a few steps.
RunConfig digitsConfig() {
    RunConfig learns = presetNamed("mnist-mlp").config;
    learns.steps = 3;
    learns.epochs = 0;
    learns.device = "cpu";
    return learns;
}

TaskKind taskIn(MainWindow& window) { return window.config().config().task.kind; }

} // namespace

class TestOpenedWeights : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void freshWindowsOpenThePreset_data();
    void freshWindowsOpenThePreset();
    void theOthersOfferIt_data();
    void theOthersOfferIt();
    void otherNamesAreTold_data();
    void otherNamesAreTold();
    void whatWaitsForPlayIsRead();
    void dismissedNewsStaysAway();
    void aTrainingIsNotReplaced();
    void pathsOfNoSettingAreRefused();
    void ownNetworksAreTaken_data();
    void ownNetworksAreTaken();
    void otherNetworksLeadToTheEditor();
    void unclearFilesAreRefused_data();
    void unclearFilesAreRefused();
    void torchFilesLeadToTheCommand_data();
    void torchFilesLeadToTheCommand();

private:
    /// Writes the weights of 784-256-10 under the names of its two layers.
    QString digits(const QString& first, const QString& second) const {
        const QString file = m_folder.filePath(first + second + QStringLiteral(".safetensors"));
        return QString::fromStdString(
            test::writeDigitWeights(file.toStdString(), first.toStdString(), second.toStdString()));
    }
    QTemporaryDir m_folder;
};

void TestOpenedWeights::freshWindowsOpenThePreset_data() {
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::addColumn<QString>("pairs"); // what is told of names; empty: nothing
    QTest::newRow("the preset's names") << "0"
                                        << "2"
                                        << "";
    QTest::newRow("names of a class") << "fc1"
                                      << "fc2"
                                      << "fc1.weight → 0.weight, fc1.bias → 0.bias, fc2.weight "
                                         "→ 2.weight, fc2.bias → 2.bias.";
}

void TestOpenedWeights::freshWindowsOpenThePreset() {
    QFETCH(const QString, first);
    QFETCH(const QString, second);
    QFETCH(const QString, pairs);
    const QString file = digits(first, second);
    MainWindow window;
    window.openPreset(QStringLiteral("checkerboard"));
    window.show();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(file));
    QTRY_VERIFY_WITH_TIMEOUT(taskIn(window) == TaskKind::Mnist, kPatience);
    const RunConfig opened = window.config().config();
    QCOMPARE(opened.model.weights, file.toStdString());
    QVERIFY(!opened.model.partialWeights);
    const QString said = "The weights in " + file +
                         " do not fit the network that was open, but that of the preset Digits. "
                         "The preset was opened, and all its lanes start from them.";
    QVERIFY2(window.bannerText().startsWith(said), qPrintable(window.bannerText()));
    QVERIFY(offerOf(window).isHidden());
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(pairs.isEmpty() ? window.bannerText() == said : window.bannerText().endsWith(pairs),
             qPrintable(window.bannerText()));

    Experiment expected(opened);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    expected.advance(records, events);
    QVERIFY(stepsTo(window, 1));
    QCOMPARE(window.shown().run()->now().row(0, 1).loss(), records[0].loss);
}

void TestOpenedWeights::theOthersOfferIt_data() {
    QTest::addColumn<bool>("trained");
    QTest::newRow("steps") << true;
    QTest::newRow("edits") << false;
}

/// The weights may have been meant for the network that is there: nothing takes its place unasked.
void TestOpenedWeights::theOthersOfferIt() {
    QFETCH(const bool, trained);
    const QString file = digits("0", "2");
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& config = window.config();
    if (trained)
        QVERIFY(stepsTo(window, 1));
    else
        QVERIFY(config.setData(config.index(config.rowOf("model.width")), QStringLiteral("9")));
    window.tryFile(file);
    QTRY_VERIFY_WITH_TIMEOUT(window.bannerText().startsWith(kOfDigits), kPatience);
    QVERIFY2(window.bannerText().contains("Differences from the network that is open: missing: "),
             qPrintable(window.bannerText()));
    QVERIFY(taskIn(window) != TaskKind::Mnist && config.config().model.weights.empty());
    QPushButton& offer = offerOf(window);
    QVERIFY(!offer.isHidden());
    QCOMPARE(offer.text(), QStringLiteral("Open the preset"));
    QTest::mouseClick(&offer, Qt::LeftButton);
    QVERIFY(taskIn(window) == TaskKind::Mnist);
    QCOMPARE(config.config().model.weights, file.toStdString());
    QVERIFY(window.bannerText().contains("The preset was opened"));
    QVERIFY(reaches(window, SessionState::Ready));
}

void TestOpenedWeights::otherNamesAreTold_data() {
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::newRow("names of a class") << "fc1"
                                      << "fc2";
    QTest::newRow("a Flatten in front") << "1"
                                        << "3";
}

/// Until the training starts, and by no reset again.
void TestOpenedWeights::otherNamesAreTold() {
    QFETCH(const QString, first);
    QFETCH(const QString, second);
    const RunConfig learns = digitsConfig();
    const QString file = digits(first, second);
    Opened opened(learns);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(file));
    QTRY_COMPARE_WITH_TIMEOUT(window.config().config().model.weights, file.toStdString(),
                              kPatience);
    QCOMPARE(window.statusBar()->currentMessage(), "All lanes start from the weights in " + file);
    QVERIFY2(headlineOf(window).startsWith("All lanes start from the weights in " +
                                           QFileInfo(file).fileName() + "."),
             qPrintable(headlineOf(window)));
    const QString pairs =
        QStringLiteral("%1.weight → 0.weight, %1.bias → 0.bias, %2.weight → 2.weight, "
                       "%2.bias → 2.bias.")
            .arg(first, second);
    QTRY_VERIFY_WITH_TIMEOUT(window.bannerText().endsWith(pairs), kPatience);
    QVERIFY(window.bannerText().startsWith("Initial weights: the layers in " + file));
    QVERIFY(trainsTo(window, 3));
    QCOMPARE(window.bannerText(), QString());
    QVERIFY(window.shown().reset());
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.bannerText(), QString());
}

/// Weights that were typed, and a restart that trains at once.
void TestOpenedWeights::whatWaitsForPlayIsRead() {
    const RunConfig learns = digitsConfig();
    const QString file = digits("fc1", "fc2");
    Opened opened(learns);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& config = window.config();
    QVERIFY(config.setData(config.index(config.rowOf("model.weights")), file));
    QVERIFY(window.shown().reset());
    QVERIFY(trainsTo(window, 3)); // Play is pressed before the networks are built
    QVERIFY2(window.bannerText().startsWith("Initial weights: the layers in " + file),
             qPrintable(window.bannerText()));
}

/// Who closes the banner before the networks are built is told only what is new then.
void TestOpenedWeights::dismissedNewsStaysAway() {
    const QString file = digits("fc1", "fc2");
    MainWindow window;
    window.openPreset(QStringLiteral("checkerboard"));
    window.show();
    QVERIFY(reaches(window, SessionState::Ready));
    auto* banner = window.findChild<Banner*>();
    connect(&window.controller(), &ExperimentController::stateChanged, banner,
            [banner](SessionState state) {
                if (state == SessionState::Building)
                    QMetaObject::invokeMethod(banner, &Banner::dismiss, Qt::QueuedConnection);
            });
    QVERIFY(window.tryFile(file));
    QTRY_VERIFY_WITH_TIMEOUT(taskIn(window) == TaskKind::Mnist, kPatience);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(window.bannerText().startsWith("Initial weights: "), qPrintable(window.bannerText()));
}

/// Its first step takes long: there is none yet.
void TestOpenedWeights::aTrainingIsNotReplaced() {
    const QString file = digits("0", "2");
    FakeScript script;
    script.endless = true;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(script.insideStep, kPatience);
    window.tryFile(file);
    QTRY_VERIFY_WITH_TIMEOUT(window.bannerText().startsWith(kOfDigits), kPatience);
    QVERIFY(!offerOf(window).isHidden());
    QVERIFY(taskIn(window) != TaskKind::Mnist);
}

/// The banner gives the reason at once, and offers nothing that would fail.
void TestOpenedWeights::pathsOfNoSettingAreRefused() {
    const QString file = m_folder.filePath(QStringLiteral("two\nlines.safetensors"));
    test::writeDigitWeights(file.toStdString(), "0", "2");
    MainWindow window;
    window.openPreset(QStringLiteral("checkerboard"));
    window.show();
    QVERIFY(reaches(window, SessionState::Ready));
    window.tryFile(file);
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().contains("without line breaks"),
                              qPrintable(window.bannerText()), kPatience);
    QVERIFY(offerOf(window).isHidden());
    QVERIFY(taskIn(window) != TaskKind::Mnist);
}

void TestOpenedWeights::ownNetworksAreTaken_data() {
    QTest::addColumn<QString>("first");
    QTest::addColumn<QString>("second");
    QTest::newRow("Sequential") << "0"
                                << "2";
    QTest::newRow("nested names") << "net.fc1"
                                  << "net.fc2";
}

/// The data are open already: one click does the rest, and one undo takes it back.
void TestOpenedWeights::ownNetworksAreTaken() {
    QFETCH(const QString, first);
    QFETCH(const QString, second);
    const QString name = first + QStringLiteral("-own.safetensors"), file = m_folder.filePath(name);
    const std::string one = first.toStdString(), two = second.toStdString();
    test::writeNamedWeights(file.toStdString(), {{one + ".weight", {128, 784}},
                                                 {one + ".bias", {128}},
                                                 {two + ".weight", {10, 128}},
                                                 {two + ".bias", {10}}});
    Opened opened(digitsConfig());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const RunConfig before = window.config().config();
    window.tryFile(file);
    const QString said = "These are weights of another network, 784-128-10, which fits the data "
                         "that are open. A file of weights does not tell the activations, so ReLU "
                         "is assumed between the layers. Differences from the network that is "
                         "open: ";
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().startsWith(said), qPrintable(window.bannerText()),
                              kPatience);
    QVERIFY(window.bannerText().endsWith('.'));
    QVERIFY(window.config().config().model.weights.empty());
    QPushButton& offer = offerOf(window);
    QCOMPARE(offer.text(), QStringLiteral("Take this network"));
    QTest::mouseClick(&offer, Qt::LeftButton);
    const RunConfig taken = window.config().config();
    QCOMPARE(taken.model.layers, std::string("nn.Sequential(\n    nn.Linear(784, 128), nn.ReLU(),\n"
                                             "    nn.Linear(128, 10))"));
    QCOMPARE(taken.model.weights, file.toStdString());
    QVERIFY2(headlineOf(window).startsWith("All lanes start from the weights in " + name + "."),
             qPrintable(headlineOf(window)));
    QVERIFY(reaches(window, SessionState::Ready));
    Experiment expected(taken);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    expected.advance(records, events);
    QVERIFY(stepsTo(window, 1));
    QCOMPARE(window.shown().run()->now().row(0, 1).loss(), records[0].loss);
    actionFor(window, QKeySequence::Undo)->trigger();
    QCOMPARE(window.config().config().model.layers, before.model.layers);
    QVERIFY(window.config().config().model.weights.empty());
}

void TestOpenedWeights::otherNetworksLeadToTheEditor() {
    const QString file = m_folder.filePath(QStringLiteral("none.safetensors"));
    test::writeNamedWeights(file.toStdString(), {{"a.weight", {5, 4}}, {"a.bias", {5}}});
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.tryFile(file);
    const QString advice = "These are weights of another network. Set " +
                           labelInWindow(*findField("model.layers")) +
                           " to that network, and open this file again. Differences from the "
                           "network that is open: missing: ";
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().startsWith(advice),
                              qPrintable(window.bannerText()), kPatience);
    QVERIFY2(window.bannerText().contains("; unexpected: a.weight, a.bias; a.bias has the shape "),
             qPrintable(window.bannerText()));
    QVERIFY(window.config().config().model.weights.empty());
    QPushButton& offer = offerOf(window);
    QCOMPARE(offer.text(), QStringLiteral("Edit the layers"));
    QTest::mouseClick(&offer, Qt::LeftButton);
    auto* dialog = window.findChild<ModelDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->reject();
}

void TestOpenedWeights::unclearFilesAreRefused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QStringList>("groups");
    QTest::addColumn<QString>("why");
    QTest::newRow("several fit") << "two.safetensors" << QStringList{"a.", "b."}
                                 << "several of its groups fit the network equally well: a., b.; ";
    // its two layers alone would be offered as a network
    QTest::newRow("a part") << "two-00001-of-00002.safetensors" << QStringList{"c."}
                            << "it is one of the 2 files into which the weights were split; ";
}

/// They may be of the network that is open, so no other one is offered.
void TestOpenedWeights::unclearFilesAreRefused() {
    QFETCH(const QString, name);
    QFETCH(const QStringList, groups);
    QFETCH(const QString, why);
    const QString file = m_folder.filePath(name);
    std::vector<test::NamedWeight> tensors;
    for (const QString& group : groups) {
        const std::string prefix = group.toStdString();
        const int64_t hidden = groups.size() > 1 ? 256 : 128;
        tensors.insert(tensors.end(), {{prefix + "0.weight", {hidden, 784}},
                                       {prefix + "0.bias", {hidden}},
                                       {prefix + "2.weight", {10, hidden}},
                                       {prefix + "2.bias", {10}}});
    }
    test::writeNamedWeights(file.toStdString(), tensors);
    Opened opened(digitsConfig());
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.tryFile(file);
    QTRY_VERIFY2_WITH_TIMEOUT(
        window.bannerText().startsWith(labelInWindow(*findField("model.weights")) + ": " + file +
                                       ": " + why),
        qPrintable(window.bannerText()), kPatience);
    QVERIFY(offerOf(window).isHidden());
    QVERIFY(window.config().config().model.weights.empty());
}

void TestOpenedWeights::torchFilesLeadToTheCommand_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"my model.pt", "last.ckpt", "pytorch_model.bin", "weights"})
        QTest::newRow(name) << QString(name);
}

void TestOpenedWeights::torchFilesLeadToTheCommand() {
    QFETCH(const QString, name);
    const QString file = write(m_folder, name, zipBytes({{"archive/data.pkl", "weights"}}));
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.tryFile(file));
    QVERIFY2(window.bannerText().startsWith(file + ": torch.save() wrote it") &&
                 window.bannerText().endsWith("save model.state_dict() first.") &&
                 !window.bannerText().contains("python3"), // the button has the command
             qPrintable(window.bannerText()));
    QPushButton& offer = offerOf(window);
    QVERIFY(!offer.isHidden());
    QCOMPARE(offer.text(), QStringLiteral("Copy the command"));
    QTest::mouseClick(&offer, Qt::LeftButton);
    const std::string command = torchFileCommand(file.toStdString());
    QTRY_COMPARE(QGuiApplication::clipboard()->text(), QString::fromStdString(command));
    QVERIFY(window.statusBar()->currentMessage().startsWith("The command was copied."));
}

} // namespace tst_opened_weights

QTEST_MAIN(tst_opened_weights::TestOpenedWeights)
#include "tst_opened_weights.moc"
