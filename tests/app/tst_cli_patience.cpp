// Early stopping from outside: what a run says that ended for want of a better validation, what its
// summary has, and how it goes on.
#include "engine/io/atomic_file.h"
#include "tests/support/cli.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

namespace tst_cli_patience {

using namespace halfscope;
using namespace halfscope::test;

class TestCliPatience : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void saysWhy();
    void goesOn();
    void mapsSayWhy();
    void isWithoutEffect();

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    /// Steps that are too large: the loss is the best after the first validation, that of step 2.
    QStringList diverging(const char* command) const {
        QStringList arguments{command,   m_table, "--device", "cpu",
                              "--lanes", "fp32",  "--steps",  "20"};
        for (const char* setting : {"validation.steps=2", "validation.epochs=0",
                                    "optimizer.kind=sgd", "optimizer.lr=0.5", "run.patience=2"})
            arguments << "--set" << setting;
        return arguments;
    }
    QString outcomeIn(const char* folder) const {
        const QString summary = path(folder) + "/summary.json";
        return QJsonDocument::fromJson(contentOf(summary))["outcome"].toString();
    }

    QTemporaryDir m_folder;
    QString m_table;
};

void TestCliPatience::initTestCase() {
    std::string text = "a,price\n";
    for (int i = 0; i < 60; ++i)
        text += std::to_string(i) + "," + std::to_string(100 * i + i % 7) + "\n";
    m_table = path("prices.csv");
    writeFileAtomically(m_table.toStdString(), text);
}

void TestCliPatience::saysWhy() {
    const Outcome ended =
        call(diverging("run") + QStringList{"--out", path("run"), "--checkpoint-every", "4"});
    QVERIFY2(ended.code == 0, ended.error);
    const QRegularExpression line(
        "(^|\n)Ended after step 6 of 20( \\(epoch \\d+ of \\d+\\))?: In the last 2 validations no "
        "lane had a new best, so the run ended \\(run\\.patience\\)\\.\n");
    QVERIFY2(line.match(QString::fromUtf8(ended.out)).hasMatch(), ended.out);
    QVERIFY2(!ended.out.contains("Interrupted"), ended.out);
    QCOMPARE(outcomeIn("run"), QStringLiteral("out_of_patience"));
}

void TestCliPatience::goesOn() {
    const QStringList resume{"run", "--resume", path("run"), "--out", path("run")};
    const Outcome still = call(resume);
    QVERIFY2(still.code == 0, still.error);
    QVERIFY2(still.out.contains("Nothing was trained: the checkpoint is after step 6, and the run "
                                "had ended there; --set run.patience=N lets it go on, with N above "
                                "2, or 0\n"),
             still.out);
    const Outcome longer = call(resume + QStringList{"--set", "run.patience=3"});
    QVERIFY2(longer.code == 0, longer.error);
    QVERIFY2(longer.out.contains("Ended after step 8 of 20"), longer.out);
    const Outcome whole = call(resume + QStringList{"--set", "run.patience=0"});
    QVERIFY2(whole.code == 0, whole.error);
    QVERIFY2(!whole.out.contains("Ended after") && !whole.out.contains("Nothing"), whole.out);
    QCOMPARE(outcomeIn("run"), QStringLiteral("finished"));
}

/// No star: those are of cells whose scale reached its floor.
void TestCliPatience::mapsSayWhy() {
    const Outcome map = call(diverging("sweep") + QStringList{"--sweep", "optimizer.lr=0.4,0.5"});
    QVERIFY2(map.code == 0, map.error);
    const QRegularExpression line("\\n\\w[^\\n]*0\\.5: In the last 2 validations no lane had");
    QVERIFY2(line.match(QString::fromUtf8(map.out)).hasMatch(), map.out);
}

void TestCliPatience::isWithoutEffect() {
    const Outcome idle = call({"run", "--preset", "checkerboard", "--device", "cpu", "--steps", "1",
                               "--set", "run.patience=3"});
    QVERIFY2(idle.code == 0, idle.error);
    QVERIFY2(idle.error.contains("Without effect beside the other settings: run.patience\n"),
             idle.error);
}

} // namespace tst_cli_patience

QTEST_GUILESS_MAIN(tst_cli_patience::TestCliPatience)
#include "tst_cli_patience.moc"
