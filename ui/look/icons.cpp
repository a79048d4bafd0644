// Icons are one-colour SVGs: their grey is replaced by the requested colour, and they are drawn at
// some sizes, once for each colour. Buttons ask again with every change of state, and styles keep
// pictures of their own of every pixmap that they have not seen before.
#include "ui/look/icons.h"

#include <QFile>
#include <QPainter>
#include <QPixmap>
#include <QPixmapCache>
#include <QSvgRenderer>

// Needed because the resources lie in a static library; the macro must stand outside any namespace.
static void loadResources() { Q_INIT_RESOURCE(halfscope); }

namespace halfscope {
namespace {

QPixmap drawn(const QByteArray& svg, int size) {
    QSvgRenderer renderer(svg);
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    renderer.render(&painter);
    return pixmap;
}

QByteArray readIcon(const QString& name) {
    loadResources();
    QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QIcon allSizes(const QByteArray& svg, std::initializer_list<int> sizes) {
    QIcon icon;
    for (const int size : sizes) {
        const QString key = QStringLiteral("halfscope %1 ").arg(size) + QLatin1String(svg);
        QPixmap pixmap;
        if (!QPixmapCache::find(key, &pixmap)) {
            pixmap = drawn(svg, size);
            QPixmapCache::insert(key, pixmap);
        }
        icon.addPixmap(pixmap);
    }
    return icon;
}

} // namespace

QIcon themedIcon(const QString& name, const QColor& color) {
    QByteArray svg = readIcon(name);
    svg.replace("#808080", color.name().toLatin1());
    return allSizes(svg, {16, 20, 24, 32, 48});
}

QIcon programIcon() {
    return allSizes(readIcon(QStringLiteral("halfscope")), {16, 32, 48, 64, 128, 256});
}

} // namespace halfscope
