// A shell's command line as tokens: words made of parts, operators, redirections with their here-documents. Where it can't
// be read, the lexer notes the problem and goes on with what is there: an earlier line runs before the shell sees a fault.
import { balancedEnd, backtickEnd, doubleQuotedEnd, unescapeAnsi } from "./quoting.ts";

export type Part =
  | { kind: "text"; text: string; quoted: boolean }
  /** `inner` = what stands after the name in braces, such as a default; `plain` when there is nothing. */
  | { kind: "variable"; name: string; quoted: boolean; plain: boolean; operator: string; inner: Part[] }
  /** Code of `$(…)`, backticks, and `<(…)` or `>(…)`, which gives the name of a pipe. */
  | { kind: "substitution"; code: string; quoted: boolean; process: boolean };

export interface Word {
  kind: "word";
  parts: Part[];
}

export interface Redirection {
  kind: "redirection";
  operator: string;
  target: Word;
  /** Text of a here-document. */
  body?: Part[];
}

export interface Operator {
  kind: "operator";
  text: string;
}

export type Token = Word | Redirection | Operator;

export interface Tokens {
  tokens: Token[];
  /** Why the line can't be read for sure, in words. */
  problems: string[];
}

export function tokensOf(source: string): Tokens {
  return new Lexer(source.replaceAll("\\\n", "")).read();
}

/** Parts of a text in which only `$` and backticks mean something, as between double quotes. */
export function expandableParts(text: string, problems: string[]): Part[] {
  const lexer = new Lexer(text);
  const parts = lexer.quotedParts(text.length, false);
  problems.push(...lexer.problems);
  return parts;
}

