// The pages of the manual: resources/manual, in the user's language when a page is translated and
// in English otherwise. Reads, renders and searches them; HelpDialog shows them.
#pragma once

#include <QList>
#include <QString>
#include <QTextDocument>
#include <QUrl>

#include <memory>

namespace halfscope {

/// A link "preset:overflow" opens that experiment.
inline constexpr const char* kPresetScheme = "preset";

struct ManualPage {
    QString name;  ///< "settings": its file's name without ".md"
    QString title; ///< as in the index
    QString group; ///< the heading under which the index lists it
};

/// A place of the manual: "questions", "window#marks" for a heading in a page, or
/// "settings#model.width" for the section of a setting.
struct ManualPlace {
    QString page;
    QString heading; ///< its anchor, or a setting's key; empty for the start of the page
};

/// A paragraph, list item or table row that contains words of a search.
struct ManualHit {
    int page = 0;     ///< index into Manual::pages()
    int position = 0; ///< of the first word, in the page's document
    int length = 0;
    QString excerpt; ///< one line; a heading as a whole
};

struct ManualFindings {
    QList<ManualHit> hits;
    bool complete = true; ///< each hit contains all words; else as many as any place contains
};

/// Shows only text: no picture or other file that a page might name is ever opened.
class ManualDocument : public QTextDocument {
    Q_OBJECT
public:
    using QTextDocument::QTextDocument;

protected:
    QVariant loadResource(int, const QUrl&) override { return {}; }
};

class Manual {
public:
    /// `language` is a two-letter code; pages that are not translated into it are shown in English.
    explicit Manual(const QString& language);

    /// Returns the pages in the order of the index, which comes first and belongs to no group.
    const QList<ManualPage>& pages() const { return m_pages; }
    /// Returns -1 when there is no such page.
    int indexOf(const QString& name) const;
    /// Renders a page in the colours of the application's palette, with anchors at its headings
    /// and, at those of settings, their keys.
    std::unique_ptr<ManualDocument> render(int page) const;
    /// Returns the hits page by page: first those where a term or a heading is a hit, the page
    /// of terms before the others, and in each page the terms and headings first. Words such as
    /// "the" are not looked for; a text without a word finds nothing.
    ManualFindings search(const QString& words) const;

    /// Returns the place that a link in page `from` leads to: "settings.md#run", "#run" or
    /// "settings.md". The page is empty when the link leads elsewhere.
    ManualPlace placeOf(const QUrl& link, int from) const;
    /// Parses "window#marks".
    static ManualPlace placeNamed(const QString& address);
    /// Returns a heading's anchor as GitHub makes it: "exit-codes" for "Exit codes".
    static QString anchorOf(const QString& heading);

private:
    QString textOf(const QString& name) const;

    QString m_language;
    QList<ManualPage> m_pages;
};

} // namespace halfscope
