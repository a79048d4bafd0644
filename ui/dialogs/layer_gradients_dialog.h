// The gradients of each layer in each lane, as they were counted last: how large they are, what the
// lane's precision loses of them, and how far they are from float32's. Follows the training while
// it is open.
#pragma once

#include "engine/runs/run.h"
#include "ui/dialogs/figure_dialog.h"
#include "ui/models/layer_gradients_model.h"

#include <QTimer>

#include <functional>
#include <memory>

class QLabel;

namespace halfscope {

class LayerGradientsView;

class LayerGradientsDialog : public FigureDialog {
    Q_OBJECT
public:
    /// Where it looks for what it shows.
    struct Source {
        std::function<std::shared_ptr<const Run>()> run; ///< null: there is none
        std::function<bool()> anew; ///< whether it is not the run that the window shows, but
                                    ///< a new one with its settings
        std::function<QString(bool none)> note; ///< why there are no gradients, or only earlier
                                                ///< ones; else empty
    };
    explicit LayerGradientsDialog(Source, QWidget* parent = nullptr);

    const LayerGradientsModel& model() const { return m_model; }
    QString heading() const;
    QString summary() const;
    QList<QWidget*> figure() const override;
    /// Takes what was counted since the last call.
    void refresh();

signals:
    /// Emitted when it is shown and when it is closed: gradients of layers are counted meanwhile.
    void watched(bool);
    void typesAsked();
    /// The key for help was pressed: this page of the manual explains the table.
    void pageAsked(const QString& page);
    /// These are the window's keys, which act here, too.
    void playAsked();
    void stepAsked();
    void resetAsked();

protected:
    void showEvent(QShowEvent*) override;
    void hideEvent(QHideEvent*) override;
    void changeEvent(QEvent*) override;

private:
    void fit();

    const Source m_source;
    LayerGradientsModel m_model;
    QLabel* m_heading = nullptr; ///< child, as are the next three
    LayerGradientsView* m_table = nullptr;
    QLabel* m_legend = nullptr;
    QLabel* m_summary = nullptr;
    QTimer m_clock;
    std::shared_ptr<const Run> m_run;
    uint64_t m_seen = 0; ///< the run's version + 1; 0: not looked at yet
    int m_fitted = 0;    ///< to so many rows
};

} // namespace halfscope
