// The words of the built-in grammar, English and Chinese.

#pragma once

#include <array>
#include <string_view>

namespace heed::grammar {

struct Word {
  std::string_view english, chinese;
};
struct Noun {
  std::string_view one, many, measure, chinese;
};
struct Verb {
  std::string_view third, plain, chinese;  // he chases, they chase
};
struct Determiner {
  std::string_view english, chinese;
  bool plural, measured;
};

constexpr std::array kMen{Word{"Tom", "汤姆"},  Word{"Jerry", "杰瑞"}, Word{"John", "约翰"}, Word{"Peter", "彼得"},
                          Word{"Paul", "保罗"}, Word{"Jack", "杰克"},  Word{"Sam", "山姆"}};
constexpr std::array kWomen{Word{"Mary", "玛丽"}, Word{"Anna", "安娜"}, Word{"Lucy", "露西"}, Word{"Alice", "爱丽丝"}};
constexpr std::array kTitlesOfMen{Word{"Mr", "先生"}, Word{"Uncle", "叔叔"}};
constexpr std::array kTitlesOfWomen{Word{"Mrs", "太太"}, Word{"Aunt", "阿姨"}};
// Used as subjects only. The verb takes its plain form after a `plural` pronoun.
struct Pronoun {
  std::string_view english, chinese;
  bool plural;
};
constexpr std::array kPronouns{Pronoun{"I", "我", true},    Pronoun{"you", "你", true},  Pronoun{"he", "他", false},
                               Pronoun{"she", "她", false}, Pronoun{"we", "我们", true}, Pronoun{"they", "他们", true}};
// Cities with a bridge over the Yangtze River.
constexpr std::array kYangtzeCities{Word{"Nanjing", "南京市"}, Word{"Wuhan", "武汉市"}, Word{"Chongqing", "重庆市"}};
constexpr std::array kCities{Word{"London", "伦敦"},    Word{"Paris", "巴黎"},     Word{"Beijing", "北京"},
                             Word{"New York", "纽约"},  Word{"Hong Kong", "香港"}, Word{"San Francisco", "旧金山"},
                             Word{"Nanjing", "南京市"}, Word{"Wuhan", "武汉市"},   Word{"Chongqing", "重庆市"}};
constexpr std::array kCountries{Word{"China", "中国"}, Word{"France", "法国"}};
constexpr std::array kSides{Word{"in", "里"}, Word{"behind", "后面"}, Word{"near", "旁边"}};
constexpr std::array kLocations{Word{"garden", "花园"}, Word{"park", "公园"}, Word{"kitchen", "厨房"},
                                Word{"school", "学校"}, Word{"forest", "森林"}};
constexpr std::array kAnimate{Noun{"cat", "cats", "只", "猫"},           Noun{"dog", "dogs", "只", "狗"},
                              Noun{"mouse", "mice", "只", "老鼠"},       Noun{"bird", "birds", "只", "鸟"},
                              Noun{"horse", "horses", "匹", "马"},       Noun{"snake", "snakes", "条", "蛇"},
                              Noun{"teacher", "teachers", "位", "老师"}, Noun{"doctor", "doctors", "位", "医生"},
                              Noun{"student", "students", "个", "学生"}, Noun{"child", "children", "个", "孩子"}};
constexpr std::array kThings{Noun{"book", "books", "本", "书"},     Noun{"apple", "apples", "个", "苹果"},
                             Noun{"letter", "letters", "封", "信"}, Noun{"car", "cars", "辆", "汽车"},
                             Noun{"hat", "hats", "顶", "帽子"},     Noun{"flower", "flowers", "朵", "花"},
                             Noun{"map", "maps", "张", "地图"}};
constexpr std::array kDeterminers{Determiner{"a", "一", false, true},       Determiner{"this", "这", false, true},
                                  Determiner{"every", "每", false, true},   Determiner{"two", "两", true, true},
                                  Determiner{"three", "三", true, true},    Determiner{"five", "五", true, true},
                                  Determiner{"these", "这些", true, false}, Determiner{"many", "很多", true, false}};
constexpr std::array kOwners{Word{"my", "我的"}, Word{"his", "他的"}, Word{"her", "她的"}};
constexpr std::array kShortAdjectives{Word{"big", "大"}, Word{"small", "小"}, Word{"old", "老"}, Word{"black", "黑"},
                                      Word{"white", "白"}};
// Chinese adjectives of two characters, which require 的.
constexpr std::array kLivingAdjectives{Word{"clever", "聪明"}, Word{"happy", "快乐"}, Word{"angry", "愤怒"}};
constexpr std::array kThingAdjectives{Word{"beautiful", "漂亮"}, Word{"expensive", "昂贵"}};
constexpr std::array kVerbsOnTheLiving{Verb{"chases", "chase", "追逐"}, Verb{"helps", "help", "帮助"},
                                       Verb{"knows", "know", "认识"}};
constexpr std::array kVerbsOnAnything{Verb{"sees", "see", "看见"},   Verb{"likes", "like", "喜欢"},
                                      Verb{"finds", "find", "找到"}, Verb{"wants", "want", "想要"},
                                      Verb{"draws", "draw", "画"},   Verb{"washes", "wash", "洗"},
                                      Verb{"loves", "love", "爱"}};
constexpr std::array kVerbsOnSights{Verb{"loves", "love", "爱"}, Verb{"likes", "like", "喜欢"},
                                    Verb{"sees", "see", "看见"}};
constexpr std::array kIntransitive{Verb{"sleeps", "sleep", "睡觉"}, Verb{"runs", "run", "跑步"},
                                   Verb{"sings", "sing", "唱歌"},   Verb{"laughs", "laugh", "笑"},
                                   Verb{"dances", "dance", "跳舞"}, Verb{"waits", "wait", "等待"}};
constexpr std::array kGiving{Verb{"gives", "give", "送给"}, Verb{"sends", "send", "寄给"},
                             Verb{"sells", "sell", "卖给"}, Verb{"lends", "lend", "借给"}};
constexpr std::array kFrequencies{Word{"always", "总是"}, Word{"often", "经常"}, Word{"sometimes", "有时"}};
constexpr std::array kManners{Word{"quickly", "飞快"}, Word{"slowly", "慢慢"}, Word{"quietly", "悄悄"}};
constexpr std::array kTimes{Word{"today", "今天"}, Word{"tomorrow", "明天"}, Word{"tonight", "今晚"},
                            Word{"now", "现在"}};
constexpr std::array kJoints{Word{"and", "而且"}, Word{"but", "但是"}, Word{"because", "因为"}, Word{"so", "所以"}};

}  // namespace heed::grammar
