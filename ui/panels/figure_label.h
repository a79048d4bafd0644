// A value next to its name. Screen readers read a label's accessible name instead of its text, so
// the accessible name contains both.
#pragma once

#include <QLabel>

namespace halfscope {

class FigureLabel : public QLabel {
    Q_OBJECT
public:
    explicit FigureLabel(const QString& name, QWidget* parent = nullptr);
    void showFigure(const QString& text);

private:
    QString m_name;
};

} // namespace halfscope
