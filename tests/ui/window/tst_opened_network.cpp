// Networks in files that are opened, and what becomes of the user's network when data are opened.
#include "engine/settings/fields.h"
#include "tests/support/opened_window.h"
#include "ui/dialogs/model_dialog.h"
#include "ui/panels/banner.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>

namespace tst_opened_network {

using namespace halfscope;

namespace {

const std::string kNetwork = "nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1))";

QPushButton& offerOf(MainWindow& window) {
    return *window.findChild<Banner*>()->findChild<QPushButton*>(QStringLiteral("offer"));
}

const std::string& layersOf(MainWindow& window) { return window.config().config().model.layers; }

/// Writes a table of so many columns of numbers before the one that is predicted.
QString table(const QTemporaryDir& folder, int columns) {
    std::string text;
    for (int i = 0; i < columns; ++i)
        text += "c" + std::to_string(i) + ",";
    text += "price\n";
    for (int row = 0; row < 200; ++row) {
        for (int i = 0; i < columns; ++i)
            text += std::to_string(0.25 + (37 * row + 11 * i) % 211) + ",";
        text += std::to_string(60000 + 2613 * row) + "\n";
    }
    return write(folder, QStringLiteral("houses.csv"), text);
}

/// Enters the network, and opens a table of so many columns before the one that is predicted.
void openAfterNetwork(Opened& opened, int columns) {
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& config = window.config();
    QVERIFY(config.setData(config.index(config.rowOf("model.layers")),
                           QString::fromStdString(kNetwork)));
    QVERIFY(window.tryFile(table(opened.folder, columns)));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("houses – Halfscope"),
                              kPatience);
}

} // namespace

class TestOpenedNetwork : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void whatForwardDoesMoreIsTold();
    void classesAreReadByTheirForward();
    void aRunWithStepsStays();
    void aRunThatStaysIsNotTrained();
    void aTextMayHoldANetwork();
    void dataKeepAFittingNetwork();
    void otherNetworksCanBeCopied();
    void anotherLastLayerIsOffered();
    void dataThatAreGoneAreTold();
    void aMisfitCanBeEdited();
    void theLastLayerIsChangedForData();
};

/// The network is taken all the same.
void TestOpenedNetwork::whatForwardDoesMoreIsTold() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path = write(opened.folder, QStringLiteral("net.py"),
                               "class Net(nn.Module):\n    def __init__(self):\n"
                               "        super().__init__()\n        self.net = " +
                                   kNetwork +
                                   "\n    def forward(self, x):\n"
                                   "        return self.net(self.norm(x)) * 64.0\n");
    QVERIFY(window.tryFile(path));
    const QString said =
        QStringLiteral(
            "This may not be the network that is meant: forward() in line 5 does more than run "
            "self.net: it also uses self.norm. The network in line 4 of %1 was taken. "
            "Nothing else in the file is used. Ctrl+Z brings back the network before it.")
            .arg(path);
    QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(), said, kPatience);
    QCOMPARE(layersOf(window), kNetwork);
}

void TestOpenedNetwork::classesAreReadByTheirForward() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path =
        write(opened.folder, QStringLiteral("net.py"),
              "import torch\nclass Net(nn.Module):\n    def __init__(self, hidden=4):\n"
              "        super().__init__()\n        self.b = nn.Linear(hidden, 1)\n"
              "        self.a = nn.Linear(2, hidden)\n    def forward(self, x):\n"
              "        return self.b(torch.tanh(self.a(x)))\nnet = Net()\ntrain(net)\n");
    QVERIFY(window.tryFile(path));
    const QString said =
        QStringLiteral("The network in lines 2 to 8 of %1 was taken. Nothing else in the file is "
                       "used but the values of hidden. Ctrl+Z brings back the network before it.")
            .arg(path);
    QTRY_COMPARE_WITH_TIMEOUT(window.bannerText(), said, kPatience);
    QCOMPARE(layersOf(window),
             std::string("nn.Sequential(OrderedDict([\n    (\"a\", nn.Linear(2, 4)),\n    "
                         "(\"tanh\", nn.Tanh()),\n    (\"b\", nn.Linear(4, 1)),\n]))"));
}

