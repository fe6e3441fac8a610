// The members of a JSON object in the order in which they were written, found by name in
// logarithmic time. It stands in for std::map in nlohmann::basic_json.
//
// Why not nlohmann::ordered_map: it searches linearly, so that an object with a million names,
// which any guest or client may send, would stall the loop for minutes; and a reference to a member
// dies with the next insertion. Here the members are nodes of a list and the names of a large
// object are in a tree (not a hash table: its order cannot be attacked), so neither can happen.
//
// Owner: the Json value that it is in. No thread of its own; const access from several is safe.
// Invariant: index_ is null, or names every member once.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace cellblock {

template <typename Key, typename Value, typename = std::less<>,
          typename Allocator = std::allocator<std::pair<const Key, Value>>>
class OrderedObject {
    using Members = std::list<std::pair<const Key, Value>, Allocator>;

  public:
    using key_type = Key;
    using mapped_type = Value;
    using value_type = std::pair<const Key, Value>;
    using allocator_type = Allocator;
    using key_compare = std::less<>;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = value_type&;
    using const_reference = const value_type&;
    using iterator = typename Members::iterator;
    using const_iterator = typename Members::const_iterator;

    OrderedObject() = default;
    explicit OrderedObject(const Allocator&) {}
    template <std::input_iterator Iterator>
    OrderedObject(Iterator first, Iterator last) {
        insert(first, last);
    }
    OrderedObject(std::initializer_list<value_type> members) {
        insert(members.begin(), members.end());
    }
    OrderedObject(const OrderedObject& other) : members_(other.members_) {
        if (other.index_) make_index();
    }
    OrderedObject(OrderedObject&& other) noexcept { swap(other); }
    OrderedObject& operator=(OrderedObject other) noexcept {
        swap(other);
        return *this;
    }
    ~OrderedObject() = default;

    void swap(OrderedObject& other) noexcept {
        members_.swap(other.members_);  // the nodes stay where they are, so the index holds
        index_.swap(other.index_);
    }

    iterator begin() noexcept { return members_.begin(); }
    iterator end() noexcept { return members_.end(); }
    const_iterator begin() const noexcept { return members_.begin(); }
    const_iterator end() const noexcept { return members_.end(); }
    const_iterator cbegin() const noexcept { return members_.begin(); }
    const_iterator cend() const noexcept { return members_.end(); }
    bool empty() const noexcept { return members_.empty(); }
    size_type size() const noexcept { return members_.size(); }
    size_type max_size() const noexcept { return members_.max_size(); }

    template <typename Name>
    const_iterator find(const Name& name) const {
        // The list is not changed: only its iterators are ours to hand out.
        return const_cast<OrderedObject*>(this)->find(name);
    }
    template <typename Name>
    iterator find(const Name& name) {
        const std::string_view wanted(name);
        if (index_) {
            const auto at = index_->find(wanted);
            return at == index_->end() ? members_.end() : at->second;
        }
        return std::find_if(members_.begin(), members_.end(),
                            [&](const value_type& member) { return member.first == wanted; });
    }
    template <typename Name>
    size_type count(const Name& name) const {
        return find(name) == end() ? 0 : 1;
    }
    template <typename Name>
    bool contains(const Name& name) const {
        return count(name) == 1;
    }

    template <typename Name>
    const Value& at(const Name& name) const {
        const auto found = find(name);
        if (found == end()) throw std::out_of_range("no such member");
        return found->second;
    }
    template <typename Name>
    Value& at(const Name& name) {
        return const_cast<Value&>(std::as_const(*this).at(name));
    }
    template <typename Name>
    Value& operator[](Name&& name) {
        return emplace(std::forward<Name>(name), Value()).first->second;
    }

    // A name that is there already keeps its value, as with std::map.
    template <typename Name, typename Initial>
    std::pair<iterator, bool> emplace(Name&& name, Initial&& value) {
        if (const auto found = find(name); found != end()) return {found, false};
        members_.emplace_back(std::forward<Name>(name), std::forward<Initial>(value));
        const auto added = std::prev(members_.end());
        if (index_) {
            index_->emplace(added->first, added);
        } else if (members_.size() > linear_max) {
            make_index();
        }
        return {added, true};
    }
    std::pair<iterator, bool> insert(const value_type& member) {
        return emplace(member.first, member.second);
    }
    std::pair<iterator, bool> insert(value_type&& member) {
        return emplace(member.first, std::move(member.second));
    }
    template <std::input_iterator Iterator>
    void insert(Iterator first, Iterator last) {
        for (; first != last; ++first) emplace(first->first, first->second);
    }

    iterator erase(iterator at) {
        if (index_) index_->erase(at->first);
        return members_.erase(at);
    }
    iterator erase(iterator first, iterator last) {
        while (first != last) first = erase(first);
        return last;
    }
    template <typename Name>
        requires std::convertible_to<const Name&, std::string_view>
    size_type erase(const Name& name) {
        const auto found = find(name);
        if (found == end()) return 0;
        erase(found);
        return 1;
    }
    void clear() noexcept {
        index_.reset();
        members_.clear();
    }

    // JSON's objects are equal whatever their order (RFC 8259, section 4).
    friend bool operator==(const OrderedObject& left, const OrderedObject& right) {
        return left.size() == right.size() &&
               std::all_of(left.begin(), left.end(), [&](const value_type& member) {
                   const auto other = right.find(member.first);
                   return other != right.end() && other->second == member.second;
               });
    }
    friend bool operator<(const OrderedObject& left, const OrderedObject& right) {
        return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
    }

  private:
    // Most objects are small: comparing so many names costs less than a tree.
    static constexpr size_type linear_max = 16;

    void make_index() {
        index_ = std::make_unique<Index>();
        for (auto at = members_.begin(); at != members_.end(); ++at) {
            index_->emplace(at->first, at);
        }
    }

    using Index = std::map<std::string_view, iterator>;

    Members members_;
    std::unique_ptr<Index> index_;
};

}  // namespace cellblock
