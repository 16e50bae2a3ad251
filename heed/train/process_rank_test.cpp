// Environment variables as the launchers set them.

#include "heed/train/process_rank.h"

#include <map>

#include <gtest/gtest.h>

#include "heed/base/check.h"

namespace heed {
namespace {

using Variables = std::map<std::string, std::string>;

ProcessRank process(const Variables& variables) {
  return rank_from([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

std::string refusal(const Variables& variables) {
  try {
    process(variables);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_named(const Variables& variables, const std::vector<std::string>& words) {
  const std::string text = refusal(variables);
  for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
}

const Variables kTorchrun{{"RANK", "3"},
                          {"WORLD_SIZE", "4"},
                          {"LOCAL_RANK", "1"},
                          {"MASTER_ADDR", "node7"},
                          {"MASTER_PORT", "29400"},
                          {"TORCHELASTIC_RUN_ID", "none"},
                          {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "1234567"}};
const Variables kSlurm{{"SLURM_PROCID", "5"},   {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "8"},
                       {"SLURM_LOCALID", "1"},  {"SLURM_NNODES", "2"}, {"SLURM_JOB_NODELIST", "gpu[07-08]"},
                       {"SLURM_JOB_ID", "4711"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

TEST(ProcessRank, IsASingleProcessWithoutVariables) {
  const ProcessRank alone = process({});
  EXPECT_EQ(alone.rank, 0);
  EXPECT_EQ(alone.world, 1);
  EXPECT_EQ(alone.launcher, "");
  EXPECT_EQ(process({{"MASTER_ADDR", "node7"}, {"MASTER_PORT", "29500"}}).world, 1);
  EXPECT_EQ(process({{"RANK", ""}, {"WORLD_SIZE", ""}}).world, 1);
}

TEST(ProcessRank, ReadsVariablesSetByHandAndUsesTheRankAsLocalRank) {
  const ProcessRank by_hand =
      process({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "12345"}});
  EXPECT_EQ(by_hand.rank, 1);
  EXPECT_EQ(by_hand.world, 2);
  EXPECT_EQ(by_hand.local_rank, 1);
  EXPECT_EQ(by_hand.master, "127.0.0.1");
  EXPECT_EQ(by_hand.port, 12345);
  EXPECT_EQ(by_hand.launcher, "environment");
}

TEST(ProcessRank, ReadsTorchrunAndAvoidsItsPort) {
  const ProcessRank torchrun = process(kTorchrun);
  EXPECT_EQ(torchrun.rank, 3);
  EXPECT_EQ(torchrun.local_rank, 1);
  EXPECT_EQ(torchrun.master, "node7");
  EXPECT_EQ(torchrun.port, 29401);
  EXPECT_EQ(torchrun.launcher, "torchrun");
  EXPECT_EQ(process(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).port, 29400);
  EXPECT_EQ(process(with(kTorchrun, {{"MASTER_PORT", "65535"}})).port, 65534);
}

TEST(ProcessRank, ReadsMpirunOnOneMachine) {
  const ProcessRank mpi = process(kOpenMpi);
  EXPECT_EQ(mpi.rank, 1);
  EXPECT_EQ(mpi.world, 2);
  EXPECT_EQ(mpi.local_rank, 1);
  EXPECT_EQ(mpi.master, "127.0.0.1");
  EXPECT_EQ(mpi.launcher, "mpirun");
  EXPECT_GE(mpi.port, 20000);
  EXPECT_LT(mpi.port, 30000);
  EXPECT_NE(mpi.port, process(with(kOpenMpi, {{"PMIX_NAMESPACE", "1234568"}})).port);
  const ProcessRank pmi =
      process({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "3"}});
  EXPECT_EQ(pmi.rank, 2);
  EXPECT_EQ(pmi.master, "127.0.0.1");
  EXPECT_EQ(pmi.port, 29500);
}

TEST(ProcessRank, AsksForTheMasterWhereMpirunUsesSeveralMachines) {
  const auto two_machines = with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  expect_named(two_machines, {"MASTER_ADDR", "mpirun", "2 processes"});
  const ProcessRank told = process(with(two_machines, {{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "4000"}}));
  EXPECT_EQ(told.master, "node1");
  EXPECT_EQ(told.port, 4000);
}

TEST(ProcessRank, ReadsSlurmAndUsesTheFirstHostAsMaster) {
  const ProcessRank slurm = process(kSlurm);
  EXPECT_EQ(slurm.rank, 5);
  EXPECT_EQ(slurm.world, 8);
  EXPECT_EQ(slurm.local_rank, 1);
  EXPECT_EQ(slurm.master, "gpu07");
  EXPECT_EQ(slurm.launcher, "Slurm");
  EXPECT_EQ(process(with(kSlurm, {{"SLURM_NNODES", "1"}})).master, "127.0.0.1");
  EXPECT_EQ(process(with(kSlurm, {{"MASTER_ADDR", "head"}, {"MASTER_PORT", "777"}})).master, "head");
  EXPECT_EQ(process(with(kSlurm, {{"SLURM_JOB_ID", "4711"}})).port, slurm.port);
}

TEST(ProcessRank, CountsTheTasksOfTheStepNotThoseOfTheAllocation) {
  EXPECT_EQ(process({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}}).world, 1);
}

TEST(ProcessRank, IsASingleProcessInAnAllocationWithOneTaskOrWithoutSrun) {
  EXPECT_EQ(process({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_JOB_NODELIST", "gpu07"}}).world, 1);
  EXPECT_EQ(process({{"SLURM_NTASKS", "8"}, {"SLURM_JOB_NODELIST", "gpu07"}}).world, 1);
}

TEST(ProcessRank, PrefersTorchrunInsideSlurmAndMpirun) {
  EXPECT_EQ(process(with(kTorchrun, kSlurm)).rank, 3);
  EXPECT_EQ(process(with(kTorchrun, kOpenMpi)).rank, 3);
}

TEST(ProcessRank, RefusesIncompleteVariables) {
  expect_named({{"RANK", "0"}}, {"RANK=0", "WORLD_SIZE is not set"});
  expect_named({{"WORLD_SIZE", "2"}}, {"RANK is not set", "WORLD_SIZE=2"});
  expect_named({{"RANK", "0"}, {"WORLD_SIZE", "2"}}, {"MASTER_ADDR is not set", "WORLD_SIZE=2"});
  expect_named({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}, {"MASTER_PORT is not set"});
  expect_named({{"OMPI_COMM_WORLD_RANK", "0"}}, {"OMPI_COMM_WORLD_SIZE is not set"});
  expect_named({{"PMI_SIZE", "2"}}, {"PMI_RANK is not set"});
  expect_named({{"SLURM_PROCID", "0"}}, {"SLURM_NTASKS is not set"});
}

TEST(ProcessRank, RefusesContradictoryVariables) {
  expect_named({{"RANK", "2"}, {"WORLD_SIZE", "2"}}, {"RANK=2", "WORLD_SIZE=2"});
  expect_named({{"RANK", "0"}, {"WORLD_SIZE", "0"}}, {"WORLD_SIZE=0"});
  expect_named(with(kOpenMpi, {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}),
               {"RANK=0", "OMPI_COMM_WORLD_RANK=1", "unset"});
  expect_named(with(kTorchrun, {{"LOCAL_RANK", "4"}}), {"LOCAL_RANK=4", "WORLD_SIZE=4"});
}

TEST(ProcessRank, RefusesValuesThatAreNotNumbers) {
  expect_named({{"RANK", "first"}, {"WORLD_SIZE", "2"}}, {"RANK='first'", "whole number"});
  expect_named({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, {"RANK='-1'"});
  expect_named(with(kTorchrun, {{"MASTER_PORT", "70000"}}), {"MASTER_PORT=70000"});
}

TEST(ProcessRank, FindsTheFirstHostOfAList) {
  EXPECT_EQ(first_host("login"), "login");
  EXPECT_EQ(first_host("a,b,c"), "a");
  EXPECT_EQ(first_host("node[03-07,9],login"), "node03");
  EXPECT_EQ(first_host("rack[2,4]-node[11-12]"), "rack2-node11");
  EXPECT_THROW(first_host("node[03"), Error);
  EXPECT_THROW(first_host(""), Error);
}

}  // namespace
}  // namespace heed
