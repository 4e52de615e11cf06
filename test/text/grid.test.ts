// Scripts and habits of writing: a document, a query, and whether the query finds the document. Among them
// are all that section 1 of the specification of search names.
import { expect, it } from 'vitest';
import { defaultLimits } from '../../engine/base/limits.js';
import { createTextIndex } from '../../engine/text/text-index.js';
import { derivedMemory } from '../support/derived-memory.js';

const yes = true;
const no = false;

const grid: [what: string, document: string, query: string, isFound: boolean][] = [
  ['English, a stem', 'She was running home', 'run', yes],
  ['English, a possessive', "the dog's bowl", 'dog', yes],
  ['French', 'Crème brûlée maison', 'creme brulee', yes],
  ['French, with an elision', "l'homme qui marche", 'homme', yes],
  ['accents as own characters', 'un café noir', 'cafe\u0301', yes],
  ['accents in the query only', 'un cafe noir', 'café', yes],
  ['German, ß', 'Hauptstraße 5', 'HAUPTSTRASSE', yes],
  ['German, an umlaut', 'Größe und Höhe', 'hohe', yes],
  ['Turkish', 'İstanbul güzeldir', 'istanbul', yes],
  ['Turkish, ı', 'Diyarbakır', 'diyarbakir', yes],
  ['Polish', 'Miasto Łódź', 'lodz', yes],
  ['Danish', 'rødgrød med fløde', 'rodgrod', yes],
  ['Czech', 'Příliš žluťoučký kůň', 'zlutoucky', yes],
  ['Vietnamese', 'Thành phố Hồ Chí Minh', 'ho chi minh', yes],
  ['Greek, capitals', 'ο Σίσυφος', 'ΣΊΣΥΦΟΣ', yes],
  ['Greek, without accents', 'Αθήνα', 'αθηνα', yes],
  ['Russian, ё', 'Новогодняя ёлка', 'елка', yes],
  ['Russian, й is a letter', 'йод', 'иод', no],
  ['Ukrainian', 'Київ', 'КИЇВ', yes],
  ['Bulgarian', 'България', 'българия', yes],
  ['Armenian', 'Երևան քաղաք', 'ԵՐԵՒԱՆ', yes],
  ['Georgian', 'თბილისი', 'თბილისი', yes],
  ['Hebrew, points', 'שָׁלוֹם עולם', 'שלום', yes],
  ['Hebrew, an abbreviation', 'צה״ל', 'צהל', yes],
  ['Arabic, vowel signs', 'هذا كِتَابٌ جديد', 'كتاب', yes],
  ['Arabic, alef', 'أحمد', 'احمد', yes],
  ['Arabic, tatweel', 'كتـــاب', 'كتاب', yes],
  ['Arabic digits', 'سنة ٢٠٢٤', '2024', yes],
  ['Persian, a joiner', 'می\u200cخواهم', 'میخواهم', yes],
  ['Urdu', 'پاکستان زندہ باد', 'پاکستان', yes],
  ['Hindi', 'नमस्ते दुनिया', 'दुनिया', yes],
  ['Hindi, a mark is a letter', 'काल', 'कल', no],
  ['Bengali', 'আমার সোনার বাংলা', 'বাংলা', yes],
  ['Tamil', 'தமிழ் மொழி', 'தமிழ்', yes],
  ['Telugu', 'తెలుగు భాష', 'తెలుగు', yes],
  ['Sinhala, a joiner', 'ශ්\u200dරී ලංකා', 'ශ්\u200dරී', yes],
  ['Tibetan', 'བོད་སྐད', 'བོད', yes],
  ['Amharic', 'ሰላም ለዓለም', 'ሰላም', yes],
  ['Thai', 'ภาษาไทยง่ายมาก', 'ไทย', yes],
  ['Lao', 'ພາສາລາວ', 'ພາສາ', yes],
  ['Khmer', 'ខ្ញុំស្រឡាញ់ភាសាខ្មែរ', 'ភាសាខ្មែរ', yes],
  ['Burmese', 'မြန်မာစာ', 'မြန်မာ', yes],
  ['Chinese inside a sentence', '我们今天去北京大学图书馆看书', '北京大学', yes],
  ['Chinese, two characters', '我们今天去北京大学图书馆看书', '图书', yes],
  ['Chinese, one character', '我们今天去北京', '天', yes],
  ['Chinese, the last character', '我们今天去北京', '京', yes],
  ['Chinese, another word', '我们今天去北京', '上海', no],
  ['Chinese beside Latin', '新款iPhone手机', '手机', yes],
  ['Latin beside Chinese', '新款iPhone手机', 'iphone', yes],
  ['Japanese inside a sentence', '昨日は東京都庁に行きました', '東京', yes],
  ['Japanese, Katakana', '大型コンピューター', 'コンピュー', yes],
  ['Japanese, half width', 'ｶﾀｶﾅ', 'カタカナ', yes],
  ['Japanese, one character', '2024年', '年', yes],
  ['Korean, with a particle', '서울대학교에서 공부한다', '서울대학교', yes],
  ['Korean, as letters', '한국'.normalize('NFD'), '한국', yes],
  ['a character of two units', '𠮷野家で食べる', '𠮷野', yes],
  ['full width', 'ＡＢＣ１２３', 'abc123', yes],
  ['a soft hyphen', 'co\u00adoperation', 'cooperation', yes],
  ['a ligature', 'ﬁnance', 'finance', yes],
  ['a typographic apostrophe', 'I don’t know', "don't", yes],
  ['no apostrophe', 'I don’t know', 'dont', yes],
  ['a name in code', 'call getUserById(7)', 'user', yes],
  ['a name in code, whole', 'call getUserById(7)', 'getuserbyid', yes],
  ['a name with underscores', 'max_retry_count = 3', 'retry', yes],
  ['an address', 'write to jane.doe@example.com', 'jane.doe@example.com', yes],
  ['a part of an address', 'write to jane.doe@example.com', 'example', yes],
  ['a number with commas', 'costs 1,000,000 euros', '1000000', yes],
  ['a version', 'since 1.2.3', '1.2.3', yes],
  ['C++', 'a C++ compiler', 'c++', yes],
  ['C# is not C++', 'a C# compiler', 'c++ rust', yes],
  ['a hashtag', 'see #typescript', 'typescript', yes],
  ['an emoji', 'well done 👍🏽', '👍', yes],
  ['a family of emoji', 'hello 👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧', yes],
  ['a symbol', 'costs 5 €', '€', yes],
  ['stop words only', 'The Who played', 'the who', yes],
  ['a stop word beside others', 'The Kinks played', 'the stones', no],
  ['another word', 'roses', 'tulips', no],
];

it.each(grid)('%s', (_, document, query, isFound) => {
  const index = createTextIndex(defaultLimits);
  const view = derivedMemory();
  index.add(view, 1, 1, [document]);
  index.add(view, 1, 2, ['something else entirely']);
  const found = index.search(view, 1, query, 5).map(({ id }) => id);
  expect(found).toEqual(isFound ? [1] : []);
  index.remove(view, 1, 1, [document]);
  index.remove(view, 1, 2, ['something else entirely']);
  expect(view.entries()).toEqual([]);
});
