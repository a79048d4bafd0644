// Writes events as protobuf messages (tensorboard/compat/proto/event.proto) in the framing of
// records.h.
#include "engine/runs/tensorboard.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/io/growing_file.h"
#include "engine/io/open_folder.h"
#include "engine/io/output_folder.h"
#include "engine/io/protobuf.h"
#include "engine/io/records.h"
#include "engine/runs/board_values.h"
#include "engine/runs/lost_pictures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <filesystem>

#include <unistd.h>

namespace halfscope {

namespace {

constexpr std::chrono::milliseconds kFlushAfter{250};
constexpr int64_t kBlockSteps = 1024; // gathered from columns at once
constexpr std::string_view kNameStart = "events.out.tfevents.";
constexpr std::string_view kNameEnd = ".halfscope";

double now() {
    using Seconds = std::chrono::duration<double>;
    return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns the value that TensorBoard shows for a metric. The speed of steps that took almost no
/// time is limited to what can be told.
float shownValue(MetricId id, double value) {
    constexpr double kShortest = 1e-9;
    return static_cast<float>(id == metric::DeviceSeconds ? 1 / std::max(value, kShortest) : value);
}

/// Returns the seconds in the name of one of our event files, or -1 for any other file.
int64_t secondsIn(std::string_view name) {
    if (!name.starts_with(kNameStart) || !name.ends_with(kNameEnd)) return -1;
    name.remove_prefix(kNameStart.size());
    int64_t seconds = -1;
    std::from_chars(name.data(), name.data() + name.size(), seconds);
    return seconds;
}

std::vector<std::string> eventFilesIn(const std::string& folder) {
    std::vector<std::string> names = namesIn(folder); // empty when the folder cannot be listed
    std::erase_if(names, [](const std::string& name) { return secondsIn(name) < 0; });
    return names;
}

/// Returns a name that sorts behind those that are there: TensorBoard reads a folder's files in
/// order of their names.
std::string newName(std::span<const std::string> there) {
    auto seconds = static_cast<int64_t>(now());
    for (const std::string& name : there)
        seconds = std::max(seconds, secondsIn(name) + 1);
    std::string digits = std::to_string(seconds);
    digits.insert(0, 10 - std::min<size_t>(10, digits.size()), '0');
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host = {'h', 'o', 's', 't'};
    std::replace(host.begin(), host.end(), '/', '_');
    return std::string(kNameStart) + digits + "." + host.data() + "." + std::to_string(::getpid()) +
           std::string(kNameEnd);
}

ProtoMessage event(double time, int64_t step) {
    ProtoMessage made;
    made.real(1, time);
    made.whole(2, step);
    return made;
}

} // namespace

std::string_view tensorBoardTag(MetricId id) {
    switch (id) {
    case metric::Scale: return "amp/loss_scale";
    case metric::GrowthTracker: return "amp/growth_tracker";
    case metric::Skipped: return "amp/skipped";
    case metric::SkippedSoFar: return "amp/skipped_so_far";
    case metric::LossNotFinite: return "amp/loss_not_finite";
    case metric::DeviceSeconds: return "device_steps_per_second";
    case metric::ValidationLoss: return "validation/loss";
    case metric::Accuracy: return "validation/accuracy";
    case metric::ValidationError: return "validation/mae";
    case metric::TrainingAccuracy: return "training/accuracy";
    case metric::Perplexity: return "validation/perplexity";
    case metric::TestLoss: return "test/loss";
    case metric::TestAccuracy: return "test/accuracy";
    case metric::TestPerplexity: return "test/perplexity";
    case metric::TestError: return "test/mae";
    case metric::UnchangedWeights: return "weights/unchanged";
    case metric::UnchangedCopies: return "weights/unchanged_copies";
    case metric::WeightDistance: return "weights/distance";
    case metric::GradientError: return "amp/gradient_error";
    case metric::Grew:
    case metric::BackedOff:   // the scale of the next step tells both
    case metric::WallSeconds: // it is the time of every event
    case metric::Batch: return {};
    default: return knownMetrics()[static_cast<size_t>(id)].column;
    }
}

/// The file of one lane. Only whole records are handed to the system.
class TensorBoardWriter::EventFile {
public:
    EventFile(const std::string& path, int64_t after) : m_folder(path) {
        const std::vector<std::string> there = eventFilesIn(path);
        m_file.emplace(m_folder, newName(there));
        constexpr int kVersion = 3, kSessionLog = 7, kStatus = 1, kStart = 1;
        m_records +=
            recordOf(ProtoMessage().real(1, now()).text(kVersion, "brain.Event:2").bytes());
        if (after > 0) { // what was written of later steps is void
            ProtoMessage begins = event(now(), after + 1);
            begins.message(kSessionLog, ProtoMessage().whole(kStatus, kStart));
            m_records += recordOf(begins.bytes());
        }
        flush();
        m_file->place();
        if (after == 0)
            for (const std::string& name : there)
                m_replaced |= ::unlinkat(m_folder.number(), name.c_str(), 0) == 0;
        m_folder.sync();
    }

