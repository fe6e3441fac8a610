// select_rows(): filters and sort orders, over the columns that they name and no others.
#include <algorithm>
#include <numeric>

#include "artifacts/arrow/order.h"
#include "artifacts/table_limits.h"
#include "artifacts/table_query.h"

namespace cellblock::artifacts {
namespace {

using arrow::ArrowFile;
using arrow::CellWriter;
using arrow::Int128;
using arrow::OrderKind;
using arrow::Slice;

tl::unexpected<Error> too_much(std::string_view what) {
    return fail(ErrorCode::too_large, std::string(what),
                "add a 'filter', or sort and filter in the kernel and show the result");
}

// One condition, with its value read once.
class Condition {
  public:
    static Result<Condition> make(CellWriter& writer, const arrow::Schema& schema,
                                  const ResolvedQuery::Filter& filter) {
        Condition condition;
        condition.column_ = filter.column;
        condition.op_ = filter.op;
        const arrow::Field& field = schema.fields[filter.column];
        condition.kind_ = arrow::order_kind(field);
        switch (filter.op) {
            case FilterOperator::is_null:
            case FilterOperator::not_null:
                break;
            case FilterOperator::contains:
                condition.operand_.text = filter.value;
                condition.kind_ = OrderKind::text;
                break;
            default: {
                CB_TRY_ASSIGN(operand, arrow::parse_operand(writer, field, filter.value));
                condition.operand_ = std::move(operand);
            }
        }
        return condition;
    }

    std::size_t column() const { return column_; }

    // Missing cells match `isnull` and `ne` only.
    bool holds(CellWriter& writer, const Slice& slice, std::uint64_t row,
               std::string& buffer) const {
        const bool missing = arrow::is_missing(slice, row);
        if (op_ == FilterOperator::is_null) return missing;
        if (op_ == FilterOperator::not_null) return !missing;
        if (missing) return op_ == FilterOperator::ne;
        if (op_ == FilterOperator::contains) return contains(writer, slice, row, buffer);
        const int order = kind_ == OrderKind::number
                              ? operand_.compare(arrow::number_key(slice, row))
                              : arrow::text_key(writer, slice, row, buffer).compare(operand_.text);
        switch (op_) {
            case FilterOperator::eq:
                return order == 0;
            case FilterOperator::ne:
                return order != 0;
            case FilterOperator::lt:
                return order < 0;
            case FilterOperator::le:
                return order <= 0;
            case FilterOperator::gt:
                return order > 0;
            default:
                return order >= 0;
        }
    }

  private:
    bool contains(CellWriter& writer, const Slice& slice, std::uint64_t row,
                  std::string& buffer) const {
        buffer.clear();
        writer.append_text(buffer, slice, row);
        return buffer.find(operand_.text) != std::string::npos;
    }

    std::size_t column_ = 0;
    FilterOperator op_ = FilterOperator::eq;
    OrderKind kind_ = OrderKind::text;
    arrow::Operand operand_;
};

// The keys of one sort column, for the rows that matched.
class SortKeys {
  public:
    SortKeys(OrderKind kind, ResolvedQuery::Sort sort) : kind_(kind), sort_(sort) {}

    std::size_t column() const { return sort_.column; }

    // The bytes that it took.
    std::size_t add(CellWriter& writer, const Slice& slice, std::uint64_t row,
                    std::string& buffer) {
        const bool missing = arrow::is_missing(slice, row);
        missing_.push_back(missing);
        if (kind_ == OrderKind::number) {
            numbers_.push_back(missing ? Int128{0} : arrow::number_key(slice, row));
            return sizeof(Int128) + 1;
        }
        const std::size_t before = texts_.size();
        if (!missing) texts_ += arrow::text_key(writer, slice, row, buffer);
        ends_.push_back(texts_.size());
        return sizeof(std::size_t) + 1 + texts_.size() - before;
    }

    // < 0 when a comes first. Missing ones come last in both directions.
    int compare(std::size_t a, std::size_t b) const {
        if (missing_[a] || missing_[b]) return missing_[a] - missing_[b];
        int order = 0;
        if (kind_ == OrderKind::number) {
            order = numbers_[a] < numbers_[b] ? -1 : numbers_[a] > numbers_[b] ? 1 : 0;
        } else {
            order = text(a).compare(text(b));
        }
        return sort_.direction == SortDirection::descending ? -order : order;
    }

  private:
    std::string_view text(std::size_t at) const {
        const std::size_t begin = at == 0 ? 0 : ends_[at - 1];
        return std::string_view(texts_).substr(begin, ends_[at] - begin);
    }

    OrderKind kind_;
    ResolvedQuery::Sort sort_;
    std::vector<char> missing_;
    std::vector<Int128> numbers_;
    std::string texts_;
    std::vector<std::size_t> ends_;
};

class Selection {
  public:
    Selection(ArrowFile& file, const ResolvedQuery& query) : file_(file), query_(query) {}

    Result<SelectedRows> run() {
        CB_TRY(prepare());
        for (std::uint64_t row = 0; row < file_.rows();) {
            const std::uint64_t count = std::min(file_.rows_together(row), piece_rows_);
            auto scanned = scan(row, count);
            if (!scanned) {
                // Long texts: fewer rows at a time.
                if (scanned.error().code != ErrorCode::too_large || count == 1 || stopped_) {
                    return fail(std::move(scanned).error());
                }
                piece_rows_ = count / 2;
                continue;
            }
            row += count;
        }
        if (!keys_.empty()) take_sorted();
        return std::move(selected_);
    }

