// What a shell knows while it reads a line: variables, the folder it is in, and what words become under them. Words can
// have several values (a loop's variable); what only shows at run time is unknown, never guessed.
import { posix } from "node:path";
import type { Part, Word } from "./lexer.ts";

/** One word of a command after expansion. */
export interface Argument {
  /** Every text that it can be; none when only the running shell knows. */
  values: string[];
  /** With the unknown parts left out. */
  shape: string;
  /** Written as it is: nothing is expanded, matched or split. */
  literal: boolean;
  /** Holds an unquoted `*`, `?` or `[`. */
  pattern: boolean;
}

export interface Surroundings {
  home: string;
  cwd: string;
  /** Variables that the command gets. */
  environment: Readonly<Record<string, string | undefined>>;
}

export class Scope {
  readonly home: string;
  /** Absolute; undefined when only the running shell knows. */
  cwd: string | undefined;
  /** What code between `$(` and `)` prints, where that is certain. */
  readonly outputOf: (code: string, scope: Scope) => string | undefined;
  readonly #variables = new Map<string, string[] | undefined>();
  /** A variable that was never set is empty; false after code that can't be seen was read in. */
  #closed = true;

  constructor({ home, cwd, environment }: Surroundings, outputOf: Scope["outputOf"]) {
    this.home = home;
    this.cwd = cwd;
    this.outputOf = outputOf;
    for (const [name, value] of Object.entries(environment)) if (value !== undefined) this.#variables.set(name, [value]);
    for (const [name, value] of Object.entries({ HOME: home, PWD: cwd, IFS: " \t\n", "0": "/bin/sh" })) this.#variables.set(name, [value]);
    for (const name of ["!", "$", "?", "#", "-", "@", "*", "_", "OLDPWD", "RANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "UID", "EUID", "PPID", "BASHPID", "HOSTNAME", "REPLY", "TMPDIR", "USER", "LOGNAME"]) {
      if (!this.#variables.has(name)) this.#variables.set(name, undefined);
    }
  }

  /** A subshell's own copy. */
  copy(): Scope {
    const copy = new Scope({ home: this.home, cwd: this.cwd ?? "/", environment: {} }, this.outputOf);
    copy.cwd = this.cwd;
    copy.#variables.clear();
    for (const [name, values] of this.#variables) copy.#variables.set(name, values);
    copy.#closed = this.#closed;
    return copy;
  }

  /** undefined = unknown from now on. */
  set(name: string, values: string[] | undefined): void {
    this.#variables.set(name, values);
  }

  /** Code that can't be seen may have set anything. */
  openUp(): void {
    this.#closed = false;
    this.cwd = undefined;
  }

  resolve(path: string): string | undefined {
    if (path.startsWith("/")) return posix.normalize(path);
    return this.cwd === undefined ? undefined : posix.join(this.cwd, path);
  }

  expand(words: readonly Word[]): Argument[] {
    return words.flatMap((word) => {
      const pieces = bracesOf(word);
      const fields = pieces.flatMap((piece) => this.#fields(piece));
      return pieces.length === 1 ? fields : fields.map((field) => ({ ...field, literal: false }));
    });
  }

  /** Every text that the parts can be, without splitting; undefined when unknown. */
  textsOf(parts: readonly Part[]): string[] | undefined {
    let texts: string[] = [""];
    for (const part of parts) {
      const values = this.#valuesOf(part);
      if (values === undefined) return undefined;
      texts = texts.flatMap((text) => values.map((value) => text + value)).slice(0, valuesMax);
      // A text that grows with each assignment would not end.
      if (texts.some((text) => text.length > textCharsMax)) return undefined;
    }
    return texts;
  }

  #fields(word: Word): Argument[] {
    const parts = this.#withHome(word.parts);
    const literal = word.parts.every((part) => part.kind === "text" && (part.quoted || !/[*?[\]{}~]/.test(part.text)));
    const pattern = word.parts.some((part) => part.kind === "text" && !part.quoted && /[*?[]/.test(part.text));
    const texts = this.textsOf(parts);
    const shape = parts.map((part) => this.#valuesOf(part)?.[0] ?? "").join("");
    if (texts === undefined) return [{ values: [], shape, literal: false, pattern }];
    const splits = parts.some(isSplit);
    if (!splits || texts.length !== 1) return [{ values: texts, shape, literal, pattern }];
    return this.#split(parts).map((text) => ({ values: [text], shape: text, literal: false, pattern: pattern || /[*?[]/.test(text) }));
  }

  /** Unquoted values fall apart at blanks; what is then empty is no argument. */
  #split(parts: readonly Part[]): string[] {
    const fields: string[] = [];
    let field: string | undefined;
    for (const part of parts) {
      const text = this.#valuesOf(part)?.[0] ?? "";
      if (!isSplit(part)) {
        field = (field ?? "") + text;
        continue;
      }
      for (const [index, piece] of text.split(/[ \t\n]+/).entries()) {
        if (index > 0) {
          if (field !== undefined) fields.push(field);
          field = undefined;
        }
        if (piece !== "") field = (field ?? "") + piece;
      }
    }
    if (field !== undefined) fields.push(field);
    return fields;
  }

  /** A leading unquoted `~`, also of `NAME=~`. */
  #withHome(parts: readonly Part[]): readonly Part[] {
    const [first, ...rest] = parts;
    if (first?.kind !== "text" || first.quoted) return parts;
    const [, name, after] = /^~([A-Za-z0-9_.+-]*)(\/[\s\S]*|$)/.exec(first.text) ?? [];
    if (name === undefined || (after === "" && rest.length > 0 && !(rest[0]?.kind === "text" && rest[0].text.startsWith("/")))) return parts;
    const folder = name === "" || name === posix.basename(this.home) ? this.home : name === "root" ? rootHome : name === "+" ? this.cwd : undefined;
    if (folder === undefined) return parts;
    return [{ ...first, text: folder + (after ?? ""), quoted: true }, ...rest];
  }

  #valuesOf(part: Part): string[] | undefined {
    if (part.kind === "text") return [part.text];
    if (part.kind === "substitution") {
      if (part.process) return undefined;
      const output = this.outputOf(part.code, this);
      return output === undefined ? undefined : [output.replace(/\n+$/, "")];
    }
    const known = this.#variables.has(part.name);
    const values = known || !this.#closed || part.name === "" ? this.#variables.get(part.name) : [""];
    const isSet = values !== undefined && values.some((value) => value !== "");
    if (part.plain) return values;
    if (/^:?[-=]$/.test(part.operator)) return isSet ? values : values === undefined && known ? undefined : this.textsOf(part.inner);
    if (/^:?\+$/.test(part.operator)) return isSet ? this.textsOf(part.inner) : values;
    return undefined;
  }
}

/** `"$@"` is several arguments also in quotes. */
function isSplit(part: Part): boolean {
  return part.kind !== "text" && (!part.quoted || (part.kind === "variable" && part.name === "@"));
}

const valuesMax = 16;
const textCharsMax = 1_000_000;
const rootHome = posix.join("/", "root");

/** `{a,b}` as the shells that know it read it. */
function bracesOf(word: Word): Word[] {
  const [part] = word.parts;
  if (word.parts.length !== 1 || part?.kind !== "text" || part.quoted) return [word];
  const done: string[] = [];
  const open = [part.text];
  for (let text = open.pop(); text !== undefined && done.length < bracesMax; text = open.pop()) {
    const [, before, list, after] = /^([^{}]*)\{([^{}]*,[^{}]*)\}([\s\S]*)$/.exec(text) ?? [];
    if (list === undefined) done.push(text);
    else open.push(...list.split(",").slice(0, bracesMax).map((each) => `${before}${each}${after}`).toReversed());
  }
  return done.map((text) => ({ kind: "word", parts: [{ ...part, text }] }));
}

const bracesMax = 64;
