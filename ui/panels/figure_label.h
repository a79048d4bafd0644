// A value beside its name. A screen reader takes a label's accessible name in place of its text, so
// the name that it is given has both.
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
