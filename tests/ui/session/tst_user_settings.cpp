// The user's settings on a disk that answers, and on one that does not: a pipe, which a reader can
// open only together with a writer.
#include "ui/session/user_settings.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tst_user_settings {

using namespace halfscope;

namespace {

constexpr int kPatience = 60000; // ms
const QString kZoom = QStringLiteral("zoom");

bool becomesPipe(const QString& path) {
    QFile::remove(path);
    return mkfifo(qPrintable(path), 0600) == 0;
}

/// Ends the reading of a pipe; returns false when nobody reads it.
bool answers(const QString& path) {
    int pipe = -1;
    const auto opens = [&] { return (pipe = open(qPrintable(path), O_WRONLY | O_NONBLOCK)) >= 0; };
    return QTest::qWaitFor(opens, kPatience) && close(pipe) == 0 && QFile::remove(path);
}

} // namespace

class TestUserSettings : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void nothingBeforeTheDiskAnswers();
    void keptAtOnceAndOnDisk();
    void keptOnADiskThatFallsSilent();

private:
    QTemporaryDir m_folder;
    QString m_file;
};

void TestUserSettings::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_user_settings"));
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    m_file = QSettings().fileName();
    QVERIFY(QDir().mkpath(QFileInfo(m_file).path()));
}

/// Must be the first: the program has not seen its settings yet.
void TestUserSettings::nothingBeforeTheDiskAnswers() {
    QVERIFY(!missedUserSettings());
    QVERIFY(becomesPipe(m_file));
    QCOMPARE(userSettings(), QVariantMap());
    QVERIFY(missedUserSettings());
    QVERIFY(answers(m_file));
}

void TestUserSettings::keptAtOnceAndOnDisk() {
    keepUserSettings({{kZoom, 125}});
    QCOMPARE(userSettings().value(kZoom).toInt(), 125);
    QVERIFY(finishUserSettings(std::chrono::milliseconds(kPatience)));
    QCOMPARE(QSettings().value(kZoom).toInt(), 125);
    QCOMPARE(userSettings().value(kZoom).toInt(), 125);
}

/// What was written last is known, although the disk has not answered since.
void TestUserSettings::keptOnADiskThatFallsSilent() {
    keepUserSettings({{kZoom, 150}});
    QVERIFY(finishUserSettings(std::chrono::milliseconds(kPatience)));
    QVERIFY(becomesPipe(m_file));
    QCOMPARE(userSettings().value(kZoom).toInt(), 150);
    QVERIFY(answers(m_file));
}

} // namespace tst_user_settings

QTEST_GUILESS_MAIN(tst_user_settings::TestUserSettings)
#include "tst_user_settings.moc"
