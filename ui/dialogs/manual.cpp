// The index page is the only list of pages: its headings are the groups, its links the pages.
#include "ui/dialogs/manual.h"

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

/// Adds anchors to the headings, which links need, and room above them: Qt gives them neither.
void arrangeHeadings(QTextDocument& document) {
    constexpr double kRoom = 14; // pixels
    QHash<QString, int> seen;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || block.text().isEmpty()) continue;
        QString name = Manual::anchorOf(block.text());
        if (const int before = seen[name]++; before > 0)
            name += u'-' + QString::number(before); // as GitHub tells equal headings apart
        QTextCursor cursor(block);
        cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
        QTextCharFormat format;
        format.setAnchor(true);
        format.setAnchorNames({name});
        cursor.mergeCharFormat(format);
        QTextBlockFormat room;
        room.setTopMargin(block == document.begin() ? 0 : kRoom);
        cursor.mergeBlockFormat(room);
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
        table->setFormat(format);
    }
}

/// Text that is read and searched as one: a paragraph, or a row of a table with its cells side by
/// side.
struct Passage {
    QString text;
    QList<std::pair<int, int>> starts; ///< positions in `text` and in the document; ascending

    void add(const QTextBlock& block) {
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
    document->setUndoRedoEnabled(false);
    return document;
}

QList<ManualHit> Manual::search(const QString& words) const {
    const QStringList wanted = words.simplified().split(u' ', Qt::SkipEmptyParts);
    QList<ManualHit> hits;
    if (wanted.isEmpty()) return hits;
    for (int page = 0; page < m_pages.size(); ++page)
        for (const Passage& passage : passagesOf(*render(page))) {
            const auto occurs = [&passage](const QString& word) {
                return passage.text.contains(word, Qt::CaseInsensitive);
            };
            if (!std::all_of(wanted.begin(), wanted.end(), occurs)) continue;
            const QString phrase = wanted.join(u' ');
            const bool whole = passage.text.contains(phrase, Qt::CaseInsensitive);
            const QString& marked = whole ? phrase : wanted.front();
            const qsizetype at = passage.text.indexOf(marked, 0, Qt::CaseInsensitive);
            hits.append({page, passage.positionOf(at), static_cast<int>(marked.size()),
                         excerptOf(passage.text, at)});
        }
    return hits;
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
