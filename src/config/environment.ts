// Configuration from variables: `ATOMIC_AGENT_…`, and the file of provider keys `<stateDir>/.env`.
// Changes no variable of the process, so nothing read here reaches a child; never quotes a secret.
import { readFileSync, statSync } from "node:fs";
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { nearest } from "../core/nearest.ts";
import type { Key } from "./keys.ts";
import { didYouMean, keyNamesByVariable, stateDirVariable, variablePrefix } from "./names.ts";
import type { Environment } from "./paths.ts";
import { keysByName } from "./schema.ts";
import { checkValue, type Checked, expectation, isSecret, kindsOf } from "./values.ts";

/**
 * Values of the keys that variables set, by dotted name.
 * @throws AgentError `config_invalid` naming the variable of a bad value
 */
export function readVariables(env: Environment): { values: Map<string, unknown>; warnings: string[] } {
  const values = new Map<string, unknown>();
  const warnings: string[] = [];
  const given = Object.entries(env).filter(([variable]) => variable.startsWith(variablePrefix) && variable !== stateDirVariable);
  if (given.length === 0) return { values, warnings };
  const names = keyNamesByVariable();
  for (const [variable, text] of given) {
    const name = names.get(variable);
    const key = name === undefined ? undefined : keysByName.get(name);
    if (name === undefined || key === undefined) {
      warnings.push(`unknown variable ${variable} is ignored${didYouMean(nearest(variable, names.keys()))}`);
    } else if (text !== undefined && text !== "") {
      const checked = readText(name, key, text);
      if (!checked.ok) throw new AgentError("config_invalid", `${variable}: ${checked.message}`);
      values.set(name, checked.value);
    }
  }
  return { values, warnings };
}

const words: ReadonlyMap<string, boolean> = new Map([
  ...["1", "true", "yes", "on"].map((word) => [word, true] as const),
  ...["0", "false", "no", "off"].map((word) => [word, false] as const),
]);

/** Reads a value written as text: in a variable, or after `config set KEY`. Lists and objects are JSON. */
export function readText(name: string, key: Key, text: string): Checked {
  const kinds = kindsOf(key.schema);
  const trimmed = text.trim();
  if (trimmed === "null" && (kinds.has("null") || key.default === undefined)) return checkValue(name, key, null);
  if (kinds.has("boolean")) return checkValue(name, key, words.get(trimmed.toLowerCase()) ?? text);
  if (kinds.has("number") && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return checkValue(name, key, Number(trimmed));
  if (!kinds.has("structure")) return checkValue(name, key, text);
  try {
    return checkValue(name, key, JSON.parse(trimmed));
  } catch (cause) {
    const reason = isSecret(name) ? "" : ` (${messageOf(cause)})`;
    return { ok: false, path: [], message: `${name}: expected ${expectation(key.schema)} as JSON${reason}` };
  }
}

/**
 * The variables of an env file: `NAME=value` lines, `#` comments, an optional `export`, values bare or in one pair of
 * quotes (double ones know \n, \t, \\ and \"). Nothing is substituted.
 * @throws AgentError `config_invalid`, `path:line: …`, without the line's text
 */
export function readEnvFile(path: string): { values: Map<string, string>; warnings: string[] } {
  const warnings: string[] = [];
  let text: string;
  try {
    const status = statSync(path);
    if (!status.isFile()) throw new Error("it is no regular file");
    if (status.size > limits.configBytesMax) throw new Error(`it has more than ${limits.configBytesMax} bytes`);
    if ((status.mode & 0o077) !== 0 && process.platform !== "win32") warnings.push(`${path} can be read by others; make it private with chmod 600`);
    text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return { values: new Map(), warnings };
    throw new AgentError("config_invalid", `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  const values = new Map<string, string>();
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const match = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
    const value = match === null ? undefined : unquote(match[2] ?? "");
    if (match === null || value === undefined) throw new AgentError("config_invalid", `${path}:${index + 1}: expected NAME=value, the value bare or in one pair of quotes`);
    values.set(match[1] ?? "", value);
  }
  return { values, warnings };
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", "\\": "\\", '"': '"' };

function unquote(raw: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(raw);
  if (quoted !== null) return (quoted[1] ?? "").replace(/\\(.)/g, (whole, letter: string) => escapes[letter] ?? whole);
  const literal = /^'([^']*)'\s*(?:#.*)?$/.exec(raw);
  if (literal !== null) return literal[1] ?? "";
  return /^["']/.test(raw) ? undefined : raw.replace(/\s+#.*$/, "");
}