  private:
    Result<void> prepare() {
        for (const ResolvedQuery::Filter& filter : query_.filter) {
            CB_TRY_ASSIGN(condition, Condition::make(writer_, file_.schema(), filter));
            conditions_.push_back(std::move(condition));
        }
        for (const ResolvedQuery::Sort& sort : query_.sort) {
            keys_.emplace_back(arrow::order_kind(file_.schema().fields[sort.column]), sort);
        }
        const std::uint64_t columns = conditions_.size() + keys_.size();
        if (file_.rows() > limits::table_scan_max_cells / columns) {
            return too_much("the table is too long to be sorted or filtered here");
        }
        return {};
    }

    Result<Slice> read(std::size_t column, std::uint64_t first, std::uint64_t count) {
        std::size_t budget = arrow::read_max_bytes;
        CB_TRY_ASSIGN(slice, file_.read(column, first, count, budget));
        scanned_bytes_ += arrow::read_max_bytes - budget;
        CB_TRY(check_scanned());
        return slice;
    }

    // Read, and written as texts to be searched.
    Result<void> check_scanned() {
        if (scanned_bytes_ <= limits::table_scan_max_bytes) return {};
        stopped_ = true;
        return too_much("the table is too large to be sorted or filtered here");
    }

    Result<void> scan(std::uint64_t first, std::uint64_t count) {
        std::vector<std::uint64_t> found(count);
        std::iota(found.begin(), found.end(), std::uint64_t{0});
        for (const Condition& condition : conditions_) {
            if (found.empty()) return {};
            CB_TRY_ASSIGN(slice, read(condition.column(), first, count));
            std::erase_if(found, [&](std::uint64_t row) {
                if (scanned_bytes_ > limits::table_scan_max_bytes) return true;
                const bool holds = condition.holds(writer_, slice, row, buffer_);
                scanned_bytes_ += buffer_.size();
                return !holds;
            });
            CB_TRY(check_scanned());
        }
        if (keys_.empty()) {
            take(first, found);
            return {};
        }
        std::vector<Slice> slices;
        for (const SortKeys& keys : keys_) {
            CB_TRY_ASSIGN(slice, read(keys.column(), first, count));
            slices.push_back(std::move(slice));
        }
        for (const std::uint64_t row : found) {
            rows_.push_back(first + row);
            key_bytes_ += sizeof(std::uint64_t) + sizeof(std::uint32_t);
            for (std::size_t i = 0; i < keys_.size(); ++i) {
                key_bytes_ += keys_[i].add(writer_, slices[i], row, buffer_);
            }
            if (key_bytes_ > limits::table_sort_max_bytes) {
                stopped_ = true;
                return too_much("there are too many rows to be sorted here");
            }
        }
        return {};
    }

    // Without an order: those of the page, as they come.
    void take(std::uint64_t first, const std::vector<std::uint64_t>& found) {
        for (const std::uint64_t row : found) {
            const std::uint64_t number = selected_.matched++;
            if (number >= query_.offset && selected_.rows.size() < query_.limit) {
                selected_.rows.push_back(first + row);
            }
        }
    }

    void take_sorted() {
        selected_.matched = rows_.size();
        if (query_.offset >= rows_.size()) return;
        std::vector<std::uint32_t> order(rows_.size());
        std::iota(order.begin(), order.end(), std::uint32_t{0});
        const auto before = [this](std::uint32_t a, std::uint32_t b) {
            for (const SortKeys& keys : keys_) {
                if (const int order_of = keys.compare(a, b); order_of != 0) return order_of < 0;
            }
            return a < b;
        };
        const auto begin = order.begin() + static_cast<std::ptrdiff_t>(query_.offset);
        const std::size_t size = std::min<std::size_t>(query_.limit, rows_.size() - query_.offset);
        const auto end = begin + static_cast<std::ptrdiff_t>(size);
        // Only the page must be in order: linear in the rows, whatever the offset.
        std::nth_element(order.begin(), begin, order.end(), before);
        std::partial_sort(begin, end, order.end(), before);
        for (auto at = begin; at != end; ++at) selected_.rows.push_back(rows_[*at]);
    }

    ArrowFile& file_;
    const ResolvedQuery& query_;
    CellWriter writer_;
    std::string buffer_;
    std::uint64_t piece_rows_ = 8192;
    std::uint64_t scanned_bytes_ = 0;
    bool stopped_ = false;
    std::vector<Condition> conditions_;
    std::vector<SortKeys> keys_;
    std::vector<std::uint64_t> rows_;  // that matched, when they are to be sorted
    std::size_t key_bytes_ = 0;
    SelectedRows selected_;
};

}  // namespace

Result<SelectedRows> select_rows(ArrowFile& file, const ResolvedQuery& query) {
    if (!query.filter.empty() || !query.sort.empty()) return Selection(file, query).run();
    SelectedRows selected;
    selected.matched = file.rows();
    if (query.offset >= file.rows()) return selected;
    selected.rows.resize(std::min<std::uint64_t>(query.limit, file.rows() - query.offset));
    std::iota(selected.rows.begin(), selected.rows.end(), query.offset);
    return selected;
}

}  // namespace cellblock::artifacts
