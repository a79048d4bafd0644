// The network, or its critic, as text of several lines, with the shape that each layer makes of a
// batch, as it is typed.
#pragma once

#include "engine/settings/run_config.h"

#include <QDialog>

#include <cstdint>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTreeWidget;

namespace halfscope {

struct ModelShapes;

class ModelDialog : public QDialog {
    Q_OBJECT
public:
    enum class Network : uint8_t { Model, Critic };

    /// Begins with the text of the configuration's network, or of its template when it has none.
    explicit ModelDialog(const RunConfig&, Network = Network::Model, QWidget* parent = nullptr);

    /// Puts another text in its place by an edit, which Ctrl+Z undoes.
    void write(const QString& text);
    /// Returns the text; empty when it is the template's.
    QString text() const;
    QString errorText() const;
    QString refusalText() const;
    /// Looks whether data that were unknown when the dialog was opened, or when the text was read,
    /// have been read by now.
    void lookForData();
    QPlainTextEdit* editor() const { return m_text; }
    QTreeWidget* layers() const { return m_layers; }
    /// Asks first when the text is another one than at the beginning.
    void reject() override;

private:
    /// Returns the settings with this text.
    RunConfig with(const QString& text) const;
    ModelShapes shapesOf(const QString& text) const;
    QString templateText() const;
    void buildRow();
    void buildButtons();
    void useText();
    /// Reads the text again.
    void refresh();
    void showLayers();
    /// Shows why a file was not taken, until the text changes.
    void showRefusal(const QString&);
    void markError();

    RunConfig m_config;
    Network m_network;
    bool m_waits = false;             ///< waits for the data, whose shape decides the template
    bool m_textWaits = false;         ///< waits for what the text asks of the data
    QString m_reason;                 ///< why the text cannot be used, in English
    QString m_begun;                  ///< the text at the beginning
    QString m_template;               ///< the text that the other settings describe
    QPlainTextEdit* m_text = nullptr; ///< child, as all below
    QTreeWidget* m_layers = nullptr;
    QLabel* m_refusal = nullptr;
    QLabel* m_error = nullptr;
    QLabel* m_sum = nullptr;
    QPushButton* m_use = nullptr;
};

} // namespace halfscope
