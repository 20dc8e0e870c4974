// How far a program's results are from those of another, over all steps of some data.
#pragma once

#include <string>
#include <vector>

#include "apps/ingot/device/observed_program.h"
#include "apps/ingot/terminal/noise.h"
#include "apps/ingot/terminal/report.h"

namespace ingot {

struct ResultError {
  size_t output;  // its number
  std::string name;
  size_t row_elements;
  Noise noise = {};
  int64_t rows = 0, alike = 0;  // along the last dimension; those whose largest element is at the same place
};

// What a product gives, made of integers.
struct ProductError {
  Noise own;  // of the product alone, of what the program of floats gives it
  Noise all;  // with that of what stands before it
};

// Those of f32, before any step.
std::vector<ResultError> results_of(const ObservedProgram& program);

// After a step of both programs; `floats` has integers beside its products.
void add_step(const ObservedProgram& floats, const ObservedProgram& integers, size_t product, ProductError& into);

// After a step of both programs.
void add_step(const ObservedProgram& floats, const ObservedProgram& integers, std::vector<ResultError>& into);

// A line for each.
std::string results_text(const std::vector<ResultError>& results);
Json results_json(const std::vector<ResultError>& results);

std::string decibels(const Noise& noise);
Json json_of(const Noise& noise);

}  // namespace ingot
