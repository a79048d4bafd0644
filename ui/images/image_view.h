// One picture, pixel by pixel: nearest neighbour at any zoom, inf and nan hatched in magenta, or a
// drawing in the colours of the theme; with a title, a note and, for differences, a colour legend.
// Views that share a ViewTransform zoom and pan together.
#pragma once

#include "engine/data/task_view.h"
#include "engine/io/picture.h"
#include "ui/images/cell_axes.h"
#include "ui/images/pane_titles.h"
#include "ui/images/view_transform.h"

#include <QImage>
#include <QPoint>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QWidget>

#include <functional>
#include <optional>
#include <utility>

namespace halfscope {

class ImageView : public QWidget {
    Q_OBJECT
public:
    explicit ImageView(ViewTransform&, QWidget* parent = nullptr);
    /// Shows the same as another view, without its mark, in the colours and letters of `paper`.
    ImageView(const ImageView& shown, QWidget& paper);

    /// What the next pictures are: Pixels have colours of their own; Cells, Plot and Text are drawn
    /// in the theme's ink. A Plot, which may also be a coloured picture, and a Text, which is
    /// marked in colours, are smooth at any size.
    enum class Style { Pixels, Cells, Plot, Text };
    static Style styleOf(ViewKind);
    void setStyle(Style style) { m_style = style; }
    void setPicture(const Picture&);
    /// Sets the names of the rows and columns of Cells.
    void setAxes(const QStringList& names);
    /// Returns the whole name of the row or column that is written at a place of this widget; empty
    /// where none is.
    QString nameAt(const QPointF&) const;
    /// Returns the tool tip of a cell: empty for none, nothing for the widget's own.
    using CellTips = std::function<std::optional<QString>(QPoint)>;
    void setCellTips(CellTips tips) { m_cellTips = std::move(tips); }
    /// Shows a picture through the colour map of mappedImage(); for differences.
    void setMappedPicture(const Picture&, double gain);
    /// Shows `left` up to the marked pixel and `right` from there on; in the middle when none is
    /// marked.
    void setSwipe(const Picture& left, const Picture& right);
    /// Sets the title, "A fp32", with `note` to the right of it when it fits. `shown` is the form
    /// in which the title is written; empty: as it is. See titlesTogether().
    void setTitle(const QString& title, const QString& note = {}, const QString& shown = {},
                  TitleSize size = TitleSize::Usual);
    /// Returns the written title; its end is cut where it does not fit.
    QString shownTitle() const;
    /// Whether both fit beside each other.
    bool fits(const QString& title, const QString& note, TitleSize size = TitleSize::Usual) const;
    /// The font of the title.
    QFont titleFont(TitleSize) const;
    QFont noteFont(TitleSize) const;
    void setTitleColor(const QColor&);
    QColor titleColor() const { return m_titleColor; }
    /// Shows a colour strip from 0 to `highest` below the picture; none when `highest` is 0.
    void setLegend(double highest);
    /// Returns the end of its scale, "≥ 0.125" where the mapped picture goes beyond it: what has
    /// the last colour may be any larger value.
    QString legendEnd() const;
    /// Marks one pixel of every linked view with a small cross.
    void setMarked(std::optional<QPoint> pixel);

    const Picture& picture() const { return m_picture; }
    /// Returns the longer side of the whole picture at zoom 1.
    double side() const;
    /// Returns the side at which the cells of a table have room for their shares; 0 without shares.
    double sideForShares() const;
    /// Returns the size of a view with a picture whose longer side is this long.
    QSize sizeFor(double side) const;
    QString title() const { return m_title; }
    QString note() const { return m_note; }
    /// Returns where the title and the note are written.
    QRect titleLine() const;
    /// Returns the part of the widget that pictures may cover.
    QRectF viewport() const;
    /// Returns where the whole picture lies, in widget coordinates; it may reach beyond the
    /// viewport.
    QRectF pictureRect() const;
    /// Returns the pixel under a place of the widget.
    std::optional<QPoint> pixelAt(const QPointF& position) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The pixel under the pointer; (-1, -1) when the pointer left.
    void pixelHovered(QPoint pixel);

protected:
    void changeEvent(QEvent*) override;
    bool event(QEvent*) override;
    void paintEvent(QPaintEvent*) override;
    void wheelEvent(QWheelEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void mouseReleaseEvent(QMouseEvent*) override;
    void mouseDoubleClickEvent(QMouseEvent*) override;
    void leaveEvent(QEvent*) override;

private:
    QPointF fractionAt(const QPointF& position) const;
    QRectF pane() const;
    bool hasAxes() const {
        return m_style == Style::Cells && m_picture.width == m_axes.names().size();
    }
    bool hasShares() const { return m_style == Style::Cells && !m_mapped && m_right.isNull(); }
    QMarginsF axesRoom() const;
    void takePicture(const Picture&, QImage);
    void drawAgain();
    QImage imageOf(const Picture&) const;
    void paintPicture(QPainter&) const;
    void paintSwipe(QPainter&, const QRectF& target) const;
    void paintNotFinite(QPainter&, const QRectF& target) const;
    void paintTitle(QPainter&) const;
    void paintLegend(QPainter&) const;
    int titleHeight() const;
    int legendHeight() const;
    int footHeight() const;
    int titleWidth(const QString& title, const QString& note, TitleSize) const;

    ViewTransform& m_transform;
    Style m_style = Style::Pixels;
    CellAxes m_axes;
    CellTips m_cellTips;
    Picture m_picture;
    QImage m_image;
    Picture m_rightPicture; ///< the right one of a swipe; empty otherwise
    QImage m_right;         ///< the right one of a swipe; null otherwise
    bool m_mapped = false;  ///< drawn through the colour map
    double m_highest = 0;   ///< the mapped picture's highest value
    QImage m_notFinite;     ///< opaque where the picture is inf or nan; null when it is nowhere
    QString m_title, m_note, m_shown;
    TitleSize m_titleSize = TitleSize::Usual;
    QColor m_titleColor;
    double m_legend = 0;
    std::optional<QPoint> m_marked;
    std::optional<QPointF> m_dragged;
};

} // namespace halfscope
