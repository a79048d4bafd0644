// One file of data that was chosen where all of them are meant: those of MNIST are opened as their
// folder, and the classes around a picture are offered.
#include "engine/data/data_around.h"
#include "tests/support/array_files.h"
#include "tests/support/opened_window.h"
#include "tests/support/picture_training.h"

#include <QDir>
#include <QPushButton>

namespace tst_whole_data {

using namespace halfscope;

namespace {

bool opens(MainWindow& window, const QString& path) { // it may be read aside
    window.tryFile(path);
    return QTest::qWaitFor([&] { return !window.opens(); }, kPatience) &&
           reaches(window, SessionState::Ready);
}

QPushButton* offerOf(const MainWindow& window) {
    for (auto* button : window.findChildren<QPushButton*>())
        if (button->isVisible() && button->text() == QStringLiteral("Open the folder"))
            return button;
    return nullptr;
}

/// Writes 20 pictures of digits to train on and 4 to validate on.
void writeMnist(const QTemporaryDir& folder) {
    for (const auto& [part, count] : {std::pair("train", 20), std::pair("t10k", 4)}) {
        std::string labels, pixels;
        for (int i = 0; i < count; ++i) {
            labels += static_cast<char>(i % 10);
            pixels += std::string(64, static_cast<char>(6 * i));
        }
        const auto number = static_cast<uint32_t>(count);
        const QString start = QLatin1String(part);
        write(folder, start + QStringLiteral("-images-idx3-ubyte"),
              idxBytes({number, 8, 8}, pixels));
        write(folder, start + QStringLiteral("-labels-idx1-ubyte"), idxBytes({number}, labels));
    }
}

} // namespace

class TestWholeData : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aFileOfMnistOpensItsFolder();
    void oneFileOfMnistAloneIsRefused();
    void whoseNetworkIsKeptIsToldToo();
    void classesAroundAPictureAreOffered();
    void onlyClassesAreOffered();
    void foldersThatAreNotAllClassesAreNot();
    void aPictureBesideRefusedDataIsPainted();
};

void TestWholeData::aFileOfMnistOpensItsFolder() {
    const QTemporaryDir digits;
    writeMnist(digits);
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    for (const char* name : {"t10k-labels-idx1-ubyte", "train-images-idx3-ubyte"}) {
        QVERIFY(opens(window, digits.filePath(QLatin1String(name))));
        QCOMPARE(window.config().config().task.kind, TaskKind::Mnist);
        QCOMPARE(window.config().config().task.path, digits.path().toStdString());
        QCOMPARE(window.bannerText(),
                 QStringLiteral("%1 is only one file of these data, so the folder with all of them "
                                "was opened: %2")
                     .arg(QLatin1String(name), digits.path()));
    }
    QVERIFY(stepsTo(window, 1));
}

void TestWholeData::oneFileOfMnistAloneIsRefused() {
    const QTemporaryDir digits;
    Opened opened(tinyConfig(5));
    const QString alone = write(digits, QStringLiteral("t10k-labels-idx1-ubyte"), "x");
    opened.window.tryFile(alone);
    QVERIFY(QTest::qWaitFor([&] { return !opened.window.opens(); }, kPatience));
    QVERIFY2(opened.window.bannerText().endsWith(
                 QStringLiteral("one of the four files of MNIST; open the folder that holds them")),
             qPrintable(opened.window.bannerText()));
}

/// Also where there is something to tell of the user's network.
void TestWholeData::whoseNetworkIsKeptIsToldToo() {
    const QTemporaryDir digits;
    writeMnist(digits);
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& config = window.config();
    QVERIFY(config.setData(config.index(config.rowOf("model.layers")),
                           QStringLiteral("nn.Sequential(nn.Linear(2, 1))")));
    QVERIFY(opens(window, digits.filePath(QStringLiteral("t10k-labels-idx1-ubyte"))));
    const QStringList told = window.bannerText().split(u'\n');
    QCOMPARE(told.size(), qsizetype{2});
    QVERIFY2(told[0].endsWith("was opened: " + digits.path()), qPrintable(told[0]));
    QVERIFY2(told[1].startsWith("Your network does not fit these data and is not used: "),
             qPrintable(told[1]));
}

