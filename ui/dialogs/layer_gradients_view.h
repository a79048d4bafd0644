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
    /// Returns the width at which nothing is cut off.
    int wantedWidth() const;

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    void fitRows();
    void fitStrip();

    LayerGradientsModel& m_model;
};

} // namespace halfscope
