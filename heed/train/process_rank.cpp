#include "heed/train/process_rank.h"

#include <cstdint>
#include <cstdlib>

#include "heed/base/check.h"
#include "heed/base/excerpt.h"

namespace heed {
namespace {

/// The variables of a launcher. The first of the names in `world` that is set counts.
struct Names {
  const char* launcher;
  std::string rank;
  std::vector<std::string> world;
  std::string local_rank, local_world;
  const char* job;
};

const Names kByHand{"environment", "RANK", {"WORLD_SIZE"}, "LOCAL_RANK", "LOCAL_WORLD_SIZE", ""};
const Names kOpenMpi{"mpirun",
                     "OMPI_COMM_WORLD_RANK",
                     {"OMPI_COMM_WORLD_SIZE"},
                     "OMPI_COMM_WORLD_LOCAL_RANK",
                     "OMPI_COMM_WORLD_LOCAL_SIZE",
                     "PMIX_NAMESPACE"};
const Names kPmi{"mpirun", "PMI_RANK", {"PMI_SIZE"}, "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_JOB_ID"};
const Names kSlurm{"Slurm", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, "SLURM_LOCALID",
                   "",      "SLURM_JOB_ID"};

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  /// "" if it is not set: launchers and scripts use an empty variable for unset.
  std::string text(const std::string& name) const { return name.empty() ? "" : environment_(name).value_or(""); }

  std::optional<int> number(const std::string& name) const {
    const std::string value = text(name);
    if (value.empty()) return std::nullopt;
    check(value.size() <= 7 && value.find_first_not_of("0123456789") == std::string::npos, "train/process_rank: ", name,
          "='", excerpt(value), "', expected a whole number");
    return std::stoi(value);
  }

  std::string first_set(const std::vector<std::string>& names) const {
    for (const auto& name : names)
      if (!text(name).empty()) return name;
    return "";
  }

 private:
  const Environment& environment_;
};

std::string shown(const Reader& reader, const std::string& name) {
  const std::string value = reader.text(name);
  return value.empty() ? name + " is not set" : name + "=" + excerpt(value);
}

/// Rank and world size by these names, or nullopt if this launcher was not used.
std::optional<ProcessRank> numbers(const Reader& reader, const Names& names) {
  const std::string size = reader.first_set(names.world);
  const auto rank = reader.number(names.rank), world = reader.number(size);
  // A Slurm allocation sets the number of tasks even without srun, for example in the shell of salloc.
  if (!rank && (!world || &names == &kSlurm)) return std::nullopt;
  check(rank && world, "train/process_rank: ", shown(reader, names.rank), ", but ",
        shown(reader, world ? size : names.world.back()), "; set both, or neither for a single process");
  check(*world >= 1 && *rank < *world, "train/process_rank: ", names.rank, "=", *rank, " with ", size, "=", *world,
        "; expected a rank from 0 to ", size, " - 1");
  ProcessRank process;
  process.rank = *rank;
  process.world = *world;
  process.local_rank = reader.number(names.local_rank).value_or(*rank);
  check(process.local_rank < *world, "train/process_rank: ", names.local_rank, "=", process.local_rank, " with ", size,
        "=", *world, "; expected a smaller number");
  process.launcher = names.launcher;
  return process;
}

/// A port derived from the job id, so that two jobs on a machine most likely differ. Below the ephemeral port range.
int port_of(const std::string& job) {
  if (job.empty()) return 29500;  // default of torchrun
  uint32_t hash = 2166136261U;    // FNV-1a
  for (const char letter : job) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619U;
  return static_cast<int>(20000 + hash % 10000);
}

/// The rendezvous host for launchers that do not set MASTER_ADDR.
std::string meeting_host(const Reader& reader, const Names& names, const ProcessRank& process) {
  const auto local = reader.number(names.local_world);
  const auto nodes = reader.number(reader.first_set({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}));
  if (local == process.world || (&names == &kSlurm && nodes == 1)) return "127.0.0.1";
  const std::string hosts = reader.text(reader.first_set({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}));
  check(!hosts.empty(), "train/process_rank: ", process.launcher, " started ", process.world,
        " processes, and nothing says where rank 0 is; set MASTER_ADDR to its host (mpirun -x MASTER_ADDR=host)");
  return first_host(hosts);
}

void find_master(const Reader& reader, const Names& names, ProcessRank& process) {
  process.master = reader.text("MASTER_ADDR");
  const auto port = reader.number("MASTER_PORT");
  if (&names == &kByHand)
    check(!process.master.empty() && port, "train/process_rank: WORLD_SIZE=", process.world, ", but ",
          shown(reader, process.master.empty() ? "MASTER_ADDR" : "MASTER_PORT"),
          "; set MASTER_ADDR to the host of rank 0 and MASTER_PORT to a free port there");
  if (process.master.empty()) process.master = meeting_host(reader, names, process);
  process.port = port ? *port : port_of(reader.text(names.job));
  check(process.port >= 1 && process.port <= 65535, "train/process_rank: MASTER_PORT=", process.port,
        ", expected 1 to 65535");
  // torchrun itself listens at MASTER_PORT, with the protocol of its torch version. Rank 0 uses the next port.
  if (reader.text("TORCHELASTIC_USE_AGENT_STORE") == "True") process.port += process.port < 65535 ? 1 : -1;
}

/// Refuses RANK and WORLD_SIZE left over in a shell if they contradict those of mpirun.
void check_agreement(const Reader& reader, const ProcessRank& by_hand, const Names& names) {
  const auto other = numbers(reader, names);
  check(!other || (other->rank == by_hand.rank && other->world == by_hand.world),
        "train/process_rank: RANK=", by_hand.rank, " and WORLD_SIZE=", by_hand.world, " contradict ",
        shown(reader, names.rank), " and ", shown(reader, names.world.front()), "; unset those that are left over");
}

}  // namespace

std::string first_host(const std::string& hosts) {
  std::string host;
  for (size_t i = 0; i < hosts.size() && hosts[i] != ','; ++i) {
    if (hosts[i] != '[') {
      host += hosts[i];
      continue;
    }
    const size_t end = hosts.find(']', i), first = hosts.find_first_of(",-]", i);
    check(end != std::string::npos, "train/process_rank: the list of hosts '", excerpt(hosts),
          "' has a [ without its ]");
    host += hosts.substr(i + 1, first - i - 1);
    i = end;
  }
  check(!host.empty(), "train/process_rank: the list of hosts '", excerpt(hosts),
        "' is empty or begins with a separator, expected a host first");
  return host;
}

ProcessRank rank_from(const Environment& environment) {
  const Reader reader(environment);
  for (const Names* names : {&kByHand, &kOpenMpi, &kPmi, &kSlurm}) {
    auto process = numbers(reader, *names);
    if (!process) continue;
    const bool torchrun = names == &kByHand && !reader.text("TORCHELASTIC_RUN_ID").empty();
    if (torchrun) process->launcher = "torchrun";
    if (names == &kByHand && !torchrun)  // torchrun may itself be started by mpirun, once for each machine
      for (const Names* other : {&kOpenMpi, &kPmi}) check_agreement(reader, *process, *other);
    if (process->world > 1) find_master(reader, *names, *process);
    return *process;
  }
  return {};
}

ProcessRank rank_from_environment() {
  return rank_from([](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace heed
