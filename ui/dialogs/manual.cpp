// The index page is the only list of pages: its headings are the groups, its links the pages.
#include "ui/dialogs/manual.h"

#include "engine/settings/fields.h"
#include "engine/settings/run_config.h"
#include "ui/dialogs/help.h"

#include <QCoreApplication>
#include <QFile>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QPalette>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextList>
#include <QTextTable>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace halfscope {
namespace {

const QString kIndex = QStringLiteral("index");
const QString kEnding = QStringLiteral(".md");
constexpr int kExcerptBefore = 12, kExcerptAfter = 140; // characters around the word

/// Removes comments: they mark the parts that programs write, and are not for readers.
QString withoutComments(QString markdown) {
    static const QRegularExpression comment(QStringLiteral("<!--.*?-->"),
                                            QRegularExpression::DotMatchesEverythingOption);
    return markdown.remove(comment);
}

void addAnchor(const QTextBlock& block, const QString& name) {
    QTextCursor cursor(block);
    cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
    QTextCharFormat format;
    format.setAnchor(true);
    format.setAnchorNames(cursor.charFormat().anchorNames() << name);
    cursor.mergeCharFormat(format);
}

/// Adds anchors to the headings, which links need, and room above them: Qt gives them neither.
void arrangeHeadings(QTextDocument& document) {
    constexpr double kRoom = 14; // pixels
    QHash<QString, int> seen;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || block.text().isEmpty()) continue;
        QString name = Manual::anchorOf(block.text());
        if (const int before = seen[name]++; before > 0)
            name += u'-' + QString::number(before); // as GitHub tells equal headings apart
        addAnchor(block, name);
        QTextBlockFormat room;
        room.setTopMargin(block == document.begin() ? 0 : kRoom);
        QTextCursor(block).mergeBlockFormat(room);
    }
}

/// Makes lines of programs stand out, and wraps them so that they do not make the page wider than
/// the window.
void arrangePrograms(QTextDocument& document) {
    constexpr double kIndent = 12; // pixels
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QTextBlockFormat format = block.blockFormat();
        if (!format.hasProperty(QTextFormat::BlockCodeFence)) continue;
        format.setNonBreakableLines(false);
        format.setBackground(QGuiApplication::palette().color(QPalette::AlternateBase));
        format.setLeftMargin(kIndent);
        QTextCursor(block).setBlockFormat(format);
    }
}

/// Gives lists filled bullets: Qt draws hollow ones for lines that begin with a star.
void arrangeLists(QTextDocument& document) {
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        QTextList* list = block.textList();
        if (!list || list->format().style() != QTextListFormat::ListCircle) continue;
        QTextListFormat format = list->format();
        format.setStyle(QTextListFormat::ListDisc);
        list->setFormat(format);
    }
}

/// Returns the key of the setting that a section explains, if the line is the section's "Key".
QString keyIn(const QTextBlock& line) {
    if (!line.textList()) return {};
    for (auto it = line.begin(); !it.atEnd(); ++it) {
        if (!it.fragment().charFormat().fontFixedPitch()) continue;
        const QString code = it.fragment().text();
        return findField(code.toStdString()) ? code : QString();
    }
    return {};
}

/// Adds anchors to the headings of sections that explain a setting: its key.
void nameSettings(QTextDocument& document) {
    QTextBlock heading;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() > 0) heading = block;
        if (const QString key = keyIn(block); heading.isValid() && !key.isEmpty())
            addAnchor(heading, key);
    }
}

