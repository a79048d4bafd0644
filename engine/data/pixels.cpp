// Pictures as tasks: sample p is pixel p in row-major order, its inputs are (x, y) in [0, 1), and
// its target is the pixel's colour. One is a checkerboard, the other a picture from a file or a
// built-in one.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/io/picture.h"
#include "engine/lang/python.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

class PixelData final : public Dataset {
public:
    explicit PixelData(Picture target)
        : m_target(std::move(target)), m_tensors{TensorSpec{"x", {2}},
                                                 TensorSpec{"target", {m_target.channels}}} {
        require(m_target.width == m_target.height, "a task's picture is square");
    }

    std::span<const TensorSpec> tensors() const override { return m_tensors; }
    int64_t samples(Split split) const override {
        return split == Split::Train ? int64_t{m_target.width} * m_target.height : 0;
    }

    std::vector<Unread> read(Pass, std::span<const int64_t> samples,
                             const BatchRows& out) const override {
        const std::span<float> x = out.floats(kX), target = out.floats(kTarget);
        const int side = m_target.width;
        const auto channels = static_cast<size_t>(m_target.channels);
        for (size_t i = 0; i < samples.size(); ++i) {
            x[2 * i] = static_cast<float>(static_cast<double>(samples[i] % side) / side);
            x[2 * i + 1] = static_cast<float>(static_cast<double>(samples[i] / side) / side);
            const auto pixel = static_cast<size_t>(samples[i]) * channels;
            std::copy_n(m_target.values.begin() + static_cast<std::ptrdiff_t>(pixel), channels,
                        target.begin() + static_cast<std::ptrdiff_t>(i * channels));
        }
        return {};
    }

    bool usesSeed() const override { return false; }
    TaskView view() const override {
        TaskView view;
        view.kind = ViewKind::Painted;
        view.width = m_target.width;
        view.height = m_target.height;
        view.channels = m_target.channels;
        return view;
    }

private:
    Picture m_target;
    std::array<TensorSpec, 2> m_tensors;
};

Picture checkerboardPicture(const TaskConfig& task) {
    const int side = static_cast<int>(task.side);
    // Half of a period of 2 / frequency sides; the order of operations is part of the definition.
    std::vector<bool> odd;
    for (int at = 0; at < side; ++at)
        odd.push_back(std::fmod(at * task.frequency / side / 2, 1.0) > 0.5);
    Picture picture{side, side, 1, {}};
    picture.values.reserve(static_cast<size_t>(task.side * task.side));
    for (const bool row : odd)
        for (const bool column : odd)
            picture.values.push_back(column != row ? 1.0f : 0.0f);
    return picture;
}

/// Draws rings whose hue turns with the angle on a dark ground, for any side: smooth areas and fine
/// edges in three different channels.
Picture ringPicture(int side) {
    Picture picture{side, side, 3, {}};
    picture.values.reserve(static_cast<size_t>(side) * static_cast<size_t>(side) * 3);
    for (int row = 0; row < side; ++row) {
        for (int column = 0; column < side; ++column) {
            const double x = (column + 0.5) / side - 0.5;
            const double y = (row + 0.5) / side - 0.5;
            const double radius = std::hypot(x, y);
            const double angle = std::atan2(y, x);
            const double ring = 0.5 + 0.5 * std::cos(radius * 8 * std::numbers::pi - angle);
            const double fade = 1 / (1 + std::exp(40 * (radius - 0.46)));
            for (int channel = 0; channel < 3; ++channel) {
                const double hue = angle + channel * 2 * std::numbers::pi / 3 + 6 * radius;
                const double light = 0.12 + 0.88 * ring * (0.5 + 0.5 * std::cos(hue));
                picture.values.push_back(static_cast<float>(0.06 + 0.94 * fade * light));
            }
        }
    }
    return picture;
}

Picture imagePicture(const TaskConfig& task) {
    const int side = static_cast<int>(task.side);
    if (task.image.empty()) return ringPicture(side);
    return readSquare(task.image, side);
}

std::vector<TensorSpec> pixelTensors(int64_t channels) {
    return {TensorSpec{"x", {2}}, TensorSpec{"target", {channels}}};
}

