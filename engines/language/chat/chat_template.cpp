// SPDX-License-Identifier: Apache-2.0
#include "engines/language/chat/chat_template.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "engines/language/chat/template_functions.h"
#include "engines/language/chat/template_parser.h"

namespace howard::language {
namespace {

constexpr std::size_t kMostTemplate = 1 << 20;
constexpr std::int64_t kMostSteps = 1'000'000;
constexpr std::size_t kStepsOfIteration = 8;  ///< The loop's own variable has as many members.

/// Runs a template once.
class TemplateRun {
 public:
  TemplateRun(const std::string& source, const std::map<std::string, ChatValue>& variables)
      : source_(source), scopes_{variables} {}

  std::string run(const TemplateBody& body) {
    static_cast<void>(run_body(body));
    return std::move(out_);
  }

 private:
  using Expression = TemplateExpression;
  using Kind = TemplateExpression::Kind;
  using Statement = TemplateStatement;
  enum class Flow : std::uint8_t { on, next, leave };

  TemplatePlace at(int line) const { return {&source_, line}; }

  void count(int line, std::size_t steps = 1) {
    steps_ += static_cast<std::int64_t>(steps);
    if (steps_ > kMostSteps) refuse_template(at(line), "it does not end", "a million steps");
  }

  /// Counts what was made: an element of a list, and 64 bytes of a text, are a step.
  ChatValue counted(ChatValue made, int line) {
    if (made && made->is_array()) count(line, made->size());
    if (made && made->is_string()) count(line, made->get_ref<const std::string&>().size() / 64);
    return made;
  }

  void print(const std::string& text, int line) {
    out_ += text;
    if (out_.size() > kMostTemplateText) refuse_template(at(line), "too long a text", "16 MiB");
  }

  Flow run_body(const TemplateBody& body) {
    for (const Statement& statement : body) {
      count(statement.line);
      const Flow flow = run_statement(statement);
      if (flow != Flow::on) return flow;
    }
    return Flow::on;
  }

  Flow run_statement(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::text:
        print(statement.text, statement.line);
        break;
      case Statement::Kind::output:
        print(printed(value_of(*statement.value), at(statement.line)), statement.line);
        break;
      case Statement::Kind::branch:
        for (const Statement::Arm& arm : statement.arms) {
          if (is_true(value_of(*arm.condition))) return run_body(arm.body);
        }
        return run_body(statement.otherwise);
      case Statement::Kind::loop:
        return run_loop(statement);
      case Statement::Kind::assign:
        assign(statement, value_of(*statement.value));
        break;
      case Statement::Kind::assign_text: {
        std::string before = std::exchange(out_, "");
        const Flow flow = run_body(statement.arms[0].body);
        assign(statement, chat_value(std::exchange(out_, std::move(before))));
        return flow;
      }
      case Statement::Kind::leave:
        return Flow::leave;
      case Statement::Kind::next:
        return Flow::next;
    }
    return Flow::on;
  }