void TestWholeData::classesAroundAPictureAreOffered() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    window.show();
    const QString folder = opened.folder.filePath(QStringLiteral("shapes"));
    onPictures(folder, 1); // writes them
    QVERIFY(opens(window, folder + QStringLiteral("/train/0/0.png")));
    QCOMPARE(window.config().config().task.kind, TaskKind::Image);
    QCOMPARE(
        window.bannerText(),
        QStringLiteral("The networks paint this picture. It belongs to one of 2 classes in the "
                       "folder %1.")
            .arg(folder));
    QPushButton* offer = offerOf(window);
    QVERIFY(offer);
    offer->click();
    const auto isOpen = [&] {
        return window.config().config().task.path == folder.toStdString() && !window.opens();
    };
    QVERIFY(QTest::qWaitFor(isOpen, kPatience));
    QCOMPARE(window.config().config().task.kind, TaskKind::Pictures);
    QVERIFY(window.bannerText().isEmpty());
}

/// A picture among others is only painted.
void TestWholeData::onlyClassesAreOffered() {
    const QTemporaryDir folder;
    onPictures(folder.filePath(QStringLiteral("a/b")), 1);
    const std::string part = folder.filePath(QStringLiteral("a/b/train")).toStdString();
    QCOMPARE(classesAround(part + "/0/0.png")->folder,
             folder.filePath(QStringLiteral("a/b")).toStdString());
    QVERIFY(QDir(folder.path()).rename(QStringLiteral("a/b/train"), QStringLiteral("a/b/set")));
    QVERIFY(QDir(folder.filePath(QStringLiteral("a/b/val"))).removeRecursively());
    const std::string set = folder.filePath(QStringLiteral("a/b/set")).toStdString();
    const std::optional<PictureClasses> around = classesAround(set + "/1/1.png");
    QVERIFY(around);
    QCOMPARE(around->folder, set);
    QCOMPARE(around->classes, size_t{2});
    QVERIFY(QDir(folder.filePath(QStringLiteral("a/b/set/0"))).removeRecursively());
    QVERIFY(!classesAround(set + "/1/1.png")); // one folder is no choice
    QVERIFY(!classesAround("/picture.png"));
    QVERIFY(!classesAround("picture.png"));
}

/// As in a home in which the folders of pictures and of downloads both hold some.
void TestWholeData::foldersThatAreNotAllClassesAreNot() {
    const QTemporaryDir folder;
    onPictures(folder.filePath(QStringLiteral("a")), 1);
    QVERIFY(QDir(folder.path()).rename(QStringLiteral("a/train"), QStringLiteral("home")));
    const std::string home = folder.filePath(QStringLiteral("home")).toStdString();
    QVERIFY(classesAround(home + "/0/0.png"));
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("home/documents/0")));
    QVERIFY(!classesAround(home + "/0/0.png"));
}

/// The folder around it has another class to validate on, so it is no data as a whole.
void TestWholeData::aPictureBesideRefusedDataIsPainted() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    const QString folder = opened.folder.filePath(QStringLiteral("pets"));
    onPictures(folder, 1);
    QVERIFY(QDir(folder).rename(QStringLiteral("val"), QStringLiteral("test")));
    QVERIFY(QDir(folder).rename(QStringLiteral("test/0"), QStringLiteral("test/test")));
    const QString picture = folder + QStringLiteral("/train/0/0.png");
    const std::optional<PictureClasses> around = classesAround(picture.toStdString());
    QVERIFY(around);
    QCOMPARE(around->folder, folder.toStdString() + "/train");
    QVERIFY(opens(window, picture));
    QCOMPARE(window.config().config().task.kind, TaskKind::Image);
}

} // namespace tst_whole_data

QTEST_MAIN(tst_whole_data::TestWholeData)
#include "tst_whole_data.moc"
