// The pictures of all lanes after the same step, side by side, and beside them the target or the
// amplified difference of two lanes, with one read-out of the pixel under the pointer or the keys.
#pragma once

#include "engine/data/task_view.h"
#include "engine/io/picture.h"
#include "engine/runs/run.h"
#include "ui/images/picture_image.h"
#include "ui/images/picture_words.h"
#include "ui/images/view_transform.h"

#include <QPoint>
#include <QStringList>
#include <QVector>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;

namespace halfscope {

class ImageView;

class CompareView : public QWidget {
    Q_OBJECT
public:
    explicit CompareView(QWidget* parent = nullptr);

    /// Shows the pictures of a run; null: none.
    void setRun(std::shared_ptr<const Run>);
    /// Takes what came since the last call.
    void refresh();

    /// Names without the letter; `about`: a sentence on each lane, for tool tips; `kind`: what the
    /// pictures are, for only pixels that are painted are values to read and to measure. Forgets
    /// all pictures.
    void setLanes(const QStringList& names, const QStringList& about = {},
                  ViewKind kind = ViewKind::Painted);
    /// Other names for the same lanes; the pictures stay.
    void renameLanes(const QStringList& names);
    /// One picture per lane, all after `step`. More lanes than named get a letter only.
    void setPictures(qint64 step, const QVector<Picture>&);
    /// Instead of tables of classes: by lane, and last the target; empty: there are none.
    void setGalleries(const std::vector<Picture>&);
    /// See LanePictures::validated.
    void setValidated(std::optional<int64_t> step);
    void setTarget(const Picture&);
    /// Samples with their classes instead of tables of classes, where there are some.
    void showSamples(bool samples);
    bool showsSamples() const;
    const Picture& target() const { return m_target; }
    void clear();

    /// What the last pane shows: the target, the difference of lane A and another lane, or A to the
    /// left of the pixel that is read and the other lane to the right of it.
    enum class Shows { Target, Difference, Swipe };
    void showLast(Shows, int otherLane = 1);
    Shows shows() const { return mode().shows; }
    /// The last pane fills the whole view, for a comparison by eye.
    void setAlone(bool alone);
    bool alone() const { return m_alone; }
    void setGain(double gain);
    double gain() const;

    ViewTransform& transform() { return m_transform; }
    int panes() const { return static_cast<int>(m_views.size()) + 1; }
    /// A lane's view; the last pane for index panes() - 1.
    ImageView& view(int pane);
    QString readout() const;
    /// What is seen of the lanes and the target, with their titles; twice the size on screen.
    QImage picture();
    /// The height, at most `most`, beyond which the pictures at this width would not grow.
    int usefulHeight(int width, int most) const;

signals:
    void aloneChanged(bool alone);

protected:
    void changeEvent(QEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;
    /// Arrows move the pixel that is read, + and - zoom about it, 0 shows all.
    void keyPressEvent(QKeyEvent*) override;
    void focusInEvent(QFocusEvent*) override;
    void focusOutEvent(QFocusEvent*) override;
    void paintEvent(QPaintEvent*) override;

private:
    struct Mode {
        Shows shows = Shows::Target;
        int lane = 0; ///< the other one
    };
    Mode mode() const;
    QString lastTitle() const;
    void buildBar();
    void rebuildViews();
    ImageView* newView();
    void fillModes();
    /// What the panes show: tables or samples.
    void showPictures();
    Picture pictureOf(int lane) const;
    const Picture& shownTarget() const;
    void updateLast();
    void updateTitles();
    void updateToolTips(const std::vector<PictureError>&);
    /// What a pane shows, in words of its own; empty where its pixels speak.
    QString captionOf(int pane) const;
    /// How far a lane's picture is from the target, or for the last pane from lane A's.
    PictureError errorOf(int pane) const;
    void movePixel(QPoint by);
    void updateReadout();
    /// Panes that are seen.
    int shownPanes() const { return m_alone ? 1 : panes(); }
    QString readoutText(const QString& about) const;
    QString explanation() const;
    QString briefExplanation() const;
    QString namesBehind(const QString& sentence) const;
    struct Grid {
        int columns = 1, rows = 1;
        int side = 0; ///< of the largest square picture in a pane
    };
    Grid gridFor(int width, int height) const;
    int headerHeight() const;
    void placeViews();
    void hover(QPoint pixel);

    std::shared_ptr<const Run> m_run;
    std::shared_ptr<const RunInfo> m_info;         ///< that the lanes have their names of
    std::shared_ptr<const LanePictures> m_painted; ///< that are shown
    ViewTransform m_transform;
    QWidget* m_canvas = nullptr;      ///< child; holds the views
    std::vector<ImageView*> m_views;  ///< children of the canvas, by lane
    ImageView* m_last = nullptr;      ///< child of the canvas
    QLabel* m_stepLabel = nullptr;    ///< child
    QLabel* m_readoutLabel = nullptr; ///< child
    QComboBox* m_what = nullptr;      ///< child; true in the data of the item for samples
    QComboBox* m_mode = nullptr;      ///< child; a Mode in the data of each item
    QComboBox* m_gain = nullptr;      ///< child
    QString m_readout;                ///< the whole of it; the label may have room for less
    QStringList m_names, m_about;
    ViewKind m_kind = ViewKind::Painted;
    SamplesShow m_samples = SamplesShow::Mistakes;
    bool m_alone = false;
    QVector<Picture> m_pictures;
    std::vector<Picture> m_galleries; ///< by lane, and last the target
    Picture m_target;
    qint64 m_step = -1;
    std::optional<int64_t> m_validated = 0; ///< of the tables of classes
    std::optional<QPoint> m_pixel;
};

} // namespace halfscope
