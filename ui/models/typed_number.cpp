// Reads them by the rules of the settings. The live loss scale has no field of its own; it has the
// range of the initial scale.
#include "ui/models/typed_number.h"

#include "engine/core/error.h"
#include "ui/models/translated.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>

#include <limits>

namespace halfscope {
namespace {

const Field& scaleField() { return *findField("scaler.init_scale"); } // the range of any scale

/// Returns a field of a number from -most to most.
Field numberField(double most) {
    Field field;
    field.key = "number";
    field.minimum = -most;
    field.maximum = most;
    return field;
}

/// Returns what stands between thousands where the program prints numbers; nothing where it does
/// not group them, or by the point that other people type before decimals.
QString printedSeparator() {
    const QLocale locale;
    const QString separator = locale.groupSeparator();
    const bool groups = !separator.isEmpty() && locale.toString(1000000).contains(separator);
    return groups && separator != QLatin1String(".") ? separator : QString();
}

/// Returns the number that was meant by one with a decimal comma: "0.01" of "0,01"; empty where
/// that is not allowed, or may have been thousands.
QString withPoint(const Field& field, const QString& typed) {
    static const QRegularExpression decimal(
        QStringLiteral("^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$"));
    static const QRegularExpression thousands(QStringLiteral("^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"));
    QString meant = typed.trimmed();
    if (!decimal.match(meant).hasMatch() || thousands.match(meant).hasMatch()) return {};
    meant.replace(u',', u'.');
    try {
        (void)parseValue(field, meant.toStdString());
    } catch (const InputError&) {
        return {};
    }
    return meant;
}

} // namespace

QString withoutGroups(const QString& typed) {
    const QString separator = printedSeparator();
    if (separator.isEmpty()) return typed;
    const QString between = separator.front().isSpace() ? QStringLiteral("[ %1]").arg(separator)
                                                        : QRegularExpression::escape(separator);
    const QRegularExpression grouped(
        QStringLiteral("^\\s*([+-]?[1-9][0-9]{0,2}(?:%1[0-9]{3})+)((?:\\.[0-9]*)?)\\s*$")
            .arg(between));
    const QRegularExpressionMatch match = grouped.match(typed);
    if (!match.hasMatch()) return typed;
    return match.captured(1).remove(QRegularExpression(between)) + match.captured(2);
}

FieldValue parseScale(const QString& text) {
    Field field = scaleField();
    // not a setting: it is in no file
    field.key = translated(phrase("Settings", "loss scale")).toStdString();
    return parseValue(field, withoutGroups(text).toStdString());
}

double parseNumber(const QString& text) {
    const Field field = numberField(static_cast<double>(std::numeric_limits<float>::max()));
    const QString typed = withoutGroups(text).trimmed();
    const bool negativePower = typed.startsWith('-') && typed.contains('^');
    const double value =
        std::get<double>(parseValue(field, typed.mid(negativePower ? 1 : 0).toStdString()));
    return negativePower ? -value : value;
}

QString allowedWords(const Field& field, const QString& typed) {
    QString words = QCoreApplication::translate("TypedNumber", "Allowed: %1")
                        .arg(translated(allowedText(field)));
    const bool number = field.kind == FieldKind::Integer || field.kind == FieldKind::Real;
    if (const QString meant = number ? withPoint(field, typed) : QString(); !meant.isEmpty())
        words +=
            u'\n' + QCoreApplication::translate("TypedNumber", "Decimals follow a point: type %1")
                        .arg(meant);
    else if (number && typed.contains(u','))
        words += u'\n' +
                 (printedSeparator() == QLatin1String(",")
                      ? QCoreApplication::translate("TypedNumber",
                                                    "Decimals follow a point, and a comma stands "
                                                    "before three digits only: 0.001, 65,536")
                      : QCoreApplication::translate("TypedNumber",
                                                    "Decimals follow a point, and thousands stand "
                                                    "without commas: 0.001, 65536"));
    return words;
}

QString allowedScale(const QString& typed) { return allowedWords(scaleField(), typed); }

QString allowedNumber(const QString& typed) {
    constexpr double kMost = 3.4e38; // as people write float32's largest, and as the settings do
    return allowedWords(numberField(kMost), typed);
}

} // namespace halfscope
