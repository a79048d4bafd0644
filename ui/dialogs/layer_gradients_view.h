// The table of gradients by layer: its strips by power of two, and their axis in the header.
#pragma once

#include <QHeaderView>
#include <QStyledItemDelegate>
#include <QTableView>

namespace halfscope {

class LayerGradientsModel;

class LayerGradientsView : public QTableView {
    Q_OBJECT
public:
    /// The model must outlive the view.
    explicit LayerGradientsView(LayerGradientsModel&, QWidget* parent = nullptr);
    /// Fits columns to other rows, and puts the cursor on the first.
    void arrange();
    /// Gives columns whose texts have become longer the room that they need.
    void widen();
    /// Returns the width at which no name is cut and the strip is wide.
    int wantedWidth() const;

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    void fitRows();
    void shareWidth();

    LayerGradientsModel& m_model;
    int m_layer = 0, m_lane = 0; ///< the widths at which no name of these columns is cut
    int m_broken = 0; ///< the width at which names of layers need no more than two rows of theirs
};

} // namespace halfscope
