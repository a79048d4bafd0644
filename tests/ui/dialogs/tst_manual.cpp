// The manual without its window: pages, links between them, search, and that a page cannot open any
// file.
#include "ui/dialogs/help.h"
#include "ui/dialogs/manual.h"

#include "engine/core/error.h"
#include "engine/settings/fields.h"

#include <QAbstractTextDocumentLayout>
#include <QDir>
#include <QSet>
#include <QTest>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextLayout>
#include <QTextTable>

#include <algorithm>
#include <map>
#include <memory>

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
    void searchFindsKeys();
    void searchMarksTheWords();
    void searchPutsTermsFirst();
    void searchPutsHeadingsFirst();
    void searchFindsHeadingsAndText_data();
    void searchFindsHeadingsAndText();
    void searchReadsQuestions_data();
    void searchReadsQuestions();
    void searchShowsTheMost();
    void searchKnowsLanes();
    void searchOfNothing();
    void settingsFitTheWindow();
    void columnsFitTheirWords();
    void unknownLanguageIsEnglish();

private:
    QString nameOf(const ManualHit& hit) const { return m_manual.pages()[hit.page].name; }

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
    for (const char* address :
         {kHelpWords, kHelpLesson, kHelpQuestions, kHelpMarks, kHelpLayers, kHelpKeys}) {
        const ManualPlace place = Manual::placeNamed(QLatin1String(address));
        const int page = m_manual.indexOf(place.page);
        QVERIFY2(page >= 0, address);
        if (!place.heading.isEmpty())
            QVERIFY2(anchorsOf(*m_manual.render(page)).contains(place.heading), address);
    }
    const int settings = m_manual.indexOf(QLatin1String(kHelpSettings));
    QVERIFY(settings >= 0);
    const QSet<QString> rows = anchorsOf(*m_manual.render(settings));
    for (const Field& field : fieldTable())
        QVERIFY2(rows.contains(QString::fromStdString(field.key)), field.key.c_str());
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

/// A line of a list is one passage: the key of a setting and a word behind it are found together.
void TestManual::searchFindsKeys() {
    const QList<ManualHit> hits = m_manual.search(QStringLiteral("OPTIMIZER.LR  step")).hits;
    const auto inSettings = [this](const ManualHit& hit) {
        return m_manual.pages()[hit.page].name == QLatin1String("settings") &&
               hit.excerpt.startsWith(QStringLiteral("Key: optimizer.lr; an edit acts"));
    };
    QVERIFY(std::any_of(hits.begin(), hits.end(), inSettings));
}

