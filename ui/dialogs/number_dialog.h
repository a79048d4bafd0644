// Shows what 16 bits make of a number that the user types: its bits, its value, what a loss scale
// saves of it as a gradient, and whether a weight notices it. Does not touch the training.
#pragma once

#include "ui/dialogs/figure_dialog.h"

class QFormLayout;
class QLabel;
class QLineEdit;
class QScrollArea;
class QVBoxLayout;

namespace halfscope {

class NumberDialog : public FigureDialog {
    Q_OBJECT
public:
    explicit NumberDialog(QWidget* parent = nullptr);

    /// Returns all that is shown below the fields, a line for each sentence.
    QString text() const;
    QString errorText() const;
    QList<QWidget*> figure() const override;

protected:
    void changeEvent(QEvent*) override;
    void fitFigure() override;

private:
    struct Row {
        QLabel* bits;
        QLabel* what;
    };
    QLineEdit* addField(QFormLayout&, const QString& label, const QString& value);
    QScrollArea* makeResults();
    void fitTexts(const QScrollArea&);
    void addHeading(QVBoxLayout&, const QString& text);
    /// Adds a text that Tab reaches and screen readers know by its name.
    QLabel* addText(QVBoxLayout&, const QString& name);
    void compute();
    /// Shows what is wrong with a field in place of results; nothing: all fields are read.
    void refuse(QLineEdit* field, const QString& error);
    void applyColors();
    QList<QLabel*> shown() const;

    QWidget* m_fields = nullptr; ///< child, as all below
    QLineEdit* m_number = nullptr;
    QLineEdit* m_scale = nullptr;
    QLineEdit* m_weight = nullptr;
    QLabel* m_error = nullptr;
    QWidget* m_results = nullptr; ///< all that is shown below the fields
    QList<Row> m_formats;
    QLabel* m_gradient = nullptr;
    QLabel* m_sum = nullptr;
    QLabel* m_why = nullptr;
};

} // namespace halfscope
