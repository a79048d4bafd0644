// Looks the engine's phrases up under their own context, as `./dev translations` collects them.
#include "ui/models/translated.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QRegularExpression>
#include <QTranslator>

#include <memory>

namespace halfscope {
namespace {

/// Returns a number such as "2005" or "65536 (2^16)" as the window writes it, and any other text
/// unchanged.
QString shownData(const QString& text) {
    static const QRegularExpression s_whole(QStringLiteral("^\\d+( \\(2\\^\\d+\\))?$"));
    return s_whole.match(text).hasMatch() ? groupedNumbers(text) : text;
}

/// Puts the arguments in place of %1 to %9; the arguments themselves are not searched for these.
QString filled(const QString& format, const QStringList& arguments) {
    QString text;
    for (qsizetype i = 0; i < format.size(); ++i) {
        const int place =
            format[i] == u'%' && i + 1 < format.size() ? format[i + 1].unicode() - u'1' : -1;
        if (place < 0 || place >= arguments.size()) {
            text += format[i];
            continue;
        }
        text += arguments[place];
        ++i;
    }
    return text;
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
    if (message.format().empty()) return shownData(QString::fromStdString(message.english()));
    QStringList parts;
    for (const Message& each : message.arguments())
        parts << translated(each);
    return filled(translated(message.format()), parts);
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
