// Which of several processes this one is: read from what its launcher left in the environment.
//
//   torchrun --no-python, or by hand   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
//   mpirun (Open MPI)                  OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK
//   mpirun (MPICH, Intel)              PMI_RANK, PMI_SIZE, MPI_LOCALRANKID
//   srun (Slurm)                       SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID
//
// The first that is there counts. MASTER_ADDR and MASTER_PORT may be given with each; without them mpirun and Slurm
// meet at the first host of the job, at a port that follows from the number of the job.

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace heed {

struct ProcessRank {
  int rank = 0, world = 1, local_rank = 0;  // among all processes; how many; among those of this machine
  std::string master;                       // where rank 0 waits for the others; "" if there are none
  int port = 0;
  std::string launcher;  // "torchrun", "mpirun", "Slurm" or "environment"; "" for a process that nobody launched
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Throws where variables are half set, contradict each other or are not numbers.
ProcessRank rank_from(const Environment& environment);
ProcessRank rank_from_environment();

/// "node03" of Slurm's "node[03-07,9],login": the first host of a list.
std::string first_host(const std::string& hosts);

}  // namespace heed