    /// `time` is in seconds since 1970.
    void add(double time, int64_t step, const ProtoMessage& summary) {
        constexpr int kSummary = 5;
        if (!summary.bytes().empty())
            m_records += recordOf(event(time, step).message(kSummary, summary).bytes());
    }

    /// On a full disk the file ends with a whole record and takes no more.
    void flush() {
        try {
            m_file->append(m_records);
            m_records.clear();
            m_file->flush();
        } catch (...) {
            m_file->cutAt(m_end);
            throw;
        }
        m_end = m_file->written();
    }
    void sync() {
        flush();
        m_file->sync();
    }
    void finish() {
        flush();
        m_file->finish();
        m_folder.sync();
    }

    bool replaced() const { return m_replaced; }

private:
    OutputFolder m_folder;
    bool m_replaced = false;
    std::optional<GrowingFile> m_file; ///< its folder comes first
    std::string m_records;             ///< not yet handed to the system
    int64_t m_end = 0;                 ///< the end of the records that the system has
};

TensorBoardWriter::TensorBoardWriter(std::string folder, std::span<const LaneInfo> lanes,
                                     int64_t after, std::optional<double> start)
    : m_folder(std::move(folder)), m_after(after), m_start(start), m_time(start.value_or(now())) {
    for (const LaneInfo& each : lanes)
        addLane(each);
}

TensorBoardWriter::~TensorBoardWriter() {
    try {
        flush();
    } catch (const std::exception&) { // a destructor cannot report errors
    }
}

void TensorBoardWriter::addLane(const LaneInfo& info) {
    const std::string path = (std::filesystem::path(m_folder) / info.name).string();
    m_lanes.push_back(std::make_unique<EventFile>(path, m_after));
}

void TensorBoardWriter::append(const RunBatch& batch) {
    for (const Metric& each : batch.metrics)
        m_otherTags.push_back(each.column);
    for (const LaneInfo& each : batch.lanes)
        addLane(each);
    addGradients(batch);
    for (const StepRow& row : batch.rows)
        add(row);
    for (const Sample& each : batch.samples) {
        const std::string_view tag =
            each.metric < metric::kKnown
                ? tensorBoardTag(each.metric)
                : m_otherTags[static_cast<size_t>(each.metric - metric::kKnown)];
        if (!tag.empty())
            lane(each.lane).add(
                m_time, each.step,
                ProtoMessage().message(1, boardScalar(tag, static_cast<float>(each.value))));
    }
    if (batch.pictures)
        for (size_t i = 0; i < batch.pictures->outputs.size(); ++i)
            if (const Picture& picture = batch.pictures->outputs[i]; picture.width > 0)
                m_lanes[i]->add(m_time, batch.pictures->step,
                                ProtoMessage().message(1, boardPicture(picture)));
    if (Clock::now() - m_flushed >= kFlushAfter) flush();
}

void TensorBoardWriter::addGradients(const RunBatch& batch) {
    for (const auto& ranges : batch.gradients)
        for (size_t i = 0; i < ranges.size(); ++i)
            m_lanes[i]->add(m_time, ranges[i].step, boardGradients(ranges[i]));
    for (size_t i = 0; i < batch.savedGradients.size(); ++i)
        for (const GradientColumn& each : batch.savedGradients[i])
            if (each.counted == each.from && !each.merged) // the other columns follow from these
                m_lanes[i]->add(m_time, each.counted, boardGradients(each.shares));
}

void TensorBoardWriter::add(const StepRow& row) {
    if (!m_start) m_start = now() - row.wallSeconds();
    m_time = *m_start + row.wallSeconds();
    ProtoMessage summary;
    for (MetricId id = 0; id < metric::kKnown; ++id)
        if (row.measured(id) && !tensorBoardTag(id).empty())
            summary.message(1, boardScalar(tensorBoardTag(id), shownValue(id, row[id])));
    lane(row.lane).add(m_time, row.step, summary);
}

void TensorBoardWriter::flush() {
    for (const auto& each : m_lanes)
        each->flush();
    m_flushed = Clock::now();
}

void TensorBoardWriter::sync() {
    for (const auto& each : m_lanes)
        each->sync();
    m_flushed = Clock::now();
}

bool TensorBoardWriter::replaced() const {
    return std::ranges::any_of(m_lanes, [](const auto& each) { return each->replaced(); });
}

void TensorBoardWriter::finish() {
    for (const auto& each : m_lanes)
        each->finish();
}

namespace {

/// Gathers from columns the rows of a lane and the values of metrics that only a file knows.
void gather(const RunSnapshot& run, int lane, int64_t from, int64_t to, RunBatch& batch) {
    const std::vector<StepRow> rows = run.rows(lane, from, to);
    batch.rows.insert(batch.rows.end(), rows.begin(), rows.end());
    for (MetricId id = metric::kKnown; id < static_cast<MetricId>(run.metrics().size()); ++id)
        run.column(lane, id).values(from, to, [&](int64_t step, double value) {
            batch.samples.push_back({step, lane, id, value});
        });
}

} // namespace

double startOf(const RunSnapshot& run) {
    double seconds = 0;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        seconds = std::max(seconds, run.totals(lane).last().wallSeconds());
    return now() - seconds;
}

TensorBoardFollower::TensorBoardFollower(const std::string& folder, const RunSnapshot& run,
                                         double start)
    : m_writer(folder, run.lanes(), run.firstStep() - 1, start), m_lanes(run.lanes().size()),
      m_metrics(metric::kKnown), m_next(run.firstStep()) {}

void TensorBoardFollower::writeRows(const RunSnapshot& run, int64_t upTo) {
    RunBatch news;
    for (; m_metrics < run.metrics().size(); ++m_metrics)
        news.metrics.push_back(run.metrics()[m_metrics]);
    for (; m_lanes < run.lanes().size(); ++m_lanes)
        news.lanes.push_back(run.lanes()[m_lanes]);
    m_writer.append(news);
    for (; m_next <= upTo; m_next = std::min(upTo, m_next + kBlockSteps - 1) + 1) {
        checkCancelled();
        const int64_t to = std::min(upTo, m_next + kBlockSteps - 1);
        RunBatch batch;
        for (int lane = 0; lane < run.laneCount(); ++lane) {
            const int64_t fork = run.lanes()[static_cast<size_t>(lane)].forkStep;
            if (to > fork) gather(run, lane, std::max(m_next, fork + 1), to, batch);
        }
        m_writer.append(batch);
    }
}

void TensorBoardFollower::write(const RunSnapshot& run) {
    writeRows(run, run.step());
    RunBatch news;
    const std::span<const GradientRange> gradients = run.lastGradients();
    if (!gradients.empty() && gradients.front().step > m_gradientStep) {
        m_gradientStep = gradients.front().step;
        news.gradients.emplace_back(gradients.begin(), gradients.end());
    }
    if (const RunPictures& pictures = *run.sharedPictures();
        !pictures.empty() && pictures.step() > 0 && pictures.step() >= m_nextPicture) {
        constexpr int64_t kPictures = 20;
        m_nextPicture = pictures.step() + std::max<int64_t>(1, run.info().config.steps / kPictures);
        try {
            news.pictures = *pictures.read();
        } catch (const ReportedError&) { // who looks at them is told; the rest is written
        }
    }
    m_writer.append(news);
}

std::vector<std::string> otherBoardLanes(const std::string& folder,
                                         std::span<const LaneInfo> lanes) {
    std::vector<std::string> others = namesIn(folder, Entries::Folders);
    std::erase_if(others, [&](const std::string& name) {
        return std::ranges::find(lanes, name, &LaneInfo::name) != lanes.end() ||
               eventFilesIn((std::filesystem::path(folder) / name).string()).empty();
    });
    std::ranges::sort(others);
    return others;
}

Message saveTensorBoard(const RunSnapshot& run, const std::string& folder) {
    TensorBoardFollower follower(folder, run, startOf(run));
    follower.writeRows(run, run.lastStep());
    RunBatch rest;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        rest.savedGradients.push_back(run.gradients(lane).columns());
    Message leftOut;
    try {
        const std::shared_ptr<const LanePictures> pictures = run.pictures();
        if (const Message lost = lostOutputsText(run, *pictures); !lost.empty())
            leftOut = leftOutText(pictures.get(), lost);
        rest.pictures = *pictures;
    } catch (const ReportedError& error) { // the rest is worth saving
        leftOut = leftOutText(nullptr, error.message());
    }
    follower.writer().append(rest);
    follower.writer().finish();
    return leftOut;
}

} // namespace halfscope
