// Asks for another loss scale of a lane. A wrong one is reported in the dialog when the
// user stops typing; OK then leaves the dialog open.
#pragma once

#include <QDialog>

class QLabel;
class QLineEdit;

namespace halfscope {

class ScaleDialog : public QDialog {
    Q_OBJECT
public:
    /// `scale` is the present one.
    ScaleDialog(const QString& lane, double scale, QWidget* parent = nullptr);

    void accept() override;
    QString errorText() const;

signals:
    /// The user's text, which parseScale() takes.
    void chosen(const QString& text);

private:
    bool judge(); ///< says why the text is refused, and returns false, if it is

    QLineEdit* m_line = nullptr; ///< child, as is the next
    QLabel* m_error = nullptr;
};

} // namespace halfscope
