// The folder of a run: the names of its files, its lock, and how a new run takes the place of an old one.
//
//   recipe.yaml config.json tokenizer*.json model.safetensors checkpoint.safetensors
//   metrics.jsonl events.out.tfevents.* log.txt results.json *.hypotheses.txt
//   .lock    flock of the process that writes to the folder; host and process id inside. The kernel releases it when
//   the
//            process ends in any way, so nothing has to be removed by hand.
//
// A new run `x` is prepared in `.x.new` next to it and renamed when its first checkpoint is complete. With force an old
// run is exchanged for it (renameat2); where the file system cannot exchange, the old run is renamed to `.x.old` first.
// At any moment either the old run or the new one is whole; after a kill the next start finishes or removes what is
// left, and removes unfinished `*.part` files. Reading a run needs no lock.

#pragma once

#include <memory>
#include <string>
#include <vector>

namespace heed {

/// An exclusive flock on <folder>/.lock, released when this object or the process ends.
class FolderLock {
 public:
  /// Refuses a folder that another process has locked, naming that process. `shown`: the folder in messages.
  FolderLock(const std::string& folder, const std::string& shown);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  /// After the folder was renamed.
  void moved_to(const std::string& folder) { folder_ = folder; }
  /// "process 4711 on host node03", or "" where no process holds the lock of the folder.
  static std::string holder(const std::string& folder);

 private:
  std::string folder_;
  int descriptor_ = -1;
};

class RunFolder {
 public:
  static constexpr const char *kRecipe = "/recipe.yaml", *kConfig = "/config.json", *kModel = "/model.safetensors",
                              *kCheckpoint = "/checkpoint.safetensors", *kResults = "/results.json";

  /// Prepares a new run, in path() until publish(). Refuses a folder with files in it; with force it may hold a run and
  /// nothing else, which publish() replaces.
  static std::unique_ptr<RunFolder> create(const std::string& folder, bool force);
  /// Locks a run that has a checkpoint, and removes what killed processes left in it.
  static std::unique_ptr<RunFolder> resume(const std::string& folder);
  /// Without publish() nothing of a new run stays.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Where the files of the run are now.
  const std::string& path() const { return path_; }
  /// The prepared run replaces it under the name that was given.
  void publish();

  /// Ends a replacement that a kill stopped between two renames, so that the folder is there again. Does nothing where
  /// none was stopped.
  static void finish_replacement(const std::string& folder);
  /// Whether a run writes files of this name, unfinished ones included.
  static bool is_run_file(const std::string& name);

 private:
  explicit RunFolder(const std::string& folder);

  void recover();
  void stage();
  void check_free() const;
  void check_replaceable() const;
  void replace();
  [[noreturn]] void refuse_rename(int error) const;

  std::string shown_;                                 // as the caller wrote it
  std::string target_, staging_, old_;                // absolute, without links
  std::string path_;                                  // staging_ until publish(), shown_ afterwards
  std::vector<std::string> made_;                     // parents that create() made, innermost first
  std::unique_ptr<FolderLock> lock_, replaced_lock_;  // of path_, and of the run that publish() replaces
  bool published_ = false;
};

}  // namespace heed