/// Returns the share of a table's width that each column takes: of many columns, Qt would make
/// those of words as wide as that of sentences, and break words.
QList<QTextLength> columnWidths(const QTextTable& table) {
    constexpr double kMost = 45;       // characters: longer texts have lines
    constexpr double kPadding = 3;     // characters
    constexpr double kCodeWidth = 1.3; // of a letter of code, in others
    QList<double> wanted;
    for (int column = 0; column < table.columns(); ++column) {
        double word = 1;
        qsizetype all = 0;
        for (int row = 0; row < table.rows(); ++row) {
            const QTextBlock block = table.cellAt(row, column).firstCursorPosition().block();
            const bool code = block.begin() != block.end() &&
                              block.begin().fragment().charFormat().fontFixedPitch();
            all += block.length();
            for (const QString& each : block.text().split(u' '))
                word = std::max(word, (code ? kCodeWidth : 1) * static_cast<double>(each.size()));
        }
        const double average = static_cast<double>(all) / table.rows();
        wanted << std::max(std::min(average, kMost), word) + kPadding;
    }
    const double sum = std::accumulate(wanted.begin(), wanted.end(), 0.0);
    QList<QTextLength> widths;
    for (const double each : wanted)
        widths << QTextLength(QTextLength::PercentageLength, 100 * each / sum);
    return widths;
}

/// Gives the cells room and the lines a quiet colour.
void arrangeTables(QTextDocument& document) {
    constexpr double kCellPadding = 5; // pixels
    const QColor line = QGuiApplication::palette().color(QPalette::Mid);
    for (QTextFrame* frame : document.rootFrame()->childFrames()) {
        auto* table = qobject_cast<QTextTable*>(frame);
        if (!table) continue;
        QTextTableFormat format = table->format();
        format.setCellPadding(kCellPadding);
        format.setCellSpacing(0);
        format.setTopMargin(kCellPadding);
        format.setBorder(1);
        format.setBorderCollapse(true);
        format.setBorderBrush(line);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        constexpr int kMany = 4; // columns
        if (table->columns() >= kMany) format.setColumnWidthConstraints(columnWidths(*table));
        table->setFormat(format);
    }
}

/// Whether a word is the letter of a lane: "A" is no article then.
bool isLaneLetter(const QString& word) {
    return word.size() == 1 && word[0] >= u'A' &&
           word[0].unicode() - u'A' < static_cast<int>(kMaxLanes);
}

/// Returns where words stand in a text, in upper or lower case; a lane's letter only as it is and
/// as a word of its own. -1 where they do not.
qsizetype placeIn(const QString& text, const QString& words) {
    QStringList parts = words.split(u' ');
    if (std::none_of(parts.begin(), parts.end(), isLaneLetter))
        return text.indexOf(words, 0, Qt::CaseInsensitive);
    for (QString& part : parts)
        part = isLaneLetter(part) ? QStringLiteral("\\b(?-i:%1)\\b").arg(part)
                                  : QRegularExpression::escape(part);
    return text.indexOf(
        QRegularExpression(parts.join(u' '), QRegularExpression::CaseInsensitiveOption |
                                                 QRegularExpression::UseUnicodePropertiesOption));
}

/// Text that is read and searched as one: a paragraph, or a row of a table with its cells side by
/// side.
struct Passage {
    QString text;
    QList<std::pair<int, int>> starts; ///< positions in `text` and in the document; ascending
    bool heading = false;

    void add(const QTextBlock& block) {
        heading = block.blockFormat().headingLevel() > 0;
        if (!text.isEmpty()) text += QStringLiteral(" \u00b7 ");
        starts.append({static_cast<int>(text.size()), block.position()});
        text += block.text();
    }
    int positionOf(qsizetype index) const {
        const auto after = std::upper_bound(
            starts.begin(), starts.end(), index,
            [](qsizetype at, const std::pair<int, int>& start) { return at < start.first; });
        const auto& start = *std::prev(after);
        return start.second + static_cast<int>(index) - start.first;
    }
    /// Returns the first cell of a row.
    QString firstCell() const { return starts.size() < 2 ? text : text.left(starts[1].first); }
    bool contains(const QString& word) const { return placeIn(text, word) >= 0; }
};

