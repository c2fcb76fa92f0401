// The files that a text speaks of, read off their names: for telling which of them are not there.

import { languages } from "./languages.ts";
import { isCommonWord, stemOf, wordsOf } from "./words.ts";

const extensions = new Set(
  "bak bat c cc cfg conf cpp cs css csv cxx doc docx env gif go gz h hpp htm html ini ipynb java jpeg jpg js json jsonc jsonl jsx kt less log lua md mjs odt old orig pdf php pl png ps1 py r rb rs rst sass scala scss sh sql sqlite svg swift tar tex tmp toml ts tsv tsx txt vue xls xlsx xml yaml yml zip".split(" "),
);

/**
 * Which of these paths a text speaks of, by the path or, where no path is just that, by the name alone; a name that is a part
 * of a longer one does not count.
 */
export function mentionedFiles(text: string, files: readonly string[]): string[] {
  const byName = Map.groupBy(files, (path) => path.slice(path.lastIndexOf("/") + 1));
  const pathsOf = new Map([...byName, ...files.map((path): [string, string[]] => [path, [path]])]);
  const mentioned = new Set<string>();
  let left = text;
  for (const [name, paths] of [...pathsOf].toSorted(([a], [b]) => b.length - a.length)) {
    if (!left.includes(name)) continue;
    const place = placeOf(name);
    if (!place.test(left)) continue;
    for (const path of paths) mentioned.add(path);
    left = left.replaceAll(new RegExp(place.source, "g"), " ");
  }
  return files.filter((path) => mentioned.has(path));
}

/** Which of these paths a program takes something from, by their names without ending: `from limits import MAX`. */
export function importedFiles(text: string, files: readonly string[]): string[] {
  const said = new Set((text.match(/^.*\b(?:import|from|require|include|source|use)\b.*$/gm) ?? []).flatMap((line) => line.match(/[\p{L}\p{N}_-]+/gu) ?? []));
  return files.filter((path) => said.has(path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "")));
}

/** Whether a text speaks of what a file is called after: `the scones` of `scones.md`. */
export function isSpokenOf(path: string, text: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const stems = wordsOf(name).filter((word) => !isCommonWord(word)).map(stemOf);
  const said = new Set(wordsOf(text).map(stemOf));
  return stems.length > 0 && stems.every((stem) => said.has(stem));
}

/** Whether a text holds this very path; a longer one that ends or begins so is another. */
export function namesPath(text: string, path: string): boolean {
  return placeOf(path).test(text);
}

/** Which of these folders a text speaks of, with or without a slash behind the name; never the workspace itself. */
export function mentionedFolders(text: string, folders: readonly string[]): string[] {
  return folders.filter((folder) => folder !== "." && new RegExp(`${placeBefore}${RegExp.escape(folder)}(?![\\w-]|/[\\w-]|/?\\.\\w)`).test(text));
}

const placeBefore = "(?<![\\w/.-])(?:\\./)?";

function placeOf(name: string): RegExp {
  return new RegExp(`${placeBefore}${RegExp.escape(name)}(?![\\w/-]|\\.\\w)`);
}

/** Ends of names by which a text speaks of all files of a kind: `*.js`, `.js files`, `JavaScript files`. */
export function saidEndings(text: string): string[] {
  const ends = [...text.matchAll(/\*(\.\w+)\b|(?<![\w*])(\.\w+)\s+files?\b|\b(\w+)\s+files\b/g)].flatMap(([, pattern, ending, kind = ""]) => {
    const language = [...languages].filter(([, name]) => name.toLowerCase() === kind.toLowerCase()).map(([end]) => end);
    return pattern ?? ending ?? (extensions.has(kind.toLowerCase()) ? `.${kind}` : language);
  });
  return [...new Set(ends.map((end) => end.toLowerCase()))];
}

export function isMarkdown(path: string): boolean {
  return /\.(?:md|markdown)$/i.test(path);
}

/** Whether a file holds code, by its name. */
export function isProgram(path: string): boolean {
  return /\.(?:bat|c|cc|cpp|cs|go|java|jsx?|kt|lua|mjs|php|pl|ps1|py|r|rb|rs|scala|sh|swift|tsx?)$/i.test(path);
}

/** Whether a file tests others, by its name. */
export function isTestName(path: string): boolean {
  return /(?:^|[/_.-])(?:test|spec)s?(?:[/_.-]|$)/i.test(path);
}

/** Folders that a text names inside those that exist, and that are not there themselves. */
export function namedFolders(text: string, folders: readonly string[]): string[] {
  const found = text.match(/(?<![\w/.~:@-])(?:\.\/)?[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_-]+)+(?![\w./-]*\w)/gu) ?? [];
  const names = found.map((name) => name.replace(/^\.\//, ""));
  return [...new Set(names)].filter((name) => folders.some((folder) => name.startsWith(`${folder}/`)) && !folders.includes(name));
}

/** Relative paths with a usual extension, each once, as they are written. */
export function namedFiles(text: string): string[] {
  const found = text.match(/(?<![\w/.~:@-])(?:\.\/)?[\p{L}\p{N}_-][\p{L}\p{N}_/.-]*\.[a-z0-9]{1,6}(?![\w/-])/giu) ?? [];
  const names = found.filter((name) => extensions.has(name.slice(name.lastIndexOf(".") + 1).toLowerCase()) && !name.includes(".."));
  return [...new Set(names.map((name) => name.replace(/^\.\//, "")))];
}
