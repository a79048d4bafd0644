// The pictures of all lanes at the same step, side by side, and beside them the target or the
// amplified difference of two lanes, with one read-out of the pixel under the pointer or the keys.
#pragma once

#include "engine/data/dataset.h"
#include "engine/data/task_view.h"
#include "engine/io/picture.h"
#include "engine/runs/run.h"
#include "ui/images/compare_bar.h"
#include "ui/images/picture_image.h"
#include "ui/images/picture_words.h"
#include "ui/images/view_transform.h"
#include "ui/look/text_fit.h"

#include <QPoint>
#include <QStringList>
#include <QVector>
#include <QWidget>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

class QLabel;

namespace halfscope {

class ImageView;
class PictureLoader;
struct Colors;

class CompareView : public QWidget {
    Q_OBJECT
public:
    explicit CompareView(QWidget* parent = nullptr);

    /// Shows the pictures of a run; null: none.
    void setRun(std::shared_ptr<const Run>);
    /// Takes what came since the last call.
    void refresh();

    /// Sets the lanes and forgets all pictures. The names are without the letter; `about` has a
    /// sentence on each lane, for tool tips. `kind` says what the pictures are: only painted pixels
    /// are values that can be read and measured.
    void setLanes(const QStringList& names, const QStringList& about = {},
                  ViewKind kind = ViewKind::Painted);
    /// Changes the names of the same lanes; the pictures stay.
    void renameLanes(const QStringList& names) {
        m_names = names;
        updateTitles();
    }
    /// Sets one picture per lane, all of `step`. Lanes beyond the names get a letter only.
    void setPictures(qint64 step, const QVector<Picture>&);
    /// Sets the pictures of samples that can replace tables of classes: by lane, and the target
    /// last; empty: there are none. `mistakes` shows only samples that are predicted wrong, by
    /// lane; each lane has its own.
    void setGalleries(const std::vector<Picture>& galleries,
                      const std::vector<Picture>& mistakes = {}) {
        m_galleries = galleries;
        m_mistakes = mistakes;
    }
    /// See LanePictures::validated.
    void setValidated(std::optional<int64_t> step) { m_validated = step; }
    /// See LanePictures::made.
    void setMade(PicturesMade made) { m_made = made; }
    void setTarget(const Picture&);
    /// Whether samples with their classes are shown instead of tables of classes.
    bool showsSamples() const {
        return !m_galleries.empty() && m_bar->content() != CompareBar::Content::Table;
    }
    /// Whether they are only those that are predicted wrong. There is no last picture then: each
    /// lane has other samples.
    bool showsMistakes() const {
        return showsSamples() && m_bar->content() == CompareBar::Content::Mistakes &&
               !m_mistakes.empty();
    }
    const Picture& target() const { return m_target; }
    void clear();

    /// What the last pane shows: the target, the difference of lane A and another lane, or A to the
    /// left of the pixel that is read and the other lane to the right of it.
    using Shows = CompareBar::Shows;
    void showLast(Shows shows, int otherLane = 1) { m_bar->choose(shows, otherLane); }
    Shows shows() const { return mode().shows; }
    /// Shows the pictures, their step and what they mean, without the controls that only the
    /// operator needs.
    void setBare(bool bare) {
        m_bar->setVisible(!bare);
        updateReadout();
    }
    /// Makes the last pane fill the whole view, for a comparison by eye.
    void setAlone(bool alone) {
        if (alone == m_alone) return;
        m_alone = alone;
        placeViews();
        Q_EMIT aloneChanged(alone);
    }
    bool alone() const { return m_alone; }
    void setGain(double gain) { m_bar->setGain(gain); }
    double gain() const { return m_bar->gain(); }

