// Every command and option of the parser is in the manual page and in the completions.

#include "apps/cli/manual.h"

#include "apps/cli/command.h"
#include "apps/cli/completion.h"
#include "apps/cli/option_text.h"
#include <gtest/gtest.h>

namespace heed::cli {
namespace {

class Pages : public testing::Test {
 protected:
  Pages() {
    app.add_option("--threads", threads, "Threads to use");
    Command::add_all(app);
  }
  CLI::App app{"Heed", "heed"};
  int threads = 0;
};

std::string after(const std::string& text, const std::string& start, const std::string& end) {
  const auto from = text.find(start);
  if (from == std::string::npos) return "";
  return text.substr(from, text.find(end, from + start.size()) - from);
}

std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) out += c == '-' ? std::string("\\-") : std::string(1, c);
  return out;
}

TEST_F(Pages, ManualHasEveryOptionUnderItsCommand) {
  const std::string page = manual(app, "1.2.3");
  EXPECT_NE(page.find("1.2.3"), std::string::npos);
  EXPECT_NE(page.find("\\fB\\-\\-threads\\fR"), std::string::npos);
  ASSERT_GE(shown_commands(app).size(), 8U);
  for (const auto* command : shown_commands(app)) {
    const std::string section = after(page, ".SS heed " + command->get_name() + "\n", "\n.S");
    ASSERT_FALSE(section.empty()) << command->get_name();
    for (const auto& option : option_texts(*command))
      for (const auto& name : option.names)
        EXPECT_NE(section.find(escaped(name) + "\\fR"), std::string::npos) << command->get_name() << ' ' << name;
  }
}

TEST_F(Pages, BashCompletesEveryOptionOfEveryCommand) {
  const std::string script = bash_completion(app);
  for (const auto* command : shown_commands(app)) {
    const std::string line = after(script, "\n    " + command->get_name() + ") options='", ";;") + " ";
    for (const auto& option : option_texts(*command)) {
      if (option.positional) continue;
      for (const auto& name : option.names)
        EXPECT_TRUE(line.find(" " + name + " ") != std::string::npos ||
                    line.find(" " + name + "'") != std::string::npos || line.find("'" + name) != std::string::npos)
            << command->get_name() << ' ' << name << " in " << line;
    }
  }
}

TEST_F(Pages, BashCompletesValuesThatAreAList) {
  EXPECT_NE(bash_completion(app).find("'attend --color') values='auto always never'"), std::string::npos);
  EXPECT_NE(bash_completion(app).find("'completion completion') values='bash zsh fish'"), std::string::npos);
}

TEST_F(Pages, ZshAndFishCompleteEveryLongOption) {
  const std::string zsh = zsh_completion(app), fish = fish_completion(app);
  for (const auto* command : shown_commands(app)) {
    const std::string arguments = after(zsh, "\n      " + command->get_name() + ") _arguments", ";;");
    for (const auto& option : option_texts(*command)) {
      if (option.positional) continue;
      const std::string name = option.names.back();
      EXPECT_NE(arguments.find(name + "["), std::string::npos) << command->get_name() << ' ' << name;
      const std::string line =
          after(fish, "from " + command->get_name() + "'", "\n" + std::string("complete -c heed -n __fish"));
      EXPECT_NE(line.find(" -l " + name.substr(2)), std::string::npos) << command->get_name() << ' ' << name;
    }
  }
}

TEST_F(Pages, CommandsThatTheHelpHidesAreHiddenHereToo) {
  EXPECT_EQ(manual(app, "").find("heed manual"), std::string::npos);
  EXPECT_EQ(bash_completion(app).find("manual"), std::string::npos);
}

}  // namespace
}  // namespace heed::cli