QList<Passage> passagesOf(const QTextDocument& document) {
    QList<Passage> passages;
    const QTextTable* table = nullptr;
    int row = -1;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        const QTextTable* in = QTextCursor(block).currentTable();
        const int at = in ? in->cellAt(block.position()).row() : -1;
        if (!in || in != table || at != row) passages.append(Passage());
        table = in;
        row = at;
        if (!block.text().isEmpty()) passages.back().add(block);
    }
    return passages;
}

QString excerptOf(const QString& text, qsizetype at) {
    qsizetype from = std::max<qsizetype>(0, at - kExcerptBefore);
    if (from > 0) from = text.indexOf(u' ', from) + 1; // whole words
    if (from > at) from = at;
    QString excerpt = text.mid(from, kExcerptBefore + kExcerptAfter);
    if (from > 0) excerpt.prepend(QStringLiteral("\u2026"));
    if (from + kExcerptBefore + kExcerptAfter < text.size()) excerpt += QStringLiteral("\u2026");
    return excerpt.replace(QChar::LineSeparator, u' ');
}

/// Returns the words to look for: those that tell something, or all if none does. A letter that
/// begins a sentence may be an article.
QStringList wantedWords(const QString& given) {
    //: Words that say nothing about what a search looks for, with one space between two of them
    static const char* const kFillers = QT_TRANSLATE_NOOP(
        "Manual", "a an and are as at be become becomes between by can do does for from how i in "
                  "is it its my of or than that the their then there these this to versus vs was "
                  "what when where which why will with");
    const QStringList fillers = QCoreApplication::translate("Manual", kFillers).split(u' ');
    static const QRegularExpression around(QStringLiteral("^[\"']+|[\"'?!,.;:]+$"));
    QStringList all, telling;
    for (QString word : given.simplified().split(u' ')) {
        if (word.remove(around).isEmpty()) continue;
        all << word;
        const bool letter = all.size() > 1 && isLaneLetter(word);
        if (letter || !fillers.contains(word, Qt::CaseInsensitive)) telling << word;
    }
    return telling.isEmpty() ? all : telling;
}

/// A hit, and what its place in the list follows from.
struct RankedHit {
    ManualHit hit;
    int rank = 0; ///< 0: a heading or a term; 1: the meaning of a term; 2: any other place
};

/// Returns what is marked in a passage that holds one of the words at least: the text as it was
/// given if the passage has it, else all words if they follow each other, else the first of them.
QString markedIn(const Passage& passage, const QString& given, const QStringList& wanted) {
    for (const QString& phrase : {given.simplified(), wanted.join(u' ')})
        if (passage.contains(phrase)) return phrase;
    return *std::find_if(wanted.begin(), wanted.end(),
                         [&passage](const QString& word) { return passage.contains(word); });
}

int rankOf(const Passage& passage, const QStringList& wanted, bool terms) {
    if (passage.heading) return 0;
    if (!terms) return 2;
    const QString term = passage.firstCell();
    const auto names = [&term](const QString& word) { return placeIn(term, word) >= 0; };
    return std::any_of(wanted.begin(), wanted.end(), names) ? 0 : 1;
}

/// Sorts the hits as Manual::search() promises.
void sortHits(QList<RankedHit>& hits, int terms) {
    QHash<int, int> best; // rank of each page
    for (const RankedHit& each : hits) {
        const auto known = best.constFind(each.hit.page);
        if (known == best.constEnd() || each.rank < *known) best[each.hit.page] = each.rank;
    }
    const auto key = [&](const RankedHit& each) {
        const int page = each.hit.page;
        return std::tuple(best[page], page != terms, page, each.rank, each.hit.position);
    };
    std::sort(hits.begin(), hits.end(),
              [&](const RankedHit& a, const RankedHit& b) { return key(a) < key(b); });
}

} // namespace

