#include "heed/train/run/run_folder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "heed/base/check.h"
#include "heed/base/path.h"
#include "heed/data/file.h"
#include "heed/train/last_weights.h"
#include "heed/train/run/events.h"
#include "heed/train/run/log.h"
#include "heed/train/run/metrics_log.h"

namespace heed {
namespace {

constexpr const char* kLock = FolderLock::kName;

/// Names in messages about the lock of a run that the user knows as `shown`.
FolderLock::Names lock_names(const std::string& shown) {
  return {.command = "train", .folder = shown, .option = "run.dir"};
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  for (const dirent* entry = open ? ::readdir(open) : nullptr; entry; entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (open) ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

/// "log.txt" of "log.txt.4711.0.part", which a killed process leaves; "" for other names.
std::string unfinished_file(const std::string& name) {
  if (!ends_with(name, ".part")) return "";
  std::string rest = name.substr(0, name.size() - 5);
  for (int i = 0; i < 2; ++i) {
    const size_t dot = rest.rfind('.');
    if (dot == std::string::npos || dot + 1 == rest.size()) return "";
    if (rest.find_first_not_of("0123456789", dot + 1) != std::string::npos) return "";
    rest.resize(dot);
  }
  return rest;
}

bool is_finished_file(const std::string& name) {
  static const std::array<std::string, 11> names{"recipe.yaml",
                                                 "config.json",
                                                 "tokenizer.json",
                                                 "tokenizer.source.json",
                                                 "tokenizer.target.json",
                                                 "model.safetensors",
                                                 "checkpoint.safetensors",
                                                 "results.json",
                                                 MetricsLog::kName,
                                                 Log::kName,
                                                 Events::kName};
  return std::find(names.begin(), names.end(), name) != names.end() || starts_with(name, "events.out.tfevents.") ||
         ends_with(name, ".hypotheses.txt") || ends_with(name, ".predictions.tsv") || LastWeights::is_file(name);
}

bool is_complete(const std::string& folder) {
  return exists(folder + RunFolder::kCheckpoint);
}

/// Whether the folder contains nothing except possibly a lock.
bool is_empty(const std::string& folder) {
  const auto names = files_in(folder);
  return std::all_of(names.begin(), names.end(), [](const std::string& name) { return name == kLock; });
}

std::string foreign_file(const std::string& folder) {
  for (const auto& name : files_in(folder))
    if (!RunFolder::is_run_file(name)) return name;
  return "";
}

/// Removes the checkpoint first: after a kill, the rest is then not a run.
void remove_run_files(const std::string& folder) {
  ::unlink((folder + RunFolder::kCheckpoint).c_str());
  for (const auto& name : files_in(folder))
    if (name != kLock && RunFolder::is_run_file(name)) ::unlink((folder + "/" + name).c_str());
}

void remove_run(const std::string& folder) {
  remove_run_files(folder);
  ::unlink((folder + "/" + kLock).c_str());
  ::rmdir(folder.c_str());
}

void sync_parent(const std::string& path) {
  const int descriptor = ::open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);  // some file systems do not support it on folders
  ::close(descriptor);
}

/// Exchanges the two names atomically; false if the file system does not support it.
bool exchange_names(const std::string& a, const std::string& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  const bool unknown = errno == ENOSYS || errno == EINVAL || errno == EOPNOTSUPP;
  if (unknown) errno = 0;
  return false;
}

}  // namespace

bool RunFolder::is_run_file(const std::string& name) {
  return name == kLock || is_finished_file(name) || is_finished_file(unfinished_file(name));
}

RunFolder::RunFolder(const std::string& folder) : shown_(folder) {
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  check(!path.empty(), "train: run.dir is empty, expected the name of a folder");
  struct stat link {};
  const bool dangling = !exists(path) && ::lstat(path.c_str(), &link) == 0;
  check(!dangling, "train: ", shown_,
        " is a link to a folder that does not exist; make that folder or remove the link");
  check(!exists(path) || is_folder(path), "train: ", shown_, " is a file, expected a folder; name another one with ",
        "run.dir=...");
  if (!exists(path)) {
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
    for (std::string up = parent; !up.empty() && !exists(up);
         up.resize(up.rfind('/') == std::string::npos ? 0 : up.rfind('/')))
      made_.push_back(up);
    make_folders(parent);
    path = without_links(parent) + "/" + path.substr(slash == std::string::npos ? 0 : slash + 1);
  }
  target_ = without_links(path);
  const size_t slash = target_.rfind('/');
  const std::string name = target_.substr(slash + 1);
  check(!name.empty() && name != "." && name != "..", "train: run.dir is ", shown_, ", expected a folder with a name");
  staging_ = target_.substr(0, slash + 1) + "." + name + ".new";
  old_ = target_.substr(0, slash + 1) + "." + name + ".old";
}

RunFolder::~RunFolder() {
  if (!published_ && path_ == staging_ && !path_.empty()) {
    remove_run_files(staging_);
    lock_.reset();
    ::rmdir(staging_.c_str());
    for (const auto& parent : made_) ::rmdir(parent.c_str());
  }
}

/// Completes a replacement that was killed between its two renames.
void RunFolder::recover() {
  if (!is_folder(old_)) return;
  const bool missing = !exists(target_) || is_empty(target_);
  const std::string found = is_folder(staging_) && is_complete(staging_) ? staging_ : old_;
  if (missing && is_complete(found)) {
    FolderLock lock(found, lock_names(shown_));
    if (::rename(found.c_str(), target_.c_str()) != 0) refuse_rename(errno);
    lock.moved_to(target_);
  }
  if (is_folder(old_)) {
    const FolderLock lock(old_, lock_names(shown_));
    remove_run_files(old_);
  }
  ::rmdir(old_.c_str());
}

/// Makes and locks the folder in which a new run is prepared.
void RunFolder::stage() {
  for (int tries = 0; !lock_; ++tries) {
    if (::mkdir(staging_.c_str(), 0777) != 0 && errno != EEXIST)
      fail("train: ", staging_, " cannot be made: ", reason(errno), "; a new run is prepared there before it becomes ",
           shown_, ". Name a folder with run.dir=... whose parent can be written");
    try {
      lock_ = std::make_unique<FolderLock>(staging_, lock_names(shown_));
    } catch (const Error&) {
      if (is_folder(staging_) || tries == 100) throw;  // else another process has just renamed it
    }
  }
  path_ = staging_;
  const std::string foreign = foreign_file(staging_);
  check(foreign.empty(), "train: ", staging_, " holds '", foreign,
        "', expected what a killed start left; move it away");
  remove_run_files(staging_);
}

void RunFolder::check_free() const {
  if (!exists(target_)) return;
  const auto names = files_in(target_);
  const std::string who = FolderLock::holder(target_);
  check(who.empty(), "train: ", shown_, " is in use: ", who, " is writing to it; wait for its end, or name another ",
        "folder with run.dir=...");
  for (const auto& name : names)
    check(name == kLock || !is_run_file(name), "train: ", shown_, " already holds a run (", name,
          "); --resume goes on with it, --force starts it over, run.dir=... names another folder");
  for (const auto& name : names)
    check(name == kLock, "train: ", shown_, " holds '", name,
          "', which is no file of a run; expected an empty folder or a new one, run.dir=... names another");
}

/// Reports reasons that would make the replacement fail or surprise the user, before any work is done.
void RunFolder::check_replaceable() const {
  if (!exists(target_)) return;
  std::array<char, 4096> here{};
  const std::string current = ::getcwd(here.data(), here.size()) != nullptr ? here.data() : "";
  check(current != target_ && !starts_with(current, target_ + "/"), "train: ", shown_,
        " is or holds the current directory, and a new run replaces the folder; call heed from another directory, or ",
        "name a folder below it with run.dir=...");
  struct stat own {
  }, parent{};
  const bool known =
      ::stat(target_.c_str(), &own) == 0 && ::stat(target_.substr(0, target_.rfind('/') + 1).c_str(), &parent) == 0;
  check(!known || own.st_dev == parent.st_dev, "train: ", shown_,
        " is a mount point, which cannot be replaced; name a folder below it with run.dir=...");
}

void RunFolder::refuse_rename(int error) const {
  fail("train: ", shown_, " cannot be replaced by the new run: ", reason(error),
       error == EBUSY ? "; is it a mount point? Name a folder below it with run.dir=..."
                      : "; name another folder with run.dir=...");
}

std::unique_ptr<RunFolder> RunFolder::create(const std::string& folder, bool force) {
  std::unique_ptr<RunFolder> run(new RunFolder(folder));
  run->recover();
  if (!force) run->check_free();
  run->check_replaceable();
  if (force && exists(run->target_) && !is_empty(run->target_)) {
    const std::string foreign = foreign_file(run->target_);
    check(foreign.empty(), "train: ", folder, " holds '", foreign,
          "', which is no file of a run, and --force would remove it; move it away or name another folder with ",
          "run.dir=...");
    run->replaced_lock_ = std::make_unique<FolderLock>(run->target_, lock_names(folder));
  }
  run->stage();
  if (!force) run->check_free();  // again: another process may have created it before this one got the lock
  return run;
}

std::unique_ptr<RunFolder> RunFolder::resume(const std::string& folder) {
  std::unique_ptr<RunFolder> run(new RunFolder(folder));
  run->recover();
  if (!exists(run->target_) && is_complete(run->staging_)) {  // killed just before its first rename
    FolderLock lock(run->staging_, lock_names(folder));
    if (::rename(run->staging_.c_str(), run->target_.c_str()) != 0) run->refuse_rename(errno);
    lock.moved_to(run->target_);
  }
  const auto check_complete = [&] {
    if (is_complete(run->target_)) return;
    for (const auto& parent : run->made_) ::rmdir(parent.c_str());
    fail("train: there is nothing to resume in ", folder,
         ": it has no checkpoint.safetensors; expected the folder of a run: heed train --resume runs/...");
  };
  check_complete();
  run->lock_ = std::make_unique<FolderLock>(run->target_, lock_names(folder));
  check_complete();
  run->path_ = folder;
  for (const auto& name : files_in(run->target_))
    if (!unfinished_file(name).empty() && is_run_file(name)) ::unlink((run->target_ + "/" + name).c_str());
  if (is_folder(run->staging_) && FolderLock::holder(run->staging_).empty()) remove_run(run->staging_);
  return run;
}

void RunFolder::finish_replacement(const std::string& folder) {
  const size_t slash = folder.find_last_not_of('/');
  if (exists(folder) || slash == std::string::npos) return;
  const std::string path = folder.substr(0, slash + 1);
  const size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  if (is_folder(path.substr(0, name) + "." + path.substr(name) + ".old")) RunFolder(folder).recover();
}

void RunFolder::publish() {
  if (!exists(target_) || is_empty(target_)) {
    struct stat empty {};
    if (::stat(target_.c_str(), &empty) == 0) ::chmod(staging_.c_str(), empty.st_mode & 07777U);
    replaced_lock_.reset();
    ::unlink((target_ + "/" + kLock).c_str());
    if (::rename(staging_.c_str(), target_.c_str()) != 0) refuse_rename(errno);
  } else {
    check(replaced_lock_ != nullptr, "train: ", shown_, " was free when this start began and now holds '",
          files_in(target_).back(), "'; move it away, or name another folder with run.dir=...");
    replace();
  }
  published_ = true;
  path_ = shown_;
  lock_->moved_to(target_);
  sync_parent(target_);
}

void RunFolder::replace() {
  struct stat before {};
  if (::stat(target_.c_str(), &before) == 0) ::chmod(staging_.c_str(), before.st_mode & 07777U);
  std::string replaced = staging_;
  if (!exchange_names(staging_, target_)) {
    if (errno != 0) refuse_rename(errno);
    replaced = old_;
    if (::rename(target_.c_str(), old_.c_str()) != 0) refuse_rename(errno);
    if (::rename(staging_.c_str(), target_.c_str()) != 0) {
      const int error = errno;
      ::rename(old_.c_str(), target_.c_str());
      refuse_rename(error);
    }
  }
  sync_parent(target_);  // the new run is on disk before the old one is removed
  remove_run_files(replaced);
  replaced_lock_->moved_to(replaced);
  replaced_lock_.reset();
  ::rmdir(replaced.c_str());
}

}  // namespace heed
