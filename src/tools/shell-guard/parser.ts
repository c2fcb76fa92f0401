// The simple commands of a shell line, in order, whatever stands around them: lists, pipes, groups, loops, conditions,
// functions. What a command does is no matter here.
import { type Redirection, type Token, tokensOf, type Word } from "./lexer.ts";

export interface Command {
  words: Word[];
  /** `NAME=value` before the program, or the values that a loop's variable takes. */
  assignments: { name: string; values: Word[] }[];
  redirections: Redirection[];
  /** Its standard input comes from the command before it. */
  piped: boolean;
  /** Its standard output goes to the command after it. */
  pipes: boolean;
  background: boolean;
  /** The function in whose body it stands. */
  inFunction?: string;
}

export interface Script {
  commands: Command[];
  problems: string[];
  /** More than a list or pipe of simple commands. */
  compound: boolean;
  background: boolean;
}

export function parseScript(source: string): Script {
  const { tokens, problems } = tokensOf(source);
  return new Parser(tokens, problems).parse();
}

/** The word's text when it is only unquoted text, such as a reserved word or a name. */
export function bareText(token: Token | undefined): string | undefined {
  if (token?.kind !== "word") return undefined;
  const [part] = token.parts;
  return token.parts.length === 1 && part?.kind === "text" && !part.quoted ? part.text : undefined;
}

const skipped = new Set(["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!"]);

class Parser {
  readonly #tokens: readonly Token[];
  readonly #script: Script;
  readonly #groups: { close: string; inFunction?: string }[] = [];
  #cases = 0;
  #functionName: string | undefined;
  #at = 0;
  #current: Command | undefined;
  #piped = false;

  constructor(tokens: readonly Token[], problems: string[]) {
    this.#tokens = tokens;
    this.#script = { commands: [], problems, compound: false, background: false };
  }

  parse(): Script {
    while (this.#at < this.#tokens.length) this.#next();
    this.#endCommand();
    if (this.#groups.length > 0) this.#script.problems.push(`${this.#groups.at(-1)?.close} is missing`);
    return this.#script;
  }

  #next(): void {
    const token = this.#tokens[this.#at++];
    if (token === undefined) return;
    if (token.kind === "redirection") this.#command().redirections.push(token);
    else if (token.kind === "operator") this.#operator(token.text);
    else this.#word(token);
  }

  #command(): Command {
    if (this.#current) return this.#current;
    const inFunction = this.#groups.findLast((group) => group.inFunction !== undefined)?.inFunction;
    this.#current = { words: [], assignments: [], redirections: [], piped: this.#piped, pipes: false, background: false, ...(inFunction === undefined ? {} : { inFunction }) };
    this.#script.commands.push(this.#current);
    this.#piped = false;
    return this.#current;
  }

  #endCommand(): void {
    this.#current = undefined;
  }

  #operator(text: string): void {
    if (text === "(") return this.#openParenthesis();
    if (text === ")") {
      this.#endCommand();
      if (this.#groups.at(-1)?.close === ")") this.#groups.pop();
      else this.#script.problems.push(") has no (");
      return;
    }
    const last = this.#script.commands.at(-1);
    if (text === "&") {
      this.#script.background = true;
      for (let at = this.#script.commands.length - 1; at >= 0; at--) {
        const command = this.#script.commands[at];
        if (command) command.background = true;
        if (!command?.piped) break;
      }
    }
    if (text === "|" || text === "|&") {
      this.#piped = true;
      if (last) last.pipes = true;
    }
    this.#endCommand();
    if (text.startsWith(";;") || text === ";&") this.#skipPatterns();
  }

  /** A subshell, or the parentheses of a function's definition. */
  #openParenthesis(): void {
    this.#script.compound = true;
    const next = this.#tokens[this.#at];
    const name = this.#current?.words.length === 1 ? bareText(this.#current.words[0]) : undefined;
    if (name !== undefined && next?.kind === "operator" && next.text === ")") {
      this.#at++;
      this.#functionName = name;
      this.#script.commands.pop();
    } else {
      if (this.#current && this.#current.words.length > 0) this.#script.problems.push("( stands where the guard expects none");
      this.#open(")");
    }
    this.#endCommand();
  }

  #open(close: string): void {
    const inFunction = this.#functionName;
    this.#groups.push({ close, ...(inFunction === undefined ? {} : { inFunction }) });
    this.#functionName = undefined;
  }

  #word(word: Word): void {
    const text = bareText(word);
    const atStart = !this.#current || (this.#current.words.length === 0 && this.#current.assignments.length === 0);
    if (atStart && text !== undefined && this.#reserved(text)) return;
    const command = this.#command();
    const assignment = command.words.length === 0 ? assignmentOf(word) : undefined;
    if (assignment) command.assignments.push(assignment);
    else command.words.push(word);
  }

  #reserved(text: string): boolean {
    if (skipped.has(text)) this.#script.compound = true;
    else if (text === "{") this.#open("}");
    else if (text === "}" && this.#groups.at(-1)?.close === "}") this.#groups.pop();
    else if (text === "for" || text === "select") this.#loop();
    else if (text === "case") this.#case();
    else if (text === "esac" && this.#cases > 0) this.#cases--;
    else if (text === "function") this.#functionName = bareText(this.#tokens[this.#at++]);
    else return false;
    this.#script.compound = true;
    return true;
  }

  #loop(): void {
    const name = bareText(this.#tokens[this.#at++]) ?? "";
    if (bareText(this.#tokens[this.#at]) !== "in") return;
    this.#at++;
    const values: Word[] = [];
    for (let token = this.#tokens[this.#at]; token?.kind === "word"; token = this.#tokens[++this.#at]) values.push(token);
    this.#command().assignments.push({ name, values });
    this.#endCommand();
  }

  #case(): void {
    const subject = this.#tokens[this.#at];
    if (subject?.kind === "word") this.#command().assignments.push({ name: "", values: [subject] });
    this.#endCommand();
    while (this.#at < this.#tokens.length && bareText(this.#tokens[this.#at]) !== "in") this.#at++;
    this.#at++;
    this.#cases++;
    this.#skipPatterns();
  }

  /** Up to the `)` behind the patterns of a clause, or to `esac`. */
  #skipPatterns(): void {
    if (this.#cases === 0) return void this.#script.problems.push(";; stands outside of case");
    for (; this.#at < this.#tokens.length; this.#at++) {
      const token = this.#tokens[this.#at];
      if (bareText(token) === "esac") return;
      if (token?.kind === "operator" && token.text === ")") {
        this.#at++;
        return;
      }
    }
    this.#script.problems.push("case has no end");
  }
}

function assignmentOf(word: Word): { name: string; values: Word[] } | undefined {
  const [first, ...rest] = word.parts;
  if (first?.kind !== "text" || first.quoted) return undefined;
  const [, name, text = ""] = /^([A-Za-z_][A-Za-z0-9_]*)\+?=([\s\S]*)$/.exec(first.text) ?? [];
  if (name === undefined) return undefined;
  return { name, values: [{ kind: "word", parts: text === "" ? rest : [{ ...first, text }, ...rest] }] };
}
