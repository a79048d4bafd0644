// The network as text of several lines, with what each layer makes of a batch as it is typed.
#pragma once

#include "engine/settings/run_config.h"

#include <QDialog>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTreeWidget;

namespace halfscope {

class ModelDialog : public QDialog {
    Q_OBJECT
public:
    /// Begins with the text of the configuration's network, that of its template where it has none.
    explicit ModelDialog(const RunConfig&, QWidget* parent = nullptr);

    /// The text; empty where it is the template's.
    QString text() const;
    QString errorText() const;
    /// The data may have been read by now, which were not when it was opened.
    void lookForData();
    QPlainTextEdit* editor() const { return m_text; }
    QTreeWidget* layers() const { return m_layers; }

private:
    void buildRow();
    void buildButtons();
    /// Reads the text again.
    void refresh();
    void showLayers();
    void markError();

    RunConfig m_config;
    bool m_waits = false;             ///< for the data, whose shape decides the template
    QString m_reason;                 ///< why it cannot be used, in English
    QString m_template;               ///< what the settings beside it describe
    QPlainTextEdit* m_text = nullptr; ///< child, as all below
    QTreeWidget* m_layers = nullptr;
    QLabel* m_error = nullptr;
    QLabel* m_sum = nullptr;
    QPushButton* m_use = nullptr;
};

} // namespace halfscope
