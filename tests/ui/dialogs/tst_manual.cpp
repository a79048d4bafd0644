// The manual without its window: pages, links between them, search, and that a page cannot open any
// file.
#include "ui/dialogs/help.h"
#include "ui/dialogs/manual.h"

#include "engine/core/error.h"
#include "engine/settings/fields.h"

#include <QDir>
#include <QSet>
#include <QTest>
#include <QTextBlock>
#include <QTextCursor>

namespace tst_manual {

using namespace halfscope;

namespace {

const QString kEnglish = QStringLiteral("en");

struct Link {
    QString text;
    QUrl to;
};

QList<Link> linksOf(const QTextDocument& document) {
    QList<Link> links;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            const QTextCharFormat format = it.fragment().charFormat();
            if (!format.anchorHref().isEmpty())
                links.append({it.fragment().text(), QUrl(format.anchorHref())});
        }
    return links;
}

QSet<QString> anchorsOf(const QTextDocument& document) {
    QSet<QString> anchors;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it)
            for (const QString& name : it.fragment().charFormat().anchorNames())
                anchors.insert(name);
    return anchors;
}

} // namespace

class TestManual : public QObject {
    Q_OBJECT
private slots:
    void everyFileIsAPage();
    void everyLinkLeadsSomewhere();
    void windowsPlacesExist();
    void readsAsText();
    void anchors();
    void placesOfLinks();
    void searchFindsRows();
    void searchMarksTheWords();
    void searchOfNothing();
    void unknownLanguageIsEnglish();

private:
    Manual m_manual{kEnglish};
};

/// The index lists each page once, with a heading above it.
void TestManual::everyFileIsAPage() {
    QStringList files = QDir(QStringLiteral(":/manual/en")).entryList();
    QVERIFY(files.size() > 10);
    QStringList listed;
    for (const ManualPage& page : m_manual.pages()) {
        listed << page.name + QStringLiteral(".md");
        QVERIFY2(!page.title.isEmpty(), qPrintable(page.name));
        QCOMPARE(page.group.isEmpty(), page.name == QLatin1String("index"));
        const auto document = m_manual.render(m_manual.indexOf(page.name));
        QCOMPARE(document->begin().blockFormat().headingLevel(), 1);
    }
    files.sort();
    listed.sort();
    QCOMPARE(listed, files);
}

void TestManual::everyLinkLeadsSomewhere() {
    int within = 0, presets = 0;
    for (int page = 0; page < m_manual.pages().size(); ++page)
        for (const Link& link : linksOf(*m_manual.render(page))) {
            const QByteArray where =
                m_manual.pages()[page].name.toUtf8() + ": " + link.to.toString().toUtf8();
            if (link.to.scheme() == QLatin1String(kPresetScheme)) {
                const Preset& preset = presetNamed(link.to.path().toStdString());
                const bool named = link.text == QString::fromUtf8(preset.title.text()) ||
                                   link.text == QString::fromStdString(preset.name);
                QVERIFY2(named, where); // as the window's box or the table calls it
                ++presets;
                continue;
            }
            if (link.to.scheme() == QLatin1String("https")) continue;
            const ManualPlace place = m_manual.placeOf(link.to, page);
            const int target = m_manual.indexOf(place.page);
            QVERIFY2(target >= 0, where);
            if (!place.heading.isEmpty())
                QVERIFY2(anchorsOf(*m_manual.render(target)).contains(place.heading), where);
            ++within;
        }
    QVERIFY(within > 30);
    QVERIFY(presets > 20);
}

void TestManual::windowsPlacesExist() {
    for (const char* address : {kHelpWords, kHelpLesson, kHelpQuestions, kHelpMarks, kHelpKeys}) {
        const ManualPlace place = Manual::placeNamed(QLatin1String(address));
        const int page = m_manual.indexOf(place.page);
        QVERIFY2(page >= 0, address);
        if (!place.heading.isEmpty())
            QVERIFY2(anchorsOf(*m_manual.render(page)).contains(place.heading), address);
    }
}