/// As after an edit in Layers, the next start takes the network.
void TestOpenedNetwork::aRunWithStepsStays() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 2));
    const RunPtr run = window.shown().run();
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("net.py"), "n = " + kNetwork)));
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().contains(
                                  QStringLiteral("The run that is shown keeps its own network.")),
                              qPrintable(window.bannerText()), kPatience);
    QCOMPARE(layersOf(window), kNetwork);
    QVERIFY(window.config().restartNeeded());
    QCOMPARE(window.controller().state(), SessionState::Paused);
    QCOMPARE(window.shown().run(), run);
    QCOMPARE(window.run().step(), qint64{2});
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.config().restartNeeded());
}

/// Play that waits for a network does not go on with the one before it.
void TestOpenedNetwork::aRunThatStaysIsNotTrained() {
    constexpr size_t kLong = 3'900'000; // bytes: near the limit, so that it takes long to read
    std::string program;
    while (program.size() < kLong)
        program += "a = 1\n";
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(stepsTo(window, 2));
    QVERIFY(window.tryFile(
        write(opened.folder, QStringLiteral("net.py"), program + "n = " + kNetwork)));
    if (!window.opens()) QSKIP("the machine reads it at once");
    window.shown().playOrPause();
    QVERIFY(QTest::qWaitFor([&] { return !window.opens(); }, kPatience));
    QCOMPARE(layersOf(window), kNetwork);
    QVERIFY(!window.controller().willTrain());
    QCOMPARE(window.controller().state(), SessionState::Paused);
    QCOMPARE(window.run().step(), qint64{2});
}

/// A text that holds nothing else is no text to train on.
void TestOpenedNetwork::aTextMayHoldANetwork() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const TaskKind kind = window.config().config().task.kind;
    const QString path = write(opened.folder, QStringLiteral("net.TXT"), "# mine\n" + kNetwork);
    QVERIFY(window.tryFile(path));
    QTRY_VERIFY2_WITH_TIMEOUT(
        window.bannerText().startsWith("The network in line 2 of " + path + " was taken."),
        qPrintable(window.bannerText()), kPatience);
    QCOMPARE(layersOf(window), kNetwork);
    QCOMPARE(window.config().config().task.kind, kind);
}

void TestOpenedNetwork::dataKeepAFittingNetwork() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    openAfterNetwork(opened, 2);
    if (QTest::currentTestFailed()) return;
    QVERIFY2(window.bannerText().startsWith("Your network fits these data and was kept. "),
             qPrintable(window.bannerText()));
    QCOMPARE(layersOf(window), kNetwork);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.config().restartNeeded()); // its networks are built
    actionFor(window, QKeySequence::Undo)->trigger();
    QCOMPARE(layersOf(window), std::string());
}

void TestOpenedNetwork::otherNetworksCanBeCopied() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    openAfterNetwork(opened, 3);
    if (QTest::currentTestFailed()) return;
    QVERIFY2(
        window.bannerText().startsWith("Your network does not fit these data and is not used: "),
        qPrintable(window.bannerText()));
    QCOMPARE(layersOf(window), std::string());
    QPushButton& copy = offerOf(window);
    QVERIFY(copy.isVisible());
    QCOMPARE(copy.text(), QStringLiteral("Copy the network"));
    copy.click();
    QCOMPARE(QGuiApplication::clipboard()->text(), QString::fromStdString(kNetwork));
}

/// Of a network for another number of classes, one layer has to change.
void TestOpenedNetwork::anotherLastLayerIsOffered() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path =
        write(opened.folder, QStringLiteral("net.py"),
              "n = 6\nnet = nn.Sequential(nn.Linear(2, n), nn.ReLU(), nn.Linear(n, 10))\n");
    window.tryFile(path);
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().startsWith(
                                  path + ": its network does not fit the data that are open: "),
                              qPrintable(window.bannerText()), kPatience);
    QVERIFY(layersOf(window).empty());
    QPushButton& change = offerOf(window);
    QCOMPARE(change.text(), QStringLiteral("Change its last layer"));
    QCOMPARE(change.toolTip(), QStringLiteral("Takes this network with Linear(6, 1) as its last "
                                              "layer"));
    change.click();
    QCOMPARE(window.bannerText(), QStringLiteral("The network in line 2 of %1 was taken. Nothing "
                                                 "else in the file is used but the values of n. "
                                                 "Its last layer was changed to Linear(6, 1). "
                                                 "Ctrl+Z brings back the network before it.")
                                      .arg(path));
    QCOMPARE(QString::fromStdString(layersOf(window)).simplified(),
             QStringLiteral("nn.Sequential( nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1), )"));
    QVERIFY(reaches(window, SessionState::Ready));
    actionFor(window, QKeySequence::Undo)->trigger();
    QVERIFY(layersOf(window).empty());
    actionFor(window, QKeySequence::Redo)->trigger();
    QVERIFY(trainsTo(window, 5));
}

