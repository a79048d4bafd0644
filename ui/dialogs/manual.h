// The pages of the manual: resources/manual, in the user's language where a page is translated and
// in English otherwise. Reads, renders and searches them; HelpDialog shows them.
#pragma once

#include <QList>
#include <QString>
#include <QTextDocument>
#include <QUrl>

#include <memory>

namespace halfscope {

/// A link "preset:overflow" asks for that experiment.
inline constexpr const char* kPresetScheme = "preset";

struct ManualPage {
    QString name;  ///< "settings": its file without ".md"
    QString title; ///< as the index calls it
    QString group; ///< the heading of the index under which it is listed
};

/// A place of the manual: "questions", or "window#marks" for a heading in a page.
struct ManualPlace {
    QString page;
    QString heading; ///< its anchor; empty for the start of the page
};

/// A paragraph, list item or table row in which all words that were searched for occur.
struct ManualHit {
    int page = 0;     ///< index into Manual::pages()
    int position = 0; ///< of the first word, in the page's document
    int length = 0;
    QString excerpt; ///< one line
};

/// Text and nothing else: no picture or other file that a page might name is ever opened.
class ManualDocument : public QTextDocument {
    Q_OBJECT
public:
    using QTextDocument::QTextDocument;

protected:
    QVariant loadResource(int, const QUrl&) override { return {}; }
};

class Manual {
public:
    /// `language` is a two-letter code; pages that it does not have are read in English.
    explicit Manual(const QString& language);

    /// In the order of the index, which comes first and belongs to no group.
    const QList<ManualPage>& pages() const { return m_pages; }
    /// -1 where there is none.
    int indexOf(const QString& name) const;
    /// A page in the colours of the application's palette, its headings as anchors.
    std::unique_ptr<ManualDocument> render(int page) const;
    /// Of all pages, in their order; nothing for a text without a word.
    QList<ManualHit> search(const QString& words) const;

    /// "settings.md#run", "#run" or "settings.md", seen from a page; an empty page where the link
    /// leads elsewhere.
    ManualPlace placeOf(const QUrl& link, int from) const;
    /// "window#marks".
    static ManualPlace placeNamed(const QString& address);
    /// A heading's anchor as GitHub makes it: "Exit codes" is "exit-codes".
    static QString anchorOf(const QString& heading);

private:
    QString textOf(const QString& name) const;

    QString m_language;
    QList<ManualPage> m_pages;
};

} // namespace halfscope