  /// Returns the scope that has a variable; null if none does.
  std::map<std::string, ChatValue>* scope_of(const std::string& name) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->contains(name)) return &*scope;
    }
    return nullptr;
  }

  /// A name that is set in a loop is gone behind it; a member of a namespace stays.
  void assign(const Statement& statement, ChatValue value) {
    const std::string& name = statement.names[0];
    if (statement.names.size() == 1) {
      scopes_.back()[name] = std::move(value);
      return;
    }
    auto* const scope = scope_of(name);
    if (scope == nullptr || !(*scope)[name] || !(*scope)[name]->is_object()) {
      refuse_template(at(statement.line), fmt::format("'{}' is no namespace", name),
                      "a member of a namespace");
    }
    ChatJson changed = *(*scope)[name];
    changed[statement.names[1]] = value ? *value : ChatJson();
    (*scope)[name] = chat_value(std::move(changed));
  }

  Flow run_loop(const Statement& statement) {
    const TemplatePlace place = at(statement.line);
    const ChatValue all = filtered("list", value_of(*statement.value), {}, place);
    const Statement::Arm& arm = statement.arms[0];
    scopes_.emplace_back();
    std::vector<ChatValue> taken;
    for (const ChatJson& each : *all) {
      count(statement.line, kStepsOfIteration);
      taken.push_back(chat_part(all, each));
      if (!arm.condition) continue;
      name_element(statement, taken.back());
      if (!is_true(value_of(*arm.condition))) taken.pop_back();
    }
    Flow flow = Flow::on;
    for (std::size_t i = 0; i < taken.size() && flow != Flow::leave; ++i) {
      scopes_.back().clear();
      name_element(statement, taken[i]);
      scopes_.back()["loop"] = loop_variable(i, taken.size());
      flow = run_body(arm.body);
    }
    scopes_.pop_back();
    return taken.empty() ? run_body(statement.otherwise) : Flow::on;
  }

  static ChatValue loop_variable(std::size_t i, std::size_t count) {
    return chat_value({{"index", i + 1},
                       {"index0", i},
                       {"revindex", count - i},
                       {"revindex0", count - i - 1},
                       {"first", i == 0},
                       {"last", i + 1 == count},
                       {"length", count}});
  }

  /// Gives an element the loop's name, or its parts the loop's names.
  void name_element(const Statement& statement, const ChatValue& element) {
    const std::vector<std::string>& names = statement.names;
    if (names.size() == 1) {
      scopes_.back()[names[0]] = element;
      return;
    }
    if (!element->is_array() || element->size() != names.size()) {
      refuse_template(at(statement.line), "a loop over what has not so many parts",
                      fmt::format("lists of {}", names.size()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      scopes_.back()[names[i]] = chat_part(element, (*element)[i]);
    }
  }

  ChatValue value_of(const Expression& e) {
    count(e.line);
    switch (e.kind) {
      case Kind::constant:
        return e.value;
      case Kind::name: {
        auto* const scope = scope_of(e.name);
        return scope == nullptr ? nullptr : (*scope)[e.name];
      }
      case Kind::list:
      case Kind::object:
        return collected(e);
      case Kind::member:
        return item(value_of(*e.parts[0]), chat_value(e.name), e.line);
      case Kind::item:
        return item(value_of(*e.parts[0]), value_of(*e.parts[1]), e.line);
      case Kind::slice:
        return counted(sliced(value_of(*e.parts[0]), optional(e.parts[1]), optional(e.parts[2]),
                              optional(e.parts[3]), at(e.line)),
                       e.line);
      case Kind::call:
        return counted(called(e), e.line);
      case Kind::filter:
        return counted(filtered(e.name, value_of(*e.parts[0]), arguments_of(e), at(e.line)),
                       e.line);
      case Kind::test:
        return chat_value(passes_test(e.name, value_of(*e.parts[0]), arguments_of(e), at(e.line)));
      case Kind::negation:
        return chat_value(!is_true(value_of(*e.parts[0])));
      case Kind::minus:
        return computed("-", chat_value(0), value_of(*e.parts[0]), at(e.line));
      case Kind::binary: {
        const ChatValue first = value_of(*e.parts[0]);
        return counted(computed(e.name, first, value_of(*e.parts[1]), at(e.line)), e.line);
      }
      case Kind::both:
      case Kind::either: {
        ChatValue first = value_of(*e.parts[0]);
        return is_true(first) == (e.kind == Kind::either) ? first : value_of(*e.parts[1]);
      }
      case Kind::choice:
        return is_true(value_of(*e.parts[1])) ? value_of(*e.parts[0]) : optional(e.parts[2]);
    }
    return nullptr;
  }

  ChatValue optional(const ExpressionPointer& e) { return e ? value_of(*e) : nullptr; }

  ChatValue collected(const Expression& e) {
    const auto json_of = [&](const ExpressionPointer& part) {
      const ChatValue value = value_of(*part);
      return value ? *value : ChatJson();
    };
    if (e.kind == Kind::list) {
      ChatJson list = ChatJson::array();
      for (const ExpressionPointer& part : e.parts) list.push_back(json_of(part));
      return chat_value(std::move(list));
    }
    ChatJson object = ChatJson::object();
    for (std::size_t i = 0; i < e.parts.size(); i += 2) {
      object[text_in(value_of(*e.parts[i]), "a key", at(e.line))] = json_of(e.parts[i + 1]);
    }
    return chat_value(std::move(object));
  }

  ChatValue item(const ChatValue& whole, const ChatValue& which, int line) {
    if (!whole) {
      refuse_template(at(line), "a part of what is not defined", "messages with role and content");
    }
    if (which && which->is_string() && whole->is_object()) {
      const auto found = whole->find(which->get_ref<const std::string&>());
      return found == whole->end() ? nullptr : chat_part(whole, *found);
    }
    const bool counts = which && which->is_number_integer();
    if (!counts || !(whole->is_array() || whole->is_string())) return nullptr;
    const ChatValue list = filtered("list", whole, {}, at(line));
    const auto size = static_cast<std::int64_t>(list->size());
    auto index = which->get<std::int64_t>();
    if (index < 0) index += size;
    if (index < 0 || index >= size) return nullptr;
    return chat_part(list, (*list)[static_cast<std::size_t>(index)]);
  }

  TemplateArguments arguments_of(const Expression& e) {
    TemplateArguments arguments;
    for (std::size_t i = 1; i < e.parts.size(); ++i) {
      arguments.values.push_back(value_of(*e.parts[i]));
    }
    for (const auto& [name, part] : e.named) arguments.named.emplace_back(name, value_of(*part));
    return arguments;
  }

  ChatValue called(const Expression& e) {
    const Expression& callee = *e.parts[0];
    if (callee.kind == Kind::name) return function_result(callee.name, arguments_of(e), at(e.line));
    if (callee.kind != Kind::member) {
      refuse_template(at(e.line), "it calls a value", "functions and methods");
    }
    const ChatValue object = value_of(*callee.parts[0]);
    return method_result(callee.name, object, arguments_of(e), at(e.line));
  }

  const std::string& source_;
  std::vector<std::map<std::string, ChatValue>> scopes_;
  std::string out_;
  std::int64_t steps_ = 0;
};

}  // namespace

ChatTemplate::ChatTemplate(std::string_view text, std::string source) : source_(std::move(source)) {
  if (text.size() > kMostTemplate) {
    throw Error({.attempted = "read the chat template of " + source_,
                 .value = fmt::format("{} bytes", text.size()),
                 .accepted = fmt::format("{} bytes at most", kMostTemplate),
                 .hint = ""});
  }
  body_ = parse_template(text, source_);
}

std::string ChatTemplate::text(const std::map<std::string, ChatValue>& variables) const {
  return TemplateRun(source_, variables).run(body_);
}

}  // namespace howard::language
