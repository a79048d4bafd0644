// The box for the text of a network. A key types into the text that stands there; what is pasted
// before anything was typed replaces it, as people paste whole networks.
#pragma once

#include <QPlainTextEdit>

namespace halfscope {

class NetworkText : public QPlainTextEdit {
    Q_OBJECT
public:
    explicit NetworkText(QWidget* parent = nullptr) : QPlainTextEdit(parent) {}

protected:
    void insertFromMimeData(const QMimeData*) override;
};

} // namespace halfscope
