// A text with line breaks to which its panel gives a height. QLabel would ask for as much height as
// its text takes, and with it every layout around it would: in a low window the panels would then
// grow beyond it.
#pragma once

#include <QLabel>

namespace halfscope {

class WrappedText : public QLabel {
public:
    explicit WrappedText(QWidget* parent = nullptr) : QLabel(parent) {
        setWordWrap(true);
        // a very long word must not make the window wider
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    }
    bool hasHeightForWidth() const override { return false; }
};

} // namespace halfscope
