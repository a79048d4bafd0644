// Reads the table's two lines: the names of its columns, and the picture's.
#include "ui/dialogs/answer_box.h"

#include "engine/io/csv.h"
#include "ui/models/safe_text.h"
#include "ui/models/shown_numbers.h"

#include <QPushButton>

#include <string>
#include <vector>

namespace halfscope {

namespace {

std::vector<std::string> nextLine(CsvReader& reader) {
    std::vector<std::string_view> fields;
    if (!reader.next(fields)) return {};
    return {fields.begin(), fields.end()};
}

} // namespace

QStringList AnswerBox::answers(const QByteArray& table, const QString& lane) {
    constexpr std::string_view kClass = "class_predicted";
    CsvReader reader("", std::string_view(table.data(), static_cast<size_t>(table.size())),
                     CsvReader::LastLine::MayLackEnd, CsvReader::Separator::Comma);
    const std::vector<std::string> names = nextLine(reader), fields = nextLine(reader);
    QStringList lines;
    for (size_t i = 0; i + 1 < std::min(names.size(), fields.size()); ++i) {
        if (!names[i].starts_with(kClass)) continue;
        const std::string_view end = std::string_view(names[i]).substr(kClass.size());
        const QString who = end.empty() ? lane : safeText(end.substr(1));
        bool isNumber = false;
        const double share = QByteArray::fromStdString(fields[i + 1]).toDouble(&isNumber);
        const QString what = fields[i].empty() || !isNumber
                                 ? tr("no prediction")
                                 : tr("%1, %2").arg(safeText(fields[i]), percentText(share));
        lines << (who.isEmpty() ? what : tr("%1: %2").arg(who, what));
    }
    return lines;
}

AnswerBox::AnswerBox(const QByteArray& table, const QString& lane, const QString& note,
                     QWidget* parent)
    : QMessageBox(QMessageBox::NoIcon, tr("Prediction"), answers(table, lane).join(u'\n'),
                  QMessageBox::Save | QMessageBox::Close, parent) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("answer"));
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setInformativeText(note);
    button(Save)->setText(tr("&Save as CSV…"));
    setDefaultButton(Close);
    setEscapeButton(Close);
    connect(button(Save), &QAbstractButton::clicked, this, &AnswerBox::saveAsked);
}

} // namespace halfscope
