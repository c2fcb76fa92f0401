// Which files hold words of a request: what a person would search for first. A small model that is told of none looks into the
// first file that there is. Names do not count: what is called so is found by its name.
import { mentionedFiles, saidEndings } from "../core/named-files.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";
import { smallFileBytesMax, fileText } from "./file-lines.ts";

export interface RelatedFile {
  path: string;
  /** Of the request, as they stand there, the rarest first. */
  words: readonly string[];
}

const filesMax = 100;
const toldMax = 5;
const wordsToldMax = 4;

/** The most telling first; none where the request names a file, or where there is but one. */
export async function relatedFiles(workspace: string, home: string, files: readonly string[], request: string): Promise<RelatedFile[]> {
  if (files.length < 2 || files.length > filesMax || mentionedFiles(request, files).length > 0) return [];
  const wanted = new Map(wordsOf(request).filter((word) => !isCommonWord(word)).map((word) => [stemOf(word), word]));
  const held = await Promise.all(files.map(async (path) => ({ path, stems: new Set(wordsOf((await fileText(workspace, home, path, smallFileBytesMax)) ?? "").map(stemOf)) })));
  const rarity = new Map(wanted.keys().map((key) => [key, Math.log((files.length + 1) / held.filter(({ stems }) => stems.has(key)).length)]));
  const found = held.flatMap(({ path, stems }) => {
    const keys = [...wanted.keys()].filter((key) => stems.has(key)).toSorted((a, b) => (rarity.get(b) ?? 0) - (rarity.get(a) ?? 0));
    return keys.length === 0 ? [] : [{ path, words: keys.map((key) => wanted.get(key) ?? key), weight: keys.reduce((total, key) => total + (rarity.get(key) ?? 0), 0) }];
  });
  const most = Math.max(...found.map(({ weight }) => weight));
  return found.filter(({ weight }) => weight * 2 >= most).toSorted((a, b) => b.weight - a.weight).map(({ path, words }) => ({ path, words }));
}

/** Whether no file has a word of the request in its text or name; false where a text is too long to be looked through. */
export async function isForeign(workspace: string, home: string, files: readonly string[], request: string): Promise<boolean> {
  const wanted = wordsOf(request).filter((word) => !isCommonWord(word)).map(stemOf);
  if (wanted.length === 0 || files.length === 0 || files.length > filesMax) return false;
  const texts = await Promise.all(files.map((path) => fileText(workspace, home, path, smallFileBytesMax)));
  if (texts.includes(undefined)) return false;
  const said = new Set([...texts, ...files].flatMap((text) => wordsOf(text ?? "")).map(stemOf));
  return !wanted.some((stem) => said.has(stem));
}

/** Names, words and quoted texts of a request that stand in several files as they are written: what may be replaced in all of them. None where it speaks of files of one kind. */
export async function sharedTexts(workspace: string, home: string, files: readonly string[], request: string): Promise<string[]> {
  if (files.length < 2 || files.length > filesMax || saidEndings(request).length > 0) return [];
  const quoted = [...request.matchAll(/"([^"\n]+)"|`([^`\n]+)`|'([^'\n]{3,})'/g)].map(([, ...groups]) => groups.find((group) => group !== undefined) ?? "");
  const names = request.match(/[\p{L}\p{N}_](?:[\p{L}\p{N}_.:/@-]*[\p{L}\p{N}_])?/gu) ?? [];
  const wanted = [...new Set([...quoted, ...names.filter((name) => name.length >= shortest && /\p{L}/u.test(name) && !isCommonWord(name))])];
  const texts = await Promise.all(files.map((path) => fileText(workspace, home, path, smallFileBytesMax)));
  const stands = (text: string | undefined, one: string): boolean => text !== undefined && new RegExp(`(?<![\\p{L}\\p{N}_])${RegExp.escape(one)}(?![\\p{L}\\p{N}_])`, "u").test(text);
  return wanted.filter((one) => texts.filter((text) => stands(text, one)).length > 1);
}

/** Of a name; a number means something else in each file. */
const shortest = 2;

/** What a model is told of them; "" for none. */
export function relatedText(files: readonly RelatedFile[]): string {
  const told = files.slice(0, toldMax).map(({ path, words }) => `${path} (${words.slice(0, wordsToldMax).join(", ")})`);
  return told.length === 0 ? "" : `(Words of this request are in ${told.join(", ")}${files.length > toldMax ? `, and ${files.length - toldMax} more files` : ""}.)`;
}