/// Words are marked in the second cell of a row, too; a phrase in one piece is marked as a whole.
void TestManual::searchMarksTheWords() {
    for (const QString& words : {QStringLiteral("growth interval"), QStringLiteral("master")}) {
        const QList<ManualHit> hits = m_manual.search(words).hits;
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

/// Its explanation comes before the places that use the word.
void TestManual::searchPutsTermsFirst() {
    const QList<ManualHit> hits = m_manual.search(QStringLiteral("subnormal")).hits;
    QVERIFY(hits.size() > 2);
    QCOMPARE(nameOf(hits.front()), QStringLiteral("words"));
    QVERIFY(hits.front().excerpt.startsWith(QStringLiteral("Subnormal \u00b7 ")));
    QVERIFY(std::is_sorted(std::next(hits.begin()), hits.end(),
                           [](const ManualHit& a, const ManualHit& b) { return a.page < b.page; }));
    // a term comes before the meanings of others
    const QList<ManualHit> scale = m_manual.search(QStringLiteral("loss scale")).hits;
    QVERIFY2(scale.front().excerpt.startsWith(QStringLiteral("Loss scale \u00b7 ")),
             qPrintable(scale.front().excerpt));
}

/// A page with a heading that is a hit comes before other pages, and the heading before its text.
void TestManual::searchPutsHeadingsFirst() {
    const QList<ManualHit> hits = m_manual.search(QStringLiteral("tensorboard")).hits;
    QVERIFY(hits.size() > 3);
    QCOMPARE(hits.front().excerpt, QStringLiteral("TensorBoard"));
    QCOMPARE(nameOf(hits.front()), QStringLiteral("files"));
    QVERIFY(hits.back().page != hits.front().page);
    const auto earlier = [&](const ManualHit& hit) { return hit.page < hits.front().page; };
    QVERIFY(std::any_of(hits.begin(), hits.end(), earlier)); // in the order of the index
    QSet<int> left; // pages whose hits have all been listed
    for (qsizetype i = 1; i < hits.size(); ++i) {
        if (hits[i].page != hits[i - 1].page) left.insert(hits[i - 1].page);
        QVERIFY(!left.contains(hits[i].page));
    }
}

void TestManual::searchFindsHeadingsAndText_data() {
    QTest::addColumn<QString>("word");
    for (const char* word : {"underflow", "skip", "nan", "bf16", "scale"})
        QTest::newRow(word) << QString::fromLatin1(word);
}

/// Words that readers of the window look for are found in many places; a heading is told whole.
void TestManual::searchFindsHeadingsAndText() {
    QFETCH(const QString, word);
    const QList<ManualHit> hits = m_manual.search(word).hits;
    QVERIFY2(hits.size() > 10, qPrintable(QString::number(hits.size())));
    std::map<int, std::unique_ptr<ManualDocument>> pages;
    int headings = 0;
    for (const ManualHit& hit : hits) {
        auto& document = pages[hit.page];
        if (!document) document = m_manual.render(hit.page);
        const QTextBlock block = document->findBlock(hit.position);
        QVERIFY(hit.excerpt.contains(word, Qt::CaseInsensitive));
        if (block.blockFormat().headingLevel() == 0) continue;
        QCOMPARE(hit.excerpt, block.text());
        ++headings;
    }
    QVERIFY(headings > 0);
}

void TestManual::searchReadsQuestions_data() {
    QTest::addColumn<QString>("excerpt"); // one of the places
    const auto row = [](const char* question, const char* excerpt) {
        QTest::newRow(question) << QString::fromLatin1(excerpt);
    };
    row("bf16 vs fp16", "fp16 or bf16? Does bf16 need a loss scale?");
    row("loss becomes nan", "The loss is nan or inf");
    row("Why is my loss nan?", "The loss is nan or inf");
    row("What does the loss scale do", "What does the loss scale do?");
    row("exploding gradients", "exploding gradients");
    row("vanishing", "Vanishing gradients");
    row("test my network on new data", "How do I test my network on new data?");
    row("export python", "How do I export my network as Python code?");
    row("confusion matrix", "the confusion matrix?");
    row("why is half slower", "Why is half precision slower");
    row("65536", "65536 (2^16) is the default init_scale");
    row("65,536", "65,536 at first?"); // an excerpt begins near the word
    row("2000", "After 2000 clean steps in a row");
    row("2,000", "after 2,000 steps?");
    row("why does the scale double", "scale double after 2,000 steps?");
    row("nan in the batch", "holds nan?");
}

/// Words that say nothing, and marks around words, keep no place away.
void TestManual::searchReadsQuestions() {
    QFETCH(QString, excerpt);
    const ManualFindings found = m_manual.search(QString::fromLatin1(QTest::currentDataTag()));
    QVERIFY(found.complete);
    QVERIFY(std::any_of(found.hits.begin(), found.hits.end(), [&](const ManualHit& hit) {
        return nameOf(hit) == QLatin1String("questions") && hit.excerpt.contains(excerpt);
    }));
}

/// Where no place has all words, a place with two of them hides those with one.
void TestManual::searchShowsTheMost() {
    const ManualFindings some =
        m_manual.search(QStringLiteral("nonexistentword optimizer.lr finetunes scaler.init_scale"));
    QVERIFY(!some.complete && !some.hits.isEmpty());
    const ManualFindings both = m_manual.search(QStringLiteral("optimizer.lr scaler.init_scale"));
    QVERIFY(both.complete);
    QCOMPARE(some.hits.size(), both.hits.size());
    QCOMPARE(some.hits.front().excerpt, both.hits.front().excerpt);
    const ManualFindings fp16 =
        m_manual.search(QStringLiteral("nonexistentword between fp16 and bf16"));
    QVERIFY(!fp16.complete);
    QCOMPARE(fp16.hits.size(), m_manual.search(QStringLiteral("fp16 bf16")).hits.size());
}

/// "lane A" is not on all pages that have a lane and any word with an A in it.
void TestManual::searchKnowsLanes() {
    const ManualFindings found = m_manual.search(QStringLiteral("lane A"));
    QVERIFY(found.complete);
    QVERIFY(std::any_of(found.hits.begin(), found.hits.end(), [&](const ManualHit& hit) {
        return hit.excerpt.contains(QLatin1String("lane A is underlined"));
    }));
    const auto hits = [&](const char* words) {
        return m_manual.search(QString::fromLatin1(words)).hits.size();
    };
    QVERIFY2(found.hits.size() < hits("lane"), qPrintable(QString::number(found.hits.size())));
    QCOMPARE(hits("A loss"), hits("loss")); // an article
    QCOMPARE(hits("how a loss"), hits("loss"));
}

void TestManual::searchOfNothing() {
    for (const char* nothing : {"", "   ", "nonexistentword", "?", "nonexistentword another1"})
        QVERIFY2(m_manual.search(QLatin1String(nothing)).hits.isEmpty(), nothing);
    QVERIFY(!m_manual.search(QStringLiteral("the")).hits.isEmpty()); // no other word to look for
}

/// A setting is told in the width of the help window: its sentence, its range and PyTorch's name
/// stand below its heading, and no line is cut off.
void TestManual::settingsFitTheWindow() {
    constexpr double kNarrow = 320; // pixels
    const auto page = m_manual.render(m_manual.indexOf(QLatin1String(kHelpSettings)));
    page->setTextWidth(kNarrow);
    QTextBlock at = page->begin();
    while (at.isValid() && at.text() != QLatin1String("Growth interval"))
        at = at.next();
    QVERIFY(at.isValid() && at.blockFormat().headingLevel() == 3);
    at = at.next();
    QVERIFY2(at.text().startsWith(QLatin1String("Number of clean steps")), qPrintable(at.text()));
    at = at.next();
    QVERIFY2(at.text().startsWith(QLatin1String("Allowed: a whole number")), qPrintable(at.text()));
    at = at.next();
    QCOMPARE(at.text(), QStringLiteral("In PyTorch: growth_interval of torch.amp.GradScaler"));
    for (QTextBlock block = page->begin(); block.isValid(); block = block.next()) {
        if (block.text().isEmpty() || QTextCursor(block).currentTable()) continue;
        QVERIFY2(page->documentLayout()->blockBoundingRect(block).right() <= kNarrow,
                 qPrintable(block.text()));
    }
}

/// In a narrow dialog, too, a column is as wide as its longest word: Qt would break words.
void TestManual::columnsFitTheirWords() {
    const auto page = m_manual.render(m_manual.indexOf(QStringLiteral("building")));
    page->setTextWidth(540);
    QVERIFY(page->documentLayout()->documentSize().height() > 0); // makes the lines
    int rows = 0;
    for (QTextBlock block = page->begin(); block.isValid(); block = block.next()) {
        const QTextTable* table = QTextCursor(block).currentTable();
        if (!table || table->columns() < 4) continue;
        for (int i = 0; i + 1 < block.layout()->lineCount(); ++i, ++rows) {
            const QTextLine line = block.layout()->lineAt(i);
            QCOMPARE(block.text().at(line.textStart() + line.textLength() - 1), QChar(u' '));
        }
    }
    QVERIFY(rows > 0);
}

void TestManual::unknownLanguageIsEnglish() {
    const Manual other(QStringLiteral("xx"));
    QCOMPARE(other.pages().size(), m_manual.pages().size());
    QCOMPARE(other.render(0)->toPlainText(), m_manual.render(0)->toPlainText());
}

} // namespace tst_manual

QTEST_MAIN(tst_manual::TestManual)
#include "tst_manual.moc"
