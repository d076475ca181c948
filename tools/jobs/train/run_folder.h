#pragma once

#include <string>

#include "tools/jobs/train/train.h"

namespace ort_ed {

// Only one process at a time trains in a run directory; the lock ends with the process, however it ends.
class FolderLock {
 public:
  // Throws kInvalidArgument if another process holds it.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// Throws kInvalidArgument if `folder` exists and is not empty; with kReplace, only if it is no run directory.
void CheckUnused(const std::string& folder, ExistingRun existing);

void MakeFolder(const std::string& folder);

// Removes the files of a run, and nothing else.
void ClearRun(const std::string& folder);

// Throws kInvalidArgument if `folder` is not a run directory.
void RequireRunFolder(const std::string& folder);

// Removes what a killed process left of files it was writing.
void RemoveTemporaryFiles(const std::string& folder);

}  // namespace ort_ed
