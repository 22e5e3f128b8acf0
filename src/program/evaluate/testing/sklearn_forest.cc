#include "program/evaluate/testing/sklearn_forest.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace perfcast::program {
namespace {

constexpr const char* kPython = "/usr/bin/python3";
constexpr int kNoLibrary = 77;  // as the script says it
constexpr int kNoInterpreter = 127;

std::string path_of(const std::string& folder, size_t fold, const std::string& name) {
  return folder + "/" + std::to_string(fold) + "." + name + ".csv";
}

Status write_matrix(const std::string& path, const Eigen::MatrixXd& values) {
  std::string text;
  char number[32];
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      std::snprintf(number, sizeof number, "%s%.17g", j == 0 ? "" : ",", values(i, j));
      text += number;
    }
    text += "\n";
  }
  return write_file_atomically(path, text);
}

Result<Eigen::MatrixXd> read_matrix(const std::string& path, Eigen::Index rows, Eigen::Index columns) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const Error wrong{"failed", "scikit-learn wrote a matrix of another shape", path,
                    std::to_string(rows) + " x " + std::to_string(columns)};
  const std::vector<std::string> lines = split(*text, '\n');
  if (static_cast<Eigen::Index>(lines.size()) != rows + 1) return wrong;
  Eigen::MatrixXd values(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const std::vector<std::string> cells = split(lines[static_cast<size_t>(i)], ',');
    if (static_cast<Eigen::Index>(cells.size()) != columns) return wrong;
    for (Eigen::Index j = 0; j < columns; ++j)
      values(i, j) = std::strtod(cells[static_cast<size_t>(j)].c_str(), nullptr);
  }
  return values;
}

Result<SklearnForecasts> run_in(const std::string& folder, const std::string& script,
                                const std::vector<ForestFold>& folds, int64_t trees, double share) {
  for (size_t f = 0; f < folds.size(); ++f) {
    const std::pair<const char*, Eigen::MatrixXd> matrices[] = {{"train_x", folds[f].train_x},
                                                                {"train_y", folds[f].train_y},
                                                                {"train_w", folds[f].train_weights},
                                                                {"test_x", folds[f].test_x}};
    for (const auto& [name, values] : matrices) {
      if (Status written = write_matrix(path_of(folder, f, name), values); !written) return written.error();
    }
  }
  const std::string log = folder + "/log";
  const std::string command = std::string(kPython) + " '" + script + "' '" + folder + "' " +
                              std::to_string(folds.size()) + " " + std::to_string(trees) + " " + std::to_string(share) +
                              " > '" + log + "' 2>&1";
  const int state = std::system(command.c_str());
  const int status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  if (status != 0) {
    const auto said = read_file(log);
    const bool absent = status == kNoLibrary || status == kNoInterpreter;
    return Error{absent ? "not-installed" : "failed", said ? std::string(trim(*said)) : "no output", kPython,
                 "python3-sklearn"};
  }
  SklearnForecasts forecasts;
  for (size_t f = 0; f < folds.size(); ++f) {
    for (auto [name, into] :
         {std::pair("extra_trees", &forecasts.extra_trees), std::pair("random_forest", &forecasts.random_forest)}) {
      auto values = read_matrix(path_of(folder, f, name), folds[f].test_x.rows(), folds[f].train_y.cols());
      if (!values) return values.error();
      into->push_back(std::move(*values));
    }
  }
  return forecasts;
}

}  // namespace

Result<SklearnForecasts> sklearn_forests(const std::string& script, const std::vector<ForestFold>& folds, int64_t trees,
                                         double share) {
  std::error_code ignored;
  std::string folder = (std::filesystem::temp_directory_path(ignored) / "perfcast-sklearn-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return Error{"failed", "no folder could be made", folder, "room for files"};
  auto forecasts = run_in(folder, script, folds, trees, share);
  std::filesystem::remove_all(folder, ignored);
  return forecasts;
}

}  // namespace perfcast::program
