// A heading that folds its content; the building block of the setup panel.
#pragma once

#include <QWidget>

class QHBoxLayout;
class QToolButton;
class QVBoxLayout;

namespace halfscope {

class Section : public QWidget {
    Q_OBJECT
public:
    explicit Section(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString&);
    QString title() const { return m_title; }
    void setOpen(bool);
    bool isOpen() const;
    void addWidget(QWidget*);
    /// Adds a widget at the right of the heading.
    void addToHeading(QWidget*);
    /// Shows a square of this colour before the heading.
    void setSwatch(const QColor&);
    /// Gives the heading the keyboard, from where Tab leads to the content.
    void takeKeyboard();

signals:
    void toggled(bool open);

protected:
    void resizeEvent(QResizeEvent*) override;

private:
    void fitTitle();

    bool m_open = true;
    QString m_title;                     ///< the whole title; the heading may have room for less
    QToolButton* m_heading = nullptr;    ///< child
    QWidget* m_swatch = nullptr;         ///< child
    QWidget* m_content = nullptr;        ///< child
    QHBoxLayout* m_headingRow = nullptr; ///< owned by this layout
    QVBoxLayout* m_column = nullptr;     ///< owned by m_content
};

} // namespace halfscope