const plainText = /[^ \t\r\n;&|()<>'"\\$`]+/y;
const operators = [";;&", "&&", "||", ";;", ";&", "|&", "\n", ";", "&", "|", "(", ")"];
const redirections = ["&>>", "<<<", "<<-", "&>", "<<", ">>", ">|", "<>", ">&", "<&", ">", "<"];

class Lexer {
  readonly problems: string[] = [];
  readonly #source: string;
  readonly #tokens: Token[] = [];
  readonly #documents: { redirection: Redirection; end: string; literal: boolean; indented: boolean }[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Tokens {
    while (this.#at < this.#source.length) {
      if (this.#skipBlanks()) continue;
      if (this.#redirection()) continue;
      const operator = operators.find((text) => this.#source.startsWith(text, this.#at));
      if (operator !== undefined) {
        this.#at += operator.length;
        this.#tokens.push({ kind: "operator", text: operator });
        if (operator === "\n") this.#readDocuments();
      } else this.#tokens.push(this.#word());
    }
    if (this.#documents.length > 0) this.#readDocuments();
    return { tokens: this.#tokens, problems: this.problems };
  }

  #skipBlanks(): boolean {
    if (!" \t\r#".includes(this.#source[this.#at] ?? "x")) return false;
    const [blank] = /^(?:[ \t\r]+|#[^\n]*)/.exec(this.#source.slice(this.#at, this.#at + 4096)) ?? [""];
    if (blank.startsWith("#")) {
      const end = this.#source.indexOf("\n", this.#at);
      this.#at = end < 0 ? this.#source.length : end;
    } else this.#at += blank.length;
    return blank !== "";
  }

  #redirection(): boolean {
    if (!/[0-9<>&]/.test(this.#source[this.#at] ?? "")) return false;
    const [descriptor] = /^[0-9]{0,4}(?=[<>])/.exec(this.#source.slice(this.#at, this.#at + 6)) ?? [""];
    const operator = redirections.find((text) => this.#source.startsWith(text, this.#at + descriptor.length));
    const after = this.#at + descriptor.length + (operator?.length ?? 0);
    if (operator === undefined || ((operator === "<" || operator === ">") && descriptor === "" && this.#source[after] === "(")) return false;
    this.#at = after;
    while (this.#source[this.#at] === " " || this.#source[this.#at] === "\t") this.#at++;
    const target = this.#word();
    if (target.parts.length === 0) this.problems.push(`nothing stands after ${operator}`);
    const redirection: Redirection = { kind: "redirection", operator, target };
    this.#tokens.push(redirection);
    if (operator === "<<" || operator === "<<-") {
      const end = target.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      const literal = target.parts.some((part) => part.kind === "text" && part.quoted);
      this.#documents.push({ redirection, end, literal, indented: operator === "<<-" });
    }
    return true;
  }

  #readDocuments(): void {
    for (const { redirection, end, literal, indented } of this.#documents.splice(0)) {
      const lines: string[] = [];
      let closed = false;
      while (!closed && this.#at < this.#source.length) {
        const lineEnd = this.#source.indexOf("\n", this.#at);
        const line = this.#source.slice(this.#at, lineEnd < 0 ? undefined : lineEnd);
        this.#at = lineEnd < 0 ? this.#source.length : lineEnd + 1;
        const bare = indented ? line.replace(/^\t+/, "") : line;
        closed = bare === end;
        if (!closed) lines.push(bare);
      }
      if (!closed) this.problems.push(`the here-document ${end} has no end`);
      const text = `${lines.join("\n")}\n`;
      redirection.body = literal ? [{ kind: "text", text, quoted: true }] : expandableParts(text, this.problems);
    }
  }

  #word(): Word {
    const parts: Part[] = [];
    while (this.#at < this.#source.length) {
      const character = this.#source[this.#at] ?? "";
      if (/[ \t\r\n;&|()]/.test(character)) break;
      if (character === "<" || character === ">") {
        if (this.#source[this.#at + 1] !== "(") break;
        parts.push(this.#substitution(this.#at + 2, false, true));
      } else if (character === "'") parts.push(this.#singleQuoted());
      else if (character === '"') parts.push(...this.#doubleQuoted());
      else if (character === "\\") {
        parts.push({ kind: "text", text: this.#source[this.#at + 1] ?? "", quoted: true });
        this.#at += 2;
      } else if (character === "$") parts.push(this.#dollar(false));
      else if (character === "`") parts.push(this.#backticks(false));
      else parts.push(this.#plain());
    }
    return { kind: "word", parts };
  }

  #plain(): Part {
    plainText.lastIndex = this.#at;
    const [text] = plainText.exec(this.#source) ?? [this.#source[this.#at] ?? ""];
    this.#at += text.length;
    return { kind: "text", text, quoted: false };
  }

  #singleQuoted(): Part {
    const end = this.#source.indexOf("'", this.#at + 1);
    if (end < 0) this.problems.push("a quote ' is not closed");
    const text = this.#source.slice(this.#at + 1, end < 0 ? undefined : end);
    this.#at = end < 0 ? this.#source.length : end + 1;
    return { kind: "text", text, quoted: true };
  }

  #doubleQuoted(): Part[] {
    const end = doubleQuotedEnd(this.#source, this.#at + 1);
    if (end === undefined) this.problems.push('a quote " is not closed');
    this.#at++;
    const parts = this.quotedParts(end ?? this.#source.length, true);
    this.#at = end === undefined ? this.#source.length : end + 1;
    return parts.length > 0 ? parts : [{ kind: "text", text: "", quoted: true }];
  }

  /** @param escapesQuote whether a backslash takes the meaning of `"` as well. */
  quotedParts(end: number, escapesQuote: boolean): Part[] {
    const parts: Part[] = [];
    let text = "";
    const flush = (): void => {
      if (text !== "") parts.push({ kind: "text", text, quoted: true });
      text = "";
    };
    while (this.#at < end) {
      const character = this.#source[this.#at] ?? "";
      const next = this.#source[this.#at + 1] ?? "";
      if (character === "\\" && ("$`\\\n".includes(next) || (escapesQuote && next === '"'))) {
        text += next === "\n" ? "" : next;
        this.#at += 2;
      } else if (character === "$" || character === "`") {
        flush();
        parts.push(character === "$" ? this.#dollar(true) : this.#backticks(true));
      } else {
        text += character;
        this.#at++;
      }
    }
    flush();
    return parts;
  }

  #dollar(quoted: boolean): Part {
    const rest = this.#source.slice(this.#at, this.#at + 256);
    if (rest.startsWith("$(")) return this.#substitution(this.#at + 2, quoted, false);
    if (rest.startsWith("${")) return this.#braced(quoted);
    if (!quoted && rest.startsWith("$'")) return this.#ansiQuoted();
    if (!quoted && rest.startsWith('$"')) {
      this.#at++;
      return this.#doubleQuoted()[0] ?? { kind: "text", text: "", quoted: true };
    }
    const [whole, name] = /^\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])/.exec(rest) ?? [];
    this.#at += whole?.length ?? 1;
    if (name === undefined) return { kind: "text", text: "$", quoted: true };
    return { kind: "variable", name, quoted, plain: true, operator: "", inner: [] };
  }

  #braced(quoted: boolean): Part {
    const start = this.#at + 2;
    const end = balancedEnd(this.#source, start, "{", "}");
    if (end === undefined) this.problems.push("${ is not closed");
    const content = this.#source.slice(start, end);
    this.#at = end === undefined ? this.#source.length : end + 1;
    const [, name = "", operator = "", rest = ""] = /^([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]+)?(:?[-=+?]|[#%/^,:@[]+)?([\s\S]*)$/.exec(content) ?? [];
    const inner = rest === "" ? [] : expandableParts(rest.replace(/['"]/g, ""), this.problems);
    return { kind: "variable", name, quoted, plain: operator === "" && rest === "", operator, inner };
  }

  #ansiQuoted(): Part {
    const end = /^(?:[^'\\]|\\[\s\S])*/.exec(this.#source.slice(this.#at + 2))?.[0].length ?? 0;
    const text = this.#source.slice(this.#at + 2, this.#at + 2 + end);
    if (this.#source[this.#at + 2 + end] !== "'") this.problems.push("a quote $' is not closed");
    this.#at += end + 3;
    return { kind: "text", text: unescapeAnsi(text), quoted: true };
  }

  #substitution(start: number, quoted: boolean, process: boolean): Part {
    const end = balancedEnd(this.#source, start, "(", ")");
    if (end === undefined) this.problems.push("( is not closed");
    const code = this.#source.slice(start, end);
    this.#at = end === undefined ? this.#source.length : end + 1;
    const arithmetic = !process && code.startsWith("(") && code.endsWith(")");
    if (!arithmetic) return { kind: "substitution", code, quoted, process };
    return { kind: "variable", name: "", quoted, plain: false, operator: "((", inner: expandableParts(code.slice(1, -1), this.problems) };
  }

  #backticks(quoted: boolean): Part {
    const end = backtickEnd(this.#source, this.#at + 1);
    if (end === undefined) this.problems.push("a backtick is not closed");
    const code = this.#source.slice(this.#at + 1, end).replace(/\\([`\\$])/g, "$1");
    this.#at = end === undefined ? this.#source.length : end + 1;
    return { kind: "substitution", code, quoted, process: false };
  }
}
