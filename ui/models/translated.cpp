// Looks the engine's phrases up under their own context, as `./dev translations` collects them.
#include "ui/models/translated.h"

#include "engine/data/target_scale.h"
#include "engine/settings/fields.h"
#include "engine/settings/settings_file.h"
#include "ui/models/run_model.h"
#include "ui/models/safe_text.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QRegularExpression>
#include <QTranslator>

#include <cstdlib>
#include <memory>

namespace halfscope {
namespace {

/// Returns a number of a message as the window writes it: "2,005", "65,536 (2^16)", or "0,5" where
/// that is usual.
QString shownNumber(std::string_view number) {
    const QString text = QString::fromLatin1(number.data(), static_cast<qsizetype>(number.size()));
    QString digits = text.section(u' ', 0, 0);
    bool whole = false;
    const qlonglong value = digits.toLongLong(&whole);
    const QString rest = text.mid(digits.size()); // before it changes
    if (whole) return QLocale().toString(value) + rest;
    constexpr qlonglong kGrouped = 1000; // below, "-0.5" would lose its sign
    const QString front = digits.section(u'.', 0, 0);
    const qlonglong large = front.toLongLong(&whole);
    digits.replace(u'.', QLocale().decimalPoint());
    if (whole && std::abs(large) >= kGrouped)
        digits.replace(0, front.size(), QLocale().toString(large));
    return digits + rest;
}

/// Replaces the keys of settings by their labels, but not in quoted data, in paths, and in
/// commands, which know settings by their keys.
QString withLabels(const QString& text) {
    static const QRegularExpression s_key(
        QStringLiteral("(?<![\\w/.\"])(?<!--set )(?<!--sweep )"
                       "(?:lanes\\.(\\d+)\\.)?([a-z]+\\.[a-z_]+)\\b(?!\\.\\w|[/\"])"));
    QString named;
    qsizetype end = 0;
    for (const QRegularExpressionMatch& each : s_key.globalMatch(text)) {
        const Field* field = findField(each.captured(2).toStdString());
        if (field == nullptr || field->label.empty()) continue;
        named += text.mid(end, each.capturedStart() - end);
        const QString label = labelInWindow(*field);
        named += each.hasCaptured(1) ? QCoreApplication::translate("Translated", "%1 of lane %2")
                                           .arg(label, laneTag(each.captured(1).toInt()))
                                     : label;
        end = each.capturedEnd();
    }
    return named + text.mid(end);
}

} // namespace

QString translated(const Phrase& phrase) {
    // translating an empty text would return the header of the translation's file
    return phrase.empty() ? QString()
                          : QCoreApplication::translate(phrase.context(), phrase.text());
}

QString groupedNumbers(const QString& text) {
    // a number that is not part of a name, a path, a date or a fraction
    static const QRegularExpression s_number(
        QStringLiteral("(?<![\\w.,^/-])\\d{4,18}(?![\\w/-]|[.,]\\w)"));
    QString grouped;
    qsizetype end = 0;
    for (const QRegularExpressionMatch& each : s_number.globalMatch(text)) {
        grouped += text.mid(end, each.capturedStart() - end);
        grouped += QLocale().toString(each.captured().toLongLong());
        end = each.capturedEnd();
    }
    return grouped + text.mid(end);
}

QString translated(const Message& message) {
    const auto inWords = [](const Phrase& format) {
        const bool on = format == kSetToTrue, off = format == kSetToFalse;
        return translated(on    ? phrase("Data", "switch %1 on")
                          : off ? phrase("Data", "switch %1 off")
                                : format)
            .toStdString();
    };
    const auto text = QString::fromStdString(message.text(
        inWords, [](std::string_view number) { return shownNumber(number).toStdString(); }));
    return message.format() == kInSettingsFile ? text : withLabels(text);
}

QString experimentTitle(const Message& title) {
    return title.format().empty() ? safeText(title.english()) : translated(title);
}

QString labelInWindow(const Field& field) { return QLocale().quoteString(translated(field.label)); }

std::string nameInTitles(const Field& field) {
    return translated(field.label).replace(QChar(u' '), QChar(QChar::Nbsp)).toStdString();
}

QString translated(const std::exception& error) { return translated(messageOf(error)); }

QStringList translationFolders(const QString& programFolder) {
    return {programFolder + QStringLiteral("/translations"),
            programFolder + QStringLiteral("/../share/halfscope/translations")};
}

bool loadTranslation(const QLocale& locale, const QStringList& folders) {
    QCoreApplication* app = QCoreApplication::instance();
    const auto load = [&](const QString& name, const QString& folder) {
        auto translator = std::make_unique<QTranslator>();
        if (!translator->load(locale, name, QStringLiteral("_"), folder)) return false;
        translator->setParent(app);
        return QCoreApplication::installTranslator(translator.release()); // the application owns it
    };
    for (const QString& folder : folders) {
        if (!load(QStringLiteral("halfscope"), folder)) continue;
        load(QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
        return true;
    }
    return false;
}

} // namespace halfscope
