// The list of events, with the full sentence of the selected event below it; while none is
// selected, that of the gravest.
#pragma once

#include "ui/models/event_model.h"

#include <QWidget>

class QAction;
class QHBoxLayout;
class QLabel;
class QScrollArea;
class QSpacerItem;
class QTableView;

namespace halfscope {

class EventPanel : public QWidget {
    Q_OBJECT
public:
    explicit EventPanel(EventModel&, QWidget* parent = nullptr);

    QTableView* table() const { return m_table; }
    /// Adds a button for the action at the right of the heading.
    void addToHeading(QAction*);
    /// Selects an event of the run by its index, if it has a row.
    void choose(int index);
    /// Clears the selection unless the selected event is of this step, because the plots point at
    /// another step now, or at none: then the newest events are shown, as the plots show the newest
    /// step.
    void letGoBut(std::optional<qint64> step);
    /// Shows the newest events, unless one is selected.
    void trainingStarts();
    /// Returns the height in which a few events and the beginning of a sentence can be read.
    int usefulHeight() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void stepChosen(qint64 step);
    /// Emitted after stepChosen(), with the index of the event among the run's events.
    void eventChosen(int index);
    /// The key for help was pressed: this page of the manual explains the list.
    void pageAsked(const QString& page);

protected:
    void changeEvent(QEvent*) override;
    bool event(QEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    void updateHeading();
    void showSentence();
    void buildSentence();
    void fitTable();
    void fitSentence(const QSize& room);
    int leastTableHeight() const;
    int heightWith(int table, int lines) const;
    int widthOf(const QString& text) const;
    void narrowSteps();
    void widenSteps();
    void applyColors();

    EventModel& m_model;
    QString m_text; ///< what the label says
    QHBoxLayout* m_headingRow = nullptr;
    QLabel* m_heading = nullptr; ///< child, as all below
    QTableView* m_table = nullptr;
    QScrollArea* m_scroll = nullptr;
    QLabel* m_sentence = nullptr;
    QSpacerItem* m_rest = nullptr; ///< of the layout: less than a line below the sentence
};

} // namespace halfscope