/// No marker of a generated part is visible, and neither pictures nor other files are read.
void TestManual::readsAsText() {
    for (int page = 0; page < m_manual.pages().size(); ++page) {
        const QString text = m_manual.render(page)->toPlainText();
        QVERIFY2(!text.contains(QLatin1String("<!--")), qPrintable(m_manual.pages()[page].name));
        QVERIFY2(!text.contains(QChar::ObjectReplacementCharacter), qPrintable(text));
    }
    ManualDocument document;
    document.setMarkdown(QStringLiteral("![x](/etc/hostname) <img src='/etc/hostname'>"),
                         QTextDocument::MarkdownNoHTML);
    QVERIFY(!document.resource(QTextDocument::ImageResource, QUrl(QStringLiteral("/etc/hostname")))
                 .isValid());
}

void TestManual::anchors() {
    QCOMPARE(Manual::anchorOf(QStringLiteral("Exit codes")), QStringLiteral("exit-codes"));
    QCOMPARE(Manual::anchorOf(QStringLiteral("steps.csv")), QStringLiteral("stepscsv"));
    QCOMPARE(Manual::anchorOf(QStringLiteral("\u201cSkipping\u201d: is that normal?")),
             QStringLiteral("skipping-is-that-normal"));
}

void TestManual::placesOfLinks() {
    const int from = m_manual.indexOf(QStringLiteral("files"));
    const auto place = [&](const char* link) {
        const ManualPlace found = m_manual.placeOf(QUrl(QLatin1String(link)), from);
        return found.page + u'#' + found.heading;
    };
    QCOMPARE(place("settings.md#run"), QStringLiteral("settings#run"));
    QCOMPARE(place("settings.md"), QStringLiteral("settings#"));
    QCOMPARE(place("#stepscsv"), QStringLiteral("files#stepscsv"));
    for (const char* elsewhere : {"https://example.org/settings.md", "file:settings.md",
                                  "../../../README.md", "nothing.md", "//host/settings.md"})
        QCOMPARE(place(elsewhere), QStringLiteral("#"));
}

/// A row of a table is one passage: a key in its first cell and a word in its last are found
/// together.
void TestManual::searchFindsRows() {
    const QList<ManualHit> hits = m_manual.search(QStringLiteral("OPTIMIZER.LR  step"));
    const auto inSettings = [this](const ManualHit& hit) {
        return m_manual.pages()[hit.page].name == QLatin1String("settings") &&
               hit.excerpt.startsWith(QStringLiteral("optimizer.lr \u00b7 0.001"));
    };
    QVERIFY(std::any_of(hits.begin(), hits.end(), inSettings));
    QVERIFY(m_manual.search(QStringLiteral("optimizer.lr nonexistentword")).isEmpty());
}

/// Words are marked in the second cell of a row, too; a phrase in one piece is marked as a whole.
void TestManual::searchMarksTheWords() {
    for (const QString& words : {QStringLiteral("growth interval"), QStringLiteral("master")}) {
        const QList<ManualHit> hits = m_manual.search(words);
        QVERIFY(hits.size() > 2);
        int whole = 0;
        for (const ManualHit& hit : hits) {
            const auto document = m_manual.render(hit.page);
            QTextCursor cursor(document.get());
            cursor.setPosition(hit.position);
            cursor.setPosition(hit.position + hit.length, QTextCursor::KeepAnchor);
            const QString marked = cursor.selectedText().toLower();
            QVERIFY2(marked == words || marked == words.section(u' ', 0, 0), qPrintable(marked));
            QVERIFY(hit.excerpt.contains(marked, Qt::CaseInsensitive));
            whole += marked == words ? 1 : 0;
        }
        QVERIFY(whole > 1);
    }
}

void TestManual::searchOfNothing() {
    QVERIFY(m_manual.search(QString()).isEmpty());
    QVERIFY(m_manual.search(QStringLiteral("   ")).isEmpty());
}

void TestManual::unknownLanguageIsEnglish() {
    const Manual other(QStringLiteral("xx"));
    QCOMPARE(other.pages().size(), m_manual.pages().size());
    QCOMPARE(other.render(0)->toPlainText(), m_manual.render(0)->toPlainText());
}

} // namespace tst_manual

QTEST_MAIN(tst_manual::TestManual)
#include "tst_manual.moc"
