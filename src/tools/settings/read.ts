// The settings of a configuration file as one flat list, for comparing them.
import { parse, type ParseError } from "jsonc-parser";
import { labelOf } from "./json-path.ts";

/** What the end of a name says of a file's format. */
export const settingsEndings = [".json", ".jsonc", ".ini", ".cfg", ".conf", ".toml", ".env", ".properties"] as const;

/** Values by their keys with the sections before them, as they are written; undefined when the text is no list of settings. */
export function settingsIn(text: string, shown: string): Map<string, string> | undefined {
  const ending = /\.([a-z]+)"?$/i.exec(shown.replace(kept, ""))?.[1]?.toLowerCase();
  if (ending === "json" || ending === "jsonc") return ofJson(text);
  return ["ini", "cfg", "conf", "toml", "env", "properties"].includes(ending ?? "") ? ofLines(text) : undefined;
}

/** Behind the name of a copy. */
const kept = /(?:\.(?:bak|backup|example|old|orig|sample|template)|~)(?="?$)/i;

function ofJson(text: string): Map<string, string> | undefined {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || typeof value !== "object" || value === null) return undefined;
  const settings = new Map<string, string>();
  const take = (inner: unknown, path: string): void => {
    const entries = typeof inner === "object" && inner !== null ? Object.entries(inner) : [];
    if (entries.length === 0) settings.set(path, JSON.stringify(inner));
    const label = labelOf(inner);
    const below = (name: string): string => (path === "" ? name : `${path}.${name}`);
    for (const [key, deeper] of entries) take(deeper, label !== undefined ? below(String(deeper[label])) : Array.isArray(inner) ? `${path}[${key}]` : below(key));
  };
  take(value, "");
  return settings;
}

function ofLines(text: string): Map<string, string> | undefined {
  const settings = new Map<string, string>();
  let section = "";
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "" || /^[#;]/.test(line)) continue;
    const [, name] = /^\[([^\]]+)\]$/.exec(line) ?? [];
    const [, key, value] = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) section = `${name}.`;
    else if (key === undefined || value === undefined) return undefined;
    else settings.set(section + key, value);
  }
  return settings;
}
