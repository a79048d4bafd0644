// The pictures of all lanes after the same step, side by side, and beside them the target or the
// amplified difference of two lanes, with one read-out of the pixel under the pointer.
#pragma once

#include "engine/io/picture.h"
#include "ui/images/view_transform.h"

#include <QPoint>
#include <QStringList>
#include <QVector>
#include <QWidget>

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

    /// Names without the letter. Forgets all pictures.
    void setLanes(const QStringList& names);
    /// One picture per lane, all after `step`. More lanes than named get a letter only.
    void setPictures(qint64 step, const QVector<Picture>&);
    void setTarget(const Picture&);
    void clear();

    /// What the last pane shows: the target, or the difference of lane A and another lane.
    void showTarget();
    void showDifference(int otherLane = 1);
    bool showsDifference() const;
    void setGain(double gain);
    double gain() const;

    ViewTransform& transform() { return m_transform; }
    int panes() const { return static_cast<int>(m_views.size()) + 1; }
    /// A lane's view; the last pane for index panes() - 1.
    ImageView& view(int pane);
    QString readout() const;
    /// The height, at most `most`, beyond which the pictures at this width would not grow.
    int usefulHeight(int width, int most) const;

protected:
    void changeEvent(QEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    void buildBar();
    void rebuildViews();
    ImageView* newView();
    void fillModes();
    void updateLast();
    void updateTitles();
    void updateReadout();
    struct Grid {
        int columns = 1, rows = 1;
        int side = 0; ///< of the largest square picture in a pane
    };
    Grid gridFor(int width, int height) const;
    int headerHeight() const;
    void placeViews();
    void hover(QPoint pixel);

    ViewTransform m_transform;
    QWidget* m_canvas = nullptr;      ///< child; holds the views
    std::vector<ImageView*> m_views;  ///< children of the canvas, by lane
    ImageView* m_last = nullptr;      ///< child of the canvas
    QLabel* m_stepLabel = nullptr;    ///< child
    QLabel* m_readoutLabel = nullptr; ///< child
    QComboBox* m_mode = nullptr;      ///< child; index 0 target, i difference with lane i
    QComboBox* m_gain = nullptr;      ///< child
    QStringList m_names;
    QVector<Picture> m_pictures;
    Picture m_target;
    qint64 m_step = -1;
    std::optional<QPoint> m_pixel;
};

} // namespace halfscope
