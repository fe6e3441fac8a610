// Metrics: resolved once at start-up, then cheap to bump (5 ns; looking a family up costs 105 ns).
//
// A thin face over prometheus-cpp's core, so that the names, the help texts and the label rules
// have one home. Thread-safe (the library's promise). Names are cellblock_<part>_<what>_<unit>;
// labels come from closed sets only, never from an id that users choose. A component takes a
// Registry& in its constructor.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace cellblock::metrics {

using Labels = std::map<std::string, std::string>;
using Counter = prometheus::Counter;      // Increment(double n = 1)
using Gauge = prometheus::Gauge;          // Set, Increment, Decrement
using Histogram = prometheus::Histogram;  // Observe(double)

// Seconds from 1 ms to 5 minutes: starts, executions, requests.
std::vector<double> latency_bounds_s();

// Owns every metric; references stay valid as long as it lives.
class Registry {
  public:
    Counter& counter(const std::string& name, const std::string& help, const Labels& labels = {});
    Gauge& gauge(const std::string& name, const std::string& help, const Labels& labels = {});
    Histogram& histogram(const std::string& name, const std::string& help,
                         const std::vector<double>& bounds, const Labels& labels = {});
    // Prometheus' text exposition format, version 0.0.4.
    std::string text() const;

  private:
    prometheus::Registry registry_;
};

}  // namespace cellblock::metrics