    ViewTransform& transform() { return m_transform; }
    int panes() const { return static_cast<int>(m_views.size()) + 1; }
    /// Returns a lane's view; for index panes() - 1 the last pane.
    ImageView& view(int pane) const;
    const QString& readout() const { return m_readout; }
    /// Returns a picture of the panes as shown, with their titles and what explains them, for a
    /// file or the clipboard. Throws RunError while there is nothing in them because the pictures
    /// are still being read.
    QImage picture(const Colors&) const;
    /// Returns the height, at most `most`, beyond which the pictures would not grow at this width.
    int usefulHeight(int width, int most) const;
    /// Returns the width, at most `most`, beyond which the pictures would hardly grow at this
    /// height.
    int usefulWidth(int most, int height) const;
    /// Returns the side of a square picture in a view of this size.
    int sideIn(const QSize& size) const;

signals:
    void aloneChanged(bool alone);
    /// Says why pictures of the run cannot be shown; not again for each step that lacks the same.
    void failed(const QString& sentence);
    /// Emitted when there are more or fewer pictures, or others with other words below: another
    /// size is useful then.
    void panesChanged();

protected:
    void changeEvent(QEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;
    /// The arrows move the pixel or the cell that is read, + and - zoom about it, 0 shows the whole
    /// picture.
    void keyPressEvent(QKeyEvent*) override;
    void focusInEvent(QFocusEvent*) override;
    void focusOutEvent(QFocusEvent*) override;
    void paintEvent(QPaintEvent*) override;

private:
    CompareBar::Mode mode() const { return showsMistakes() ? CompareBar::Mode() : m_bar->mode(); }
    QStringList lastTitles() const;
    void showLoaded(const std::shared_ptr<const LanePictures>&);
    QString lackText() const;
    void rebuildViews();
    ImageView* newView();
    /// Shows tables or samples in the panes.
    void showPictures();
    Picture pictureOf(int lane) const;
    const Picture& shownTarget() const;
    /// Whether what a pane is to show is damaged in the run's file.
    bool isLost(int pane) const;
    /// Whether what is shown may be of an earlier validation; other samples are judged anew.
    bool showsJudged() const {
        const bool judged = m_kind == ViewKind::Scatter || m_kind == ViewKind::Classes;
        return judged && (!showsSamples() || showsMistakes());
    }
    /// Whether the target is that of the first samples alone, while each step sees others.
    bool showsFirstBatch() const {
        const bool draws = m_kind == ViewKind::Scatter || m_kind == ViewKind::Curve;
        const bool byStep = draws && m_run && m_validated == 0;
        return byStep && !infoOf(m_run->info().config.task.kind).wholeSet;
    }
    /// Tells of a cell of tables, or of a sample on a sheet; empty where nothing is told.
    QStringList wordsAt(QPoint pixel) const;
    /// Returns the step of what is shown.
    qint64 shownStep() const {
        return showsJudged() && m_validated.value_or(0) > 0 ? *m_validated : m_step;
    }
    /// Returns which weights made what is shown, see stepWords().
    PicturesMade made() const {
        if (showsJudged() && !m_validated) return PicturesMade::Unknown;
        const bool byStep = showsJudged() && m_validated == 0;
        return m_kind == ViewKind::Painted || byStep ? m_made : PicturesMade::AfterStep;
    }
    void updateLast();
    void updateTitles();
    void updateToolTips(const std::vector<PictureError>&);
    /// Returns what a pane shows, as a caption; empty when its pixels are the values.
    QString captionOf(int pane) const;
    QString noteOf(int pane, const PictureError& error, ErrorText form) const {
        if (isLost(pane)) return tr("damaged");
        if (m_kind == ViewKind::Painted) return errorText(error, form);
        return showsMistakes() ? mistakeNote(captionOf(pane), form)
                               : captionNote(m_kind, captionOf(pane), form);
    }
    /// Returns its forms, the longest first.
    QStringList notesOf(int pane, const PictureError& error) const {
        return {noteOf(pane, error, ErrorText::Full), noteOf(pane, error, ErrorText::Short),
                noteOf(pane, error, ErrorText::Shortest)};
    }
    /// Whether the pictures are painted ones that come from files, see LanePictures::fromFiles.
    bool isSaved() const {
        return m_kind == ViewKind::Painted && m_painted && m_painted->fromFiles;
    }
    /// Returns how far a lane's picture is from the target, or, for the last pane, from lane A's.
    PictureError errorOf(int pane) const;
    void movePixel(QPoint by);
    void updateReadout();
    bool isShown(int pane) const {
        const bool last = pane + 1 == panes();
        return showsMistakes() ? !last : last || !m_alone;
    }
    /// Returns the number of visible panes.
    int shownPanes() const { return showsMistakes() ? panes() - 1 : m_alone ? 1 : panes(); }
    QStringList wordsBelow(const QString& about, std::optional<QPoint> cell) const;
    QString readoutText(const QString& about) const;
    QString explanation(WordsFor) const;
    int headerHeight() const { return fontMetrics().height() + 6; }
    /// Returns the room that is not the panes' in a view of this width.
    QSize around(int width) const;
    /// Returns what is written below the panes where they are so wide.
    FittedLines linesBelow(int width) const;
    void placeViews();
    void hover(QPoint pixel);

    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const RunInfo> m_info;         ///< gives the lanes their names
    std::shared_ptr<const RunPictures> m_asked;    ///< the run's pictures that are to be shown
    std::shared_ptr<const LanePictures> m_painted; ///< those that are shown
    std::optional<LostPictures> m_lost;            ///< of the pictures shown last; nothing before
    PictureLoader* m_loader = nullptr;             ///< child
    QString m_failure; ///< why some or all that are to be shown cannot be read; often empty
    ViewTransform m_transform;
    CompareBar* m_bar = nullptr;      ///< child; above the views
    QWidget* m_canvas = nullptr;      ///< child; holds the views
    std::vector<ImageView*> m_views;  ///< children of the canvas, by lane
    ImageView* m_last = nullptr;      ///< child of the canvas
    QLabel* m_readoutLabel = nullptr; ///< child
    QString m_readout;                ///< the whole text; the label may have room for less
    QStringList m_names, m_about;
    ViewKind m_kind = ViewKind::Painted;
    SamplesShow m_samples = SamplesShow::Classes;
    bool m_alone = false;
    QVector<Picture> m_pictures;
    bool m_notFinite = false;         ///< whether a value of m_pictures is inf or nan
    std::vector<Picture> m_galleries; ///< by lane, and the target last
    std::vector<Picture> m_mistakes;  ///< by lane; see setGalleries()
    bool m_hidesLast = false;         ///< the last pane, as the views are laid out
    Picture m_target;
    QStringList m_classes; ///< of tables: the names of their rows and columns
    qint64 m_step = -1;
    std::optional<int64_t> m_validated = 0; ///< see setValidated()
    PicturesMade m_made = PicturesMade::InStep;
    std::optional<QPoint> m_pixel;
};

} // namespace halfscope
