#include "base/metrics.h"

#include <prometheus/text_serializer.h>

namespace cellblock::metrics {

std::vector<double> latency_bounds_s() {
    return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300};
}

Counter& Registry::counter(const std::string& name, const std::string& help, const Labels& labels) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add(labels);
}

Gauge& Registry::gauge(const std::string& name, const std::string& help, const Labels& labels) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels);
}

Histogram& Registry::histogram(const std::string& name, const std::string& help,
                               const std::vector<double>& bounds, const Labels& labels) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add(labels,
                                                                                      bounds);
}

std::string Registry::text() const {
    return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace cellblock::metrics
