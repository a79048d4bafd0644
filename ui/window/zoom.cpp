// The choice of a size in the user's settings.
#include "ui/window/zoom.h"

#include "ui/session/user_settings.h"

#include <algorithm>
#include <array>

namespace halfscope {
namespace {

constexpr std::array kZooms{100, 125, 150, 200};

QString key() { return QStringLiteral("zoom"); }

} // namespace

std::span<const int> zooms() { return kZooms; }

int rememberedZoom() {
    const int percent = userSettings().value(key()).toInt();
    const bool known = std::find(kZooms.begin(), kZooms.end(), percent) != kZooms.end();
    return known ? percent : kZooms.front();
}

void rememberZoom(int percent) { keepUserSettings({{key(), percent}}); }

double startFactor(const QStringList& arguments) {
    const bool screenshot =
        std::any_of(arguments.begin(), arguments.end(), [](const QString& argument) {
            return argument.contains(QLatin1String("-screenshot"));
        });
    return screenshot ? 1 : rememberedZoom() / 100.0;
}

QSize startSize(const QSize& usual, const QSize& screen) {
    constexpr QSize kFrame(8, 36); // of the window, about: the frame is not there yet
    return usual.boundedTo(screen - kFrame);
}

} // namespace halfscope
