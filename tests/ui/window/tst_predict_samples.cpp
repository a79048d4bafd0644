// File > Predict new samples: from the menu to the table that is written.
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"

#include <QSignalSpy>

namespace tst_predict_samples {

using namespace halfscope;

class TestPredictSamples : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aTableGetsAColumn();
    void picturesHaveNone();

private:
    /// Returns the entries that the submenu has when it opens.
    static QList<QAction*> entries(MainWindow& window);
};

QList<QAction*> TestPredictSamples::entries(MainWindow& window) {
    QAction* menu = fileAction(window, QStringLiteral("Predict new s&amples"));
    if (!menu || !menu->menu()) return {};
    emit menu->menu()->aboutToShow();
    return menu->menu()->actions();
}

void TestPredictSamples::aTableGetsAColumn() {
    std::string text = "size,kind\n";
    for (int i = 0; i < 100; ++i)
        text += std::to_string(i) + (i < 50 ? ",small\n" : ",large\n");
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(window.tryFile(write(opened.folder, QStringLiteral("kinds.csv"), text)));
    QTRY_COMPARE(window.windowTitle(), QStringLiteral("kinds – Halfscope"));
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    const QString samples = write(opened.folder, QStringLiteral("new.csv"), "size\n3\n97\n");
    const QString to = opened.folder.filePath(QStringLiteral("answer.csv"));
    const QSignalSpy saved(&window.controller(), &ExperimentController::laneSaved);
    const QList<QAction*> lanes = entries(window);
    QCOMPARE(lanes.size(), 2);
    QTimer answering;
    connect(&answering, &QTimer::timeout, this, [&samples, &to] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (!dialog || !dialog->isVisible()) return;
        // answered again until it closes: its list of files may still be filled
        dialog->selectFile(dialog->acceptMode() == QFileDialog::AcceptSave ? to : samples);
        QMetaObject::invokeMethod(dialog, "accept");
    });
    answering.start(10);
    lanes[1]->trigger();
    QVERIFY(QTest::qWaitFor([&] { return saved.count() > 0; }, kPatience));
    QFile file(to);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("size,kind_predicted\n3,small\n97,large\n"));
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
}

void TestPredictSamples::picturesHaveNone() {
    Opened opened(tinyConfig(5));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    RunConfig painted = defaultConfig();
    painted.task.side = 8;
    opened.window.openExperiment(
        write(opened.folder, QStringLiteral("painted.json"), configText(painted)));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const QList<QAction*> all = entries(opened.window);
    QCOMPARE(all.size(), 1);
    QVERIFY(!all[0]->isEnabled());
}

} // namespace tst_predict_samples

QTEST_MAIN(tst_predict_samples::TestPredictSamples)
#include "tst_predict_samples.moc"
