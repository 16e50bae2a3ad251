#include "heed/train/processes.h"

#include <cstdlib>
#include <cstring>
#include <thread>

#include <ATen/core/grad_mode.h>

#include "heed/base/check.h"
#include "heed/train/processes_group.h"

namespace heed {
namespace {

constexpr char kDone = '+', kFailed = '-';  // first character of the text that rank 0 posts after its work
constexpr std::chrono::milliseconds kLongestPause(50);
constexpr int64_t kBucketBytes = 32 << 20;  // few calls, and little memory in addition to the tensors

std::chrono::milliseconds timeout_or_default(std::chrono::milliseconds given) {
  if (given.count() > 0) return given;
  const char* text = std::getenv("HEED_TIMEOUT");
  if (text == nullptr || *text == '\0') return std::chrono::minutes(10);
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  check(*end == '\0' && seconds >= 1e-3 && seconds < 1e7, "train/processes: HEED_TIMEOUT='", text,
        "', expected a number of seconds");
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

/// Drops the stack trace that torch appends.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// End of the bucket that starts at `from`: tensors of one dtype up to kBucketBytes, at least one.
size_t end_of_bucket(const std::vector<at::Tensor>& tensors, size_t from) {
  int64_t bytes = 0;
  size_t to = from;
  for (; to < tensors.size() && tensors[to].scalar_type() == tensors[from].scalar_type(); ++to) {
    bytes += static_cast<int64_t>(tensors[to].nbytes());
    if (to > from && bytes > kBucketBytes) break;
  }
  return to;
}

}  // namespace

std::shared_ptr<Processes> Processes::join(const ProcessRank& process, at::Device device,
                                           std::chrono::milliseconds timeout) {
  return std::shared_ptr<Processes>(new Processes(process, device, timeout_or_default(timeout)));
}

Processes::Processes(const ProcessRank& process, at::Device device, std::chrono::milliseconds timeout)
    : process_(process), device_(device) {
  if (process.world == 1) return;
  const std::string reason = no_group(device.type());
  check(reason.empty(), "train/processes: ", process.launcher, " started ", process.world, " processes, but ", reason);
  try {
    group_ = open_group(process, device, timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    fail("train/processes: rank ", process.rank, " of ", process.world, " could not join the others at ",
         process.master, ":", process.port, " within ", static_cast<double>(timeout.count()) / 1000,
         " s: ", first_line(error.what()), "\nAre all ", process.world,
         " processes running (in a batch script of Slurm: through srun), is the port of rank 0 "
         "free and reachable (else set MASTER_PORT), and does the host's name lead to the right network (else set "
         "GLOO_SOCKET_IFNAME)?");
  }
}

Processes::~Processes() = default;

void Processes::refuse_after_failure(const std::string& what) const {
  check(!failed_, "train/processes: rank ", rank(), " cannot ", what, ": an earlier call has failed");
}

void Processes::checked(const std::string& what, const std::function<void()>& call) {
  ++calls_;
  refuse_after_failure(what);
  try {
    call();
  } catch (const std::exception& error) {
    failed_ = true;
    std::vector<std::string> silent;
    for (const int other : group_->silent_after_failure()) silent.push_back(std::to_string(other));
    const std::string who = silent.empty() ? "all ranks report a failure"
                            : silent.size() == 1
                                ? "no word from rank " + silent[0] + ", which died, hangs or takes too long"
                                : "no word from ranks " + joined(silent) + ", which died, hang or take too long";
    fail("train/processes: rank ", rank(), " of ", world(), " could not ", what, " (call ", calls_, "): ", who,
         "; see the log there. Where it was only slow, set HEED_TIMEOUT to more seconds. Torch says: ",
         first_line(error.what()));
  }
}

/// Applies `call` to each bucket as one flat tensor and copies the results back.
void Processes::together(const char* what, const std::vector<at::Tensor>& tensors, const Call& call) {
  const at::NoGradGuard no_grad;
  for (const auto& tensor : tensors)
    check(tensor.defined() && tensor.layout() == at::kStrided, "train/processes: ", what,
          ": got an undefined or sparse tensor, expected dense tensors");
  for (size_t from = 0; from < tensors.size();) {
    const size_t to = end_of_bucket(tensors, from);
    std::vector<at::Tensor> parts;
    for (size_t i = from; i < to; ++i) parts.push_back(tensors[i].detach().reshape({-1}).to(device_));
    const auto flat = (parts.size() == 1 ? parts[0] : at::cat(parts)).contiguous();
    if (flat.numel() > 0) checked(what, [&] { call(*group_, flat); });
    for (int64_t at = 0; from < to; ++from) {
      const auto& tensor = tensors[from];
      const auto part = flat.narrow(0, at, tensor.numel());
      if (!part.is_alias_of(tensor)) tensor.detach().copy_(part.view(tensor.sizes()));
      at += tensor.numel();
    }
  }
}

void Processes::sum(const std::vector<at::Tensor>& tensors) {
  if (!group_) return;
  together("sum tensors", tensors, [](Group& group, const at::Tensor& flat) { group.sum(flat); });
}

std::vector<double> Processes::sum(std::vector<double> numbers) {
  if (!group_ || numbers.empty()) return numbers;
  const auto flat = at::tensor(numbers, at::TensorOptions(at::kDouble)).to(device_);
  checked("sum numbers", [&] { group_->sum(flat); });
  const auto summed = flat.cpu();
  return {summed.data_ptr<double>(), summed.data_ptr<double>() + summed.numel()};
}

double Processes::sum(double number) {
  return sum(std::vector<double>{number})[0];
}

void Processes::sum_gradients(const std::vector<at::Tensor>& parameters) {
  if (!group_ || parameters.empty()) return;
  std::vector<at::Tensor> gradients;
  const auto present = at::zeros({static_cast<int64_t>(parameters.size())}, parameters.back().scalar_type());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto& gradient = parameters[i].grad();
    if (gradient.defined()) present[static_cast<int64_t>(i)].fill_(1);
    gradients.push_back(gradient.defined() ? gradient : at::zeros_like(parameters[i]));
  }
  gradients.push_back(present);
  together("sum gradients", gradients, [](Group& group, const at::Tensor& flat) { group.sum(flat); });
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!parameters[i].grad().defined() && present[static_cast<int64_t>(i)].item<double>() > 0)
      at::Tensor(parameters[i]).mutable_grad() = gradients[i];
}

void Processes::broadcast(const std::vector<at::Tensor>& tensors) {
  if (!group_) return;
  together("broadcast tensors", tensors, [](Group& group, const at::Tensor& flat) { group.broadcast(flat); });
}

bool Processes::any(bool mine) {
  return sum(mine ? 1.0 : 0.0) > 0;
}

std::vector<double> Processes::from_first(const std::string& what, const std::function<std::vector<double>()>& work) {
  if (!group_) return work();
  refuse_after_failure(what);
  const std::string key = "wait/" + std::to_string(++waits_);
  std::vector<double> numbers;
  if (first()) {
    try {
      numbers = work();
      group_->post(key,
                   kDone + std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)));
    } catch (const std::exception& error) {
      failed_ = true;
      group_->post(key, kFailed + std::string(error.what()));
      group_->silent_after_failure();  // waits until all processes have read the text
      throw;
    }
    return numbers;
  }
  const std::string received = received_from_first(key, what);
  if (received[0] != kDone) {
    failed_ = true;
    group_->silent_after_failure();
    fail("train/processes: rank 0 could not ", what, ", so rank ", rank(), " of ", world(),
         " ends too: ", received.substr(1));
  }
  numbers.resize((received.size() - 1) / sizeof(double));
  std::memcpy(numbers.data(), received.data() + 1, numbers.size() * sizeof(double));
  return numbers;
}