Manual::Manual(const QString& language) : m_language(language) {
    static const QRegularExpression heading(QStringLiteral("^## +(.+?) *$"));
    static const QRegularExpression link(
        QStringLiteral("^[*-] \\[([^\\]]+)\\]\\(([a-z0-9-]+)\\.md\\)"));
    const QString index = textOf(kIndex);
    const QString title = index.section(u'\n', 0, 0).remove(u'#').trimmed();
    m_pages.append({kIndex, title, QString()});
    QString group;
    for (const QString& line : index.split(u'\n')) {
        if (const auto match = heading.match(line); match.hasMatch()) group = match.captured(1);
        if (const auto match = link.match(line); match.hasMatch())
            m_pages.append({match.captured(2), match.captured(1), group});
    }
}

QString Manual::textOf(const QString& name) const {
    for (const QString& language : {m_language, QStringLiteral("en")}) {
        QFile file(QStringLiteral(":/manual/%1/%2%3").arg(language, name, kEnding));
        if (file.open(QIODevice::ReadOnly)) return QString::fromUtf8(file.readAll());
    }
    return {};
}

int Manual::indexOf(const QString& name) const {
    for (int i = 0; i < m_pages.size(); ++i)
        if (m_pages[i].name == name) return i;
    return -1;
}

std::unique_ptr<ManualDocument> Manual::render(int page) const {
    auto document = std::make_unique<ManualDocument>();
    constexpr double kMargin = 14; // pixels
    document->setDocumentMargin(kMargin);
    document->setDefaultFont(QGuiApplication::font());
    document->setMarkdown(withoutComments(textOf(m_pages[page].name)),
                          QTextDocument::MarkdownFeatures(QTextDocument::MarkdownNoHTML) |
                              QTextDocument::MarkdownDialectGitHub);
    arrangeHeadings(*document);
    arrangePrograms(*document);
    arrangeLists(*document);
    arrangeTables(*document);
    if (m_pages[page].name == QLatin1String(kHelpSettings)) nameSettings(*document);
    document->setUndoRedoEnabled(false);
    return document;
}

ManualFindings Manual::search(const QString& words) const {
    const QStringList wanted = wantedWords(words);
    const int terms = indexOf(QLatin1String(kHelpWords));
    QList<RankedHit> found;
    qsizetype most = 1;
    for (int page = 0; page < m_pages.size(); ++page)
        for (const Passage& passage : passagesOf(*render(page))) {
            const qsizetype count =
                std::count_if(wanted.begin(), wanted.end(),
                              [&passage](const QString& word) { return passage.contains(word); });
            if (count < most) continue;
            if (count > most) found.clear();
            most = count;
            const QString marked = markedIn(passage, words, wanted);
            const qsizetype at = placeIn(passage.text, marked);
            found.append({{page, passage.positionOf(at), static_cast<int>(marked.size()),
                           passage.heading ? passage.text : excerptOf(passage.text, at)},
                          rankOf(passage, wanted, page == terms)});
        }
    sortHits(found, terms);
    ManualFindings findings{{}, found.isEmpty() || most == wanted.size()};
    for (const RankedHit& each : found)
        findings.hits.append(each.hit);
    return findings;
}

ManualPlace Manual::placeOf(const QUrl& link, int from) const {
    if (!link.scheme().isEmpty() || !link.host().isEmpty()) return {};
    const QString file = link.path();
    if (file.isEmpty()) return {m_pages[from].name, link.fragment()};
    if (!file.endsWith(kEnding)) return {};
    const QString name = file.chopped(kEnding.size());
    return indexOf(name) < 0 ? ManualPlace() : ManualPlace{name, link.fragment()};
}

ManualPlace Manual::placeNamed(const QString& address) {
    return {address.section(u'#', 0, 0), address.section(u'#', 1)};
}

QString Manual::anchorOf(const QString& heading) {
    QString anchor;
    for (const QChar c : heading.toLower()) {
        if (c.isLetterOrNumber() || c == u'-' || c == u'_') anchor += c;
        if (c == u' ') anchor += u'-';
    }
    return anchor;
}

} // namespace halfscope