/// No layer that is edited helps then.
void TestOpenedNetwork::dataThatAreGoneAreTold() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Csv;
    config.task.path = "/no/such.csv";
    window.tryFile(write(opened.folder, QStringLiteral("houses.json"), configText(config)));
    QTRY_COMPARE_WITH_TIMEOUT(window.config().config().task.path, config.task.path, kPatience);
    const QString path = write(opened.folder, QStringLiteral("net.py"), "net = " + kNetwork);
    window.tryFile(path);
    QTRY_VERIFY2_WITH_TIMEOUT(
        window.bannerText().startsWith(path + ": its network would be trained on the data that are "
                                              "open, which cannot be used: "),
        qPrintable(window.bannerText()), kPatience);
    QVERIFY(!offerOf(window).isVisible());
}

/// Where the fault is elsewhere, the editor shows it in the file's network.
void TestOpenedNetwork::aMisfitCanBeEdited() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    const QString path =
        write(opened.folder, QStringLiteral("net.py"), "net = nn.Sequential(nn.Linear(784, 10))\n");
    window.tryFile(path);
    QTRY_VERIFY2_WITH_TIMEOUT(
        window.bannerText().endsWith(". Open the data that it is for and then this file again, or "
                                     "edit its layers."),
        qPrintable(window.bannerText()), kPatience);
    QPushButton& edit = offerOf(window);
    QCOMPARE(edit.text(), QStringLiteral("Edit the layers"));
    edit.click();
    auto* dialog = window.findChild<ModelDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    QCOMPARE(dialog->text(), QStringLiteral("nn.Sequential(nn.Linear(784, 10))"));
    QVERIFY2(dialog->errorText().contains(QStringLiteral("Linear(784, 10)")),
             qPrintable(dialog->errorText()));
    dialog->editor()->undo(); // the user's own network stands behind it
    QVERIFY(dialog->text().isEmpty());
    dialog->editor()->setPlainText(QString::fromStdString(kNetwork));
    QTRY_VERIFY(dialog->errorText().isEmpty());
    dialog->accept();
    QCOMPARE(layersOf(window), kNetwork);
}

/// The columns of the table are those that the user's network takes; the classes are three.
void TestOpenedNetwork::theLastLayerIsChangedForData() {
    std::string text = "c0,c1,kind\n";
    for (int row = 0; row < 200; ++row)
        text += std::to_string(0.25 + 37 * row % 211) + "," + std::to_string(11 * row % 97) + "," +
                std::vector<std::string>{"oak", "elm", "ash"}[static_cast<size_t>(row) % 3] + "\n";
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& config = window.config();
    QVERIFY(config.setData(config.index(config.rowOf("model.layers")),
                           QString::fromStdString(kNetwork)));
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("trees.csv"), text)));
    QTRY_COMPARE_WITH_TIMEOUT(window.windowTitle(), QStringLiteral("trees – Halfscope"), kPatience);
    QVERIFY2(
        window.bannerText().startsWith("Your network does not fit these data and is not used: "),
        qPrintable(window.bannerText()));
    QPushButton& change = offerOf(window);
    QCOMPARE(change.text(), QStringLiteral("Change its last layer"));
    change.click();
    QCOMPARE(window.bannerText(),
             QStringLiteral("Your network is used with these data. Its last layer was changed to "
                            "Linear(6, 3). Ctrl+Z brings back the network before it."));
    QCOMPARE(layersOf(window),
             std::string("nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 3))"));
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(!window.config().restartNeeded());
}

} // namespace tst_opened_network

QTEST_MAIN(tst_opened_network::TestOpenedNetwork)
#include "tst_opened_network.moc"
