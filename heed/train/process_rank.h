// Rank and world size of this process, read from the environment variables of its launcher.
//
//   torchrun --no-python, or by hand   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
//   mpirun (Open MPI)                  OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK
//   mpirun (MPICH, Intel)              PMI_RANK, PMI_SIZE, MPI_LOCALRANKID
//   srun (Slurm)                       SLURM_PROCID, SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID
//
// The first launcher in this list whose variables are set is used. MASTER_ADDR and MASTER_PORT may be set with each;
// without them, mpirun and Slurm use the first host of the job and a port derived from the job id.

#pragma once

#include <functional>
#include <optional>
#include <string>

namespace heed {

struct ProcessRank {
  int rank = 0, world = 1, local_rank = 0;  // rank, number of processes, rank on this machine
  std::string master;                       // host of rank 0; "" for a single process
  int port = 0;
  std::string launcher;  // "torchrun", "mpirun", "Slurm" or "environment"; "" for a process without a launcher
};

/// Value of an environment variable, if it is set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Throws an Error if variables are incomplete, contradictory or not numbers. Without variables: a single process.
ProcessRank rank_from(const Environment& environment);
ProcessRank rank_from_environment();

/// The first host of a Slurm host list: "node03" for "node[03-07,9],login".
std::string first_host(const std::string& hosts);

}  // namespace heed
