// The folder of a run: its file names, its lock, and the replacement of an old run by a new one.
//
//   recipe.yaml config.json tokenizer*.json model.safetensors checkpoint.safetensors
//   last.*.safetensors metrics.jsonl events.out.tfevents.* log.txt results.json *.hypotheses.txt *.predictions.tsv
//   .lock    of the process that writes to the folder (data/folder_lock.h)
//
// A new run `x` is prepared in `.x.new` next to it and renamed when its first checkpoint is complete. With force an old
// run is exchanged for it (renameat2); if the file system cannot exchange, the old run is renamed to `.x.old` first. At
// any moment either the old run or the new one is complete. After a kill, the next start completes or undoes the
// replacement and removes temporary `*.part` files. Reading a run needs no lock.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/folder_lock.h"

namespace heed {

class RunFolder {
 public:
  static constexpr const char *kRecipe = "/recipe.yaml", *kConfig = "/config.json", *kModel = "/model.safetensors",
                              *kCheckpoint = "/checkpoint.safetensors", *kResults = "/results.json";

  /// Prepares a new run in path() until publish(). A folder with files in it is an Error; with `force` it may contain a
  /// run and nothing else, which publish() replaces.
  static std::unique_ptr<RunFolder> create(const std::string& folder, bool force);
  /// Locks a run that has a checkpoint, and removes the temporary files of killed processes.
  static std::unique_ptr<RunFolder> resume(const std::string& folder);
  /// Removes a new run that was not published.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// The current folder of the run.
  const std::string& path() const { return path_; }
  /// Renames the prepared run to the requested folder; replaces the old run, if any.
  void publish();

  /// Completes a replacement that was killed between two renames, so that the folder exists again; otherwise does
  /// nothing.
  static void finish_replacement(const std::string& folder);
  /// Whether a run writes files of this name, including temporary ones.
  static bool is_run_file(const std::string& name);

 private:
  explicit RunFolder(const std::string& folder);

  void recover();
  void stage();
  void check_free() const;
  void check_replaceable() const;
  void replace();
  [[noreturn]] void refuse_rename(int error) const;

  std::string shown_;                                 // the folder as passed by the caller
  std::string target_, staging_, old_;                // absolute, symbolic links resolved
  std::string path_;                                  // staging_ until publish(), shown_ afterwards
  std::vector<std::string> made_;                     // parent folders that create() made, innermost first
  std::unique_ptr<FolderLock> lock_, replaced_lock_;  // of path_, and of the run that publish() replaces
  bool published_ = false;
};

}  // namespace heed
