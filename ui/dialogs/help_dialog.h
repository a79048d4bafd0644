// The help window: the pages of the manual, with their contents or the places that a search found
// at the left, and the way back. The texts of the pages are in resources/manual.
#pragma once

#include "ui/dialogs/manual.h"

#include <QDialog>
#include <QList>
#include <QVariantMap>

class QAction;
class QLabel;
class QLineEdit;
class QSplitter;
class QTextBrowser;
class QTimer;
class QToolButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace halfscope {

/// Returns where the help opens, without its frame: beside the window, or else at the right side of
/// the screen, where it covers as little of the window's plots as its lines need.
QRect helpPlace(const QRect& window, const QRect& screen, const QRect& plots);

class HelpDialog : public QDialog {
    Q_OBJECT
public:
    /// `plots`, which may be null, are what the first place of the help leaves in view.
    explicit HelpDialog(QWidget* parent = nullptr, const QWidget* plots = nullptr);
    ~HelpDialog() override;
    /// Opens at a place such as kHelpQuestions; an empty one opens where the window was left.
    void showPart(const QString& address);
    /// Takes the place and size that the user gave it last, if any.
    void restorePlace(const QVariantMap&);
    void savePlace(QVariantMap&) const;

signals:
    /// The user chose an experiment by name; the main window opens it.
    void presetChosen(const QString& name);

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    /// A page that was shown, to come back to.
    struct View {
        int page = 0;
        int scroll = 0; ///< in pixels from the top
    };

    void buildWays();
    void buildSearch();
    void buildText();
    void arrange();
    void shareRoom();
    void takePlace(const QWidget* plots);
    void showContents();
    void search();
    void openItem(QTreeWidgetItem*);
    void openFirstHit();
    void follow(const QUrl&);
    void askForBrowser(const QUrl&);
    void open(const ManualPlace&);
    void openHit(const ManualHit&);
    /// Remembers the page that is shown now, then shows another one.
    void turnTo(int page);
    void render(int page);
    void go(QList<View>& from, QList<View>& to);
    View shown() const;
    void updateWays();

    Manual m_manual;
    QRect m_given; ///< its first place, which the user may have left
    QList<View> m_back, m_forward;
    QList<ManualHit> m_hits;
    int m_page = -1;                                         ///< of m_manual; -1 before the first
    std::unique_ptr<ManualDocument> m_document;              ///< the one that m_text shows
    QToolButton *m_goBack = nullptr, *m_goForward = nullptr; ///< children, as all below
    QLineEdit* m_search = nullptr;
    QTimer* m_soon = nullptr;  ///< searches once typing pauses
    QLabel* m_found = nullptr; ///< how many places a search found, and whether with all words
    QTreeWidget* m_list = nullptr;
    QSplitter* m_halves = nullptr; ///< child; the list and the text
    bool m_arranged = false;       ///< whether m_halves has an orientation
    bool m_byHand = false;         ///< the user has moved their border since
    QTextBrowser* m_text = nullptr;
};

} // namespace halfscope