DataFacts checkerboardFacts(const TaskConfig& task) {
    return {pixelTensors(1), task.side * task.side, 0};
}

/// Returns three channels, although a file may be grey, because only its picture tells that.
DataFacts imageFacts(const TaskConfig& task) { return {pixelTensors(3), task.side * task.side, 0}; }

using lang::filled;

constexpr std::string_view kPixels = R"(

def pixels(picture):
    """Coordinates in [0, 1) and colours, row by row."""
    at = torch.arange(SIDE, dtype=torch.float64) / SIDE
    x = torch.stack([at.repeat(SIDE), at.repeat_interleave(SIDE)], 1)
    return (x.float(), picture.reshape(SIDE * SIDE, -1).float()), None
)";

PythonData checkerboardPython(const TaskConfig& task, int64_t) {
    return {{},
            filled(R"(SIDE = {SIDE}
FREQUENCY = {FREQUENCY}
{PIXELS}

def samples():
    odd = torch.fmod(torch.arange(SIDE, dtype=torch.float64) * FREQUENCY / SIDE / 2, 1.0) > 0.5
    return pixels(odd[:, None] != odd[None, :])
)",
                   {{"SIDE", numberText(task.side)},
                    {"FREQUENCY", lang::pythonReal(task.frequency)},
                    {"PIXELS", std::string(kPixels)}})};
}

constexpr std::string_view kRingSamples = R"(
def samples():
    """Rings whose hue turns with the angle."""
    at = (torch.arange(SIDE, dtype=torch.float64) + 0.5) / SIDE - 0.5
    x, y = at[None, :], at[:, None]
    radius, angle = torch.hypot(x, y), torch.atan2(y, x)
    ring = 0.5 + 0.5 * torch.cos(radius * 8 * math.pi - angle)
    fade = 1 / (1 + torch.exp(40 * (radius - 0.46)))
    hues = [angle + channel * 2 * math.pi / 3 + 6 * radius for channel in range(3)]
    colours = [0.12 + 0.88 * ring * (0.5 + 0.5 * torch.cos(hue)) for hue in hues]
    return pixels(torch.stack([0.06 + 0.94 * fade * colour for colour in colours], 2))
)";

constexpr std::string_view kFileSamples = R"(
def samples():
    """The centre square of the picture, on white where it is transparent."""
    image = Image.open(PICTURE).convert("RGBA")
    image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert(MODE)
    image = ImageOps.fit(image, (SIDE, SIDE))
    return pixels(torch.from_numpy(numpy.array(image)) / 255)
)";

PythonData imagePython(const TaskConfig& task, int64_t outputs) {
    const std::string side = "SIDE = " + numberText(task.side) + "\n";
    const std::string pixels(kPixels);
    if (task.image.empty())
        return {"import math\n", side + pixels + "\n" + std::string(kRingSamples)};
    return {"import numpy\nfrom PIL import Image, ImageOps\n",
            side + "PICTURE = " + lang::pythonText(task.image) + "\nMODE = \"" +
                (outputs == 1 ? "L" : "RGB") + "\"\n" + pixels + "\n" + std::string(kFileSamples)};
}

} // namespace

extern const DataSetInfo kCheckerboardData, kImageData;
const DataSetInfo kCheckerboardData{
    .name = "checkerboard",
    .title = phrase("Settings", "Checkerboard"),
    .about = phrase("Settings", "a checkerboard, painted from the coordinates of its pixels"),
    .settings = {"task.side", "task.frequency"},
    .wholeSet = true,
    .view = ViewKind::Painted,
    .facts = checkerboardFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<PixelData>(checkerboardPicture(task));
    },
    .python = checkerboardPython};
const DataSetInfo kImageData{
    .name = "image",
    .title = phrase("Settings", "Picture"),
    .about = phrase("Settings", "a picture of your own, painted in the same way"),
    .settings = {"task.side", "task.image"},
    .wholeSet = true,
    .view = ViewKind::Painted,
    .facts = imageFacts,
    .make = [](const TaskConfig& task, uint64_t) -> std::unique_ptr<Dataset> {
        return std::make_unique<PixelData>(imagePicture(task));
    },
    .python = imagePython};

} // namespace halfscope
