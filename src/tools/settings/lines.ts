// One value in a file of `key = value` lines under [sections]: INI, TOML, .env, .properties. Every other line stays.
import { ToolError } from "../../core/error.ts";
import { absentSetting } from "./json.ts";

export interface LinesFormat {
  lineEnd: string;
  /** Texts are quoted; a value may go on over several lines, which are not changed here. */
  isToml: boolean;
  /** There are no sections: a dot is part of the key. */
  isFlat: boolean;
}

interface Setting {
  /** Index of the line. */
  at: number;
  section: string;
  key: string;
  isComment: boolean;
}

const settingLine = /^(?<indent>[ \t]*)(?<mark>[#;]+[ \t]*)?(?<key>"[^"]+"|[\w.-]+)(?<gap>[ \t]*[=:][ \t]*)(?<value>.*)$/;
const sectionLine = /^[ \t]*\[([^[\]]+)\]/;

/** @throws ToolError when the key is not clear */
export function setInLines(text: string, key: string, value: string, format: LinesFormat): string {
  const lines = text.split(/\r?\n/);
  const settings = settingsOf(lines);
  const { name, section } = placeOf(key, settings, lines, format);
  const here = settings.filter((setting) => setting.section === section && setting.key === name);
  const found = here.findLast(({ isComment }) => !isComment) ?? here.at(-1) ?? waiting(settings, name);
  if (found) lines[found.at] = withValue(lines[found.at] ?? "", value, format);
  else addLine(lines, section, `${name}${gapOf(lines, settings, section)}${written(value, undefined, format)}`);
  return lines.join(format.lineEnd);
}

/** The text without the line of a setting; a value that goes on over several lines stays. @throws ToolError when there is none of that key */
export function unsetInLines(text: string, key: string, format: LinesFormat): string {
  const lines = text.split(/\r?\n/);
  const settings = settingsOf(lines).filter(({ isComment }) => !isComment);
  const { name, section } = placeOf(key, settings, lines, format);
  const gone = new Set(settings.filter((setting) => setting.section === section && setting.key === name).map(({ at }) => at));
  if (gone.size === 0) throw absentSetting(key, settings.map((setting) => `${setting.section === "" ? "" : `${setting.section}.`}${setting.key}`));
  return lines.filter((_, at) => !gone.has(at)).join(format.lineEnd);
}

/** The only place of the file where the name stands, commented out: meant even when another section was named. */
function waiting(settings: readonly Setting[], name: string): Setting | undefined {
  const same = settings.filter(({ key }) => key === name);
  return same.length === 1 && same[0]?.isComment ? same[0] : undefined;
}

function settingsOf(lines: readonly string[]): Setting[] {
  let section = "";
  return lines.flatMap((line, at) => {
    const head = sectionLine.exec(line)?.[1];
    if (head !== undefined) section = head.trim();
    const { key, mark } = settingLine.exec(line)?.groups ?? {};
    return key === undefined ? [] : [{ at, section, key: key.replaceAll('"', ""), isComment: mark !== undefined }];
  });
}

/** Without a section the only one that has the key is meant, else the top of the file. */
function placeOf(key: string, settings: readonly Setting[], lines: readonly string[], { isFlat }: LinesFormat): { section: string; name: string } {
  const sections = new Set(lines.flatMap((line) => sectionLine.exec(line)?.[1]?.trim() ?? []));
  const plain = key.replace(/^\[([^\]]+)\]\s*\.?\s*/, "$1.");
  const named = [...sections].filter((section) => plain.startsWith(`${section}.`)).toSorted((a, b) => b.length - a.length)[0];
  if (named !== undefined) return { section: named, name: plain.slice(named.length + 1) };
  const dot = plain.lastIndexOf(".");
  const known = settings.filter((setting) => setting.key === plain);
  const places = [...new Set(known.filter(({ isComment }) => !isComment || known.every((one) => one.isComment)).map(({ section }) => section))];
  if (places.length > 1 && !places.includes("")) throw new ToolError(`${plain} is in the sections ${places.join(", ")}; put the section before it: ${places[0]}.${plain}. Nothing was changed`, { details: { advice: `${places[0]}.${plain}` } });
  if (places.length > 0) return { section: places.includes("") ? "" : (places[0] ?? ""), name: plain };
  if (dot > 0 && !isFlat) return { section: plain.slice(0, dot), name: plain.slice(dot + 1) };
  if (sections.size > 0 && settings.every(({ section }) => section !== "")) throw new ToolError(`there is no ${plain}; put a section before it: ${[...sections].slice(0, 10).map((section) => `${section}.${plain}`).join(", ")}. Nothing was changed`, { details: { advice: plain } });
  return { section: "", name: plain };
}

/** The line with another value, in force: its comment mark goes, a comment behind the value stays. */
function withValue(line: string, value: string, format: LinesFormat): string {
  const { indent = "", key = "", gap = "=", value: old = "" } = settingLine.exec(line)?.groups ?? {};
  const behind = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^#;"']*?)([ \t]+[#;].*)$/.exec(old)?.[1] ?? "";
  const now = written(value, old.slice(0, old.length - behind.length), format);
  return `${indent}${key}${gap}${now}${behind}`;
}

/** Quoted as the old value was; a new one of TOML where it has to be. */
function written(value: string, old: string | undefined, { isToml }: LinesFormat): string {
  const bare = /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;
  if (/[\r\n]/.test(bare)) throw new ToolError("the value must be one line; change the file with fs.edit");
  const quote = /^\s*(["'])/.exec(old ?? "")?.[1];
  if (quote !== undefined) return quote + bare + quote;
  const isPlain = /^(?:true|false|[-+]?\d[\d_]*(?:\.\d+)?|\[.*\]|\{.*\}|\d{4}-\d\d-\d\d.*)$/.test(bare);
  return isToml && (old === undefined ? !isPlain || value !== bare : !isPlain) ? JSON.stringify(bare) : bare;
}

/** As most lines of the section have it, or of the file. */
function gapOf(lines: readonly string[], settings: readonly Setting[], section: string): string {
  const near = settings.filter((setting) => setting.section === section);
  const gaps = (near.length > 0 ? near : settings).map(({ at }) => settingLine.exec(lines[at] ?? "")?.groups?.["gap"] ?? "=");
  const spaced = gaps.filter((gap) => gap === " = ").length;
  return gaps.length === 0 || spaced * 2 > gaps.length ? " = " : (gaps.find((gap) => gap !== " = ") ?? "=");
}

/** At the end of the section, which is made where it is missing. */
function addLine(lines: string[], section: string, line: string): void {
  const start = section === "" ? -1 : lines.findIndex((one) => sectionLine.exec(one)?.[1]?.trim() === section);
  if (section !== "" && start < 0) {
    const isOpen = lines.at(-1) !== "";
    if (!isOpen) lines.pop();
    lines.push(...(lines.length > 0 ? [""] : []), `[${section}]`, line, ...(isOpen ? [] : [""]));
    return;
  }
  const next = lines.findIndex((one, index) => index > start && sectionLine.test(one));
  let at = next < 0 ? lines.length : next;
  while (at > start + 1 && (lines[at - 1] ?? "").trim() === "") at--;
  lines.splice(at, 0, line);
}
