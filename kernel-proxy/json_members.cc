#include "kernel-proxy/json_members.h"

#include <string>

#include "base/unicode.h"

namespace cellblock::kernel_proxy {
namespace {

tl::unexpected<Error> bad(std::string_view why) {
    return fail(ErrorCode::invalid_argument, "not a JSON object: " + std::string(why));
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// A place in the text that moves forward only.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }
    bool at_end() const { return at_ == text_.size(); }
    bool take(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    std::size_t position() const { return at_; }
    std::string_view since(std::size_t begin) const { return text_.substr(begin, at_ - begin); }

    // Behind the closing quote. Precondition: the opening one was taken.
    bool skip_string() {
        while (at_ < text_.size()) {
            const char c = text_[at_++];
            if (c == '"') return true;
            if (static_cast<unsigned char>(c) < 0x20) return false;
            if (c == '\\' && at_ < text_.size()) ++at_;
        }
        return false;
    }

    // Behind one value. Containers are followed by their brackets alone.
    bool skip_value() {
        if (take('"')) return skip_string();
        if (at_end() || (text_[at_] != '{' && text_[at_] != '[')) return skip_scalar();
        std::string open;  // the closing brackets that are due
        do {
            const char c = text_[at_++];
            if (c == '"') {
                if (!skip_string()) return false;
            } else if (c == '{' || c == '[') {
                if (open.size() >= json_members_max_depth) return false;
                open.push_back(c == '{' ? '}' : ']');
            } else if (c == '}' || c == ']') {
                if (open.back() != c) return false;
                open.pop_back();
            }
        } while (!open.empty() && at_ < text_.size());
        return open.empty();
    }

  private:
    bool skip_scalar() {
        const std::size_t begin = at_;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const bool part = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
            if (!part) break;
            ++at_;
        }
        return at_ > begin;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<JsonMember>> split_json_object(std::string_view text) {
    if (!is_valid_utf8(text)) return bad("it is not UTF-8");
    std::vector<JsonMember> members;
    members.reserve(8);  // a header has six
    Scanner scan(text);
    scan.skip_spaces();
    if (!scan.take('{')) return bad("it does not begin with {");
    scan.skip_spaces();
    bool closed = scan.take('}');
    while (!closed) {
        scan.skip_spaces();
        if (!scan.take('"')) return bad("a member has no name");
        const std::size_t name_begin = scan.position();
        if (!scan.skip_string()) return bad("a name does not end");
        std::string_view name = scan.since(name_begin);
        name.remove_suffix(1);  // the quote
        scan.skip_spaces();
        if (!scan.take(':')) return bad("a name has no value");
        scan.skip_spaces();
        const std::size_t value_begin = scan.position();
        if (!scan.skip_value()) return bad("a value does not end, or is nested too deep");
        members.push_back(JsonMember{name, scan.since(value_begin)});
        scan.skip_spaces();
        closed = scan.take('}');
        if (!closed && !scan.take(',')) return bad("a comma is missing");
    }
    scan.skip_spaces();
    if (!scan.at_end()) return bad("more follows it");
    return members;
}

std::string_view find_member(const std::vector<JsonMember>& members, std::string_view name) {
    std::string_view value;
    for (const JsonMember& member : members) {
        if (member.name == name) value = member.value;
    }
    return value;
}

}  // namespace cellblock::kernel_proxy
