// Looks the engine's phrases up under their own context, as `./dev translations` collects them.
#include "ui/models/translated.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QTranslator>

#include <memory>

namespace halfscope {

QString translated(const Phrase& phrase) {
    // an empty text would be the header of a translation's file
    return phrase.empty() ? QString()
                          : QCoreApplication::translate(phrase.context(), phrase.text());
}

QString translated(const Message& message) {
    return QString::fromStdString(
        message.text([](const Phrase& phrase) { return translated(phrase).toStdString(); }));
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
        return QCoreApplication::installTranslator(translator.release()); // its parent has it
    };
    for (const QString& folder : folders) {
        if (!load(QStringLiteral("halfscope"), folder)) continue;
        load(QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
        return true;
    }
    return false;
}

} // namespace halfscope
