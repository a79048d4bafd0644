// The editor of one row of the ConfigModel: a label, the control that fits its kind, a mark if it
// acts live, a button that resets it, and, below it, what is allowed when the value is wrong.
// A control keeps the keyboard only while something is being typed in it, or where Tab has led: a
// click on a choice, or Enter after a text, gives the keyboard to the row, so that letters and
// Space are the window's keys again. Tab goes on from there. A click beside a box for text or
// numbers leads into it: what is typed next is meant for it.
#pragma once

#include "ui/models/config_model.h"

#include <QPersistentModelIndex>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace halfscope {

class CountBox;
class TargetChoice;

class FieldEditor : public QWidget {
    Q_OBJECT
public:
    FieldEditor(ConfigModel&, int row, QWidget* parent = nullptr);

    /// Reads the row again: value, emphasis, error, whether it applies.
    void refresh();
    /// Shows the same setting in its new row after a reset of the model; discards what was being
    /// typed.
    void reload(int row);
    /// Returns the object name of the editor of a row.
    static QString nameOf(const ConfigModel&, int row);
    bool applies() const;
    /// Opens the editor of a network, which model.layers and model.critic have; with this text in
    /// place of its own unless it is empty.
    void editNetwork(const QString& text);
    QString key() const { return m_index.data(ConfigModel::KeyRole).toString(); }
    /// Returns the control itself, for focus and tests.
    QWidget* control() const { return m_control; }
    QString errorText() const;
    /// Whether the model refuses what was entered, and the row does not say so yet.
    bool isNewlyRefused() const { return !refusal().isEmpty() && refusal() != errorText(); }

signals:
    /// Other data were chosen from their files: the other settings may not fit them.
    void dataChosen(const QString& path);

protected:
    bool eventFilter(QObject*, QEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    bool focusNextPrevChild(bool next) override;
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;

private:
    void buildControl(const Field&);
    void addChoice(const std::string& choice, const Phrase& title);
    void buildLineEdit(const Field&);
    void buildRow(const Field&);
    void commit(const QString& text);
    void giveUp();
    void settle();
    QString refusal() const; ///< why the model refused what was entered; empty when it did not
    void endTyping();
    void browse();
    void browseData(const QString& key);
    void getData();
    bool mayGetData() const;
    bool namesData() const;
    QString problemText() const;
    QString noteText() const;
    void chooseLayers();
    void showColumns(const QStringList& columns);
    void showValue(const QString& text);
    void describe(const QString& problem);
    void showTip();
    void showUnit();
    void applyColors();

    ConfigModel& m_model;
    QPersistentModelIndex m_index;
    QWidget* m_control = nullptr; ///< child; one of the four below
    QCheckBox* m_check = nullptr;
    QComboBox* m_combo = nullptr;
    int m_comboWidth = 0;      ///< at which its longest choice is shown
    bool m_comboBelow = false; ///< it has a row of its own
    CountBox* m_spin = nullptr;
    QLineEdit* m_line = nullptr;
    QGridLayout* m_grid = nullptr;    ///< owned by this widget
    Phrase m_unit;                    ///< m_spin's unit, in the plural
    QLabel* m_label = nullptr;        ///< child
    QLabel* m_effect = nullptr;       ///< child
    QLabel* m_error = nullptr;        ///< child
    QLabel* m_note = nullptr;         ///< child; what the setting does to the data
    QToolButton* m_revert = nullptr;  ///< child
    QToolButton* m_browse = nullptr;  ///< child; only for a path, for layers, or for a column
    QToolButton* m_get = nullptr;     ///< child; only for the path of data
    TargetChoice* m_target = nullptr; ///< child; only for the column to predict
};

} // namespace halfscope