void Processes::wait_for_first(const std::string& what, const std::function<void()>& work) {
  from_first(what, [&] {
    work();
    return std::vector<double>{};
  });
}

/// Polls: a wait inside torch would be subject to the timeout.
std::string Processes::received_from_first(const std::string& key, const std::string& what) {
  auto pause = std::chrono::milliseconds(1);
  try {
    while (true) {
      if (auto text = group_->posted(key)) return *text;
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  } catch (const std::exception& error) {
    failed_ = true;
    fail("train/processes: rank ", rank(), " of ", world(), " waited for rank 0 to ", what,
         ", but rank 0 is gone; see the log there. Torch says: ", first_line(error.what()));
  }
}

/// Uses one sum of bytes: each text has its own range, to which the other processes add 0.
std::vector<std::string> Processes::gather(const std::string& mine) {
  std::vector<double> sizes(static_cast<size_t>(world()), 0.0);
  sizes[static_cast<size_t>(rank())] = static_cast<double>(mine.size());
  sizes = sum(std::move(sizes));
  std::vector<int64_t> starts{0};
  for (const double size : sizes) starts.push_back(starts.back() + static_cast<int64_t>(size));
  const auto bytes = at::zeros({starts.back()}, at::kByte);
  if (!mine.empty())
    std::memcpy(bytes.data_ptr<uint8_t>() + starts[static_cast<size_t>(rank())], mine.data(), mine.size());
  if (group_) together("gather texts", {bytes}, [](Group& group, const at::Tensor& flat) { group.sum(flat); });
  std::vector<std::string> texts;
  const auto* letters = reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>());
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    texts.emplace_back(letters + starts[i], static_cast<size_t>(starts[i + 1] - starts[i]));
  return texts;
}

void Processes::barrier() {
  sum(0.0);
}

}  // namespace heed
