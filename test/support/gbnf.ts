// A random sampler over GBNF grammars, written from llama.cpp's grammar notation: rules, literals, character classes,
// groups, alternatives and repetitions. It knows nothing of how the product makes its grammars.

type Node =
  | { kind: "literal"; text: string }
  | { kind: "class"; negated: boolean; ranges: [number, number][] }
  | { kind: "rule"; name: string }
  | { kind: "sequence"; parts: Node[] }
  | { kind: "choice"; options: Node[] }
  | { kind: "repeat"; node: Node; least: number; most: number };

export interface Grammar {
  rules: Map<string, Node>;
}

export type Random = () => number;

/** A small generator with a seed, so that a failure can be repeated. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** @throws Error at anything that is not GBNF, and at references to rules that are not there. */
export function parseGbnf(text: string): Grammar {
  const rules = new Map<string, Node>();
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const match = /^([a-zA-Z][a-zA-Z0-9-]*) ::= (.*)$/s.exec(line);
    if (!match) throw new Error(`no rule: ${line}`);
    const [, name = "", body = ""] = match;
    if (rules.has(name)) throw new Error(`rule ${name} is there twice`);
    const parser = new Parser(body);
    rules.set(name, parser.choice());
    parser.expectEnd();
  }
  for (const node of rules.values()) checkReferences(node, rules);
  if (!rules.has("root")) throw new Error("no root rule");
  return { rules };
}

/** One random text of the grammar; repetitions without an end are kept short. */
export function sample(grammar: Grammar, random: Random, rule = "root"): string {
  const node = grammar.rules.get(rule);
  if (!node) throw new Error(`no rule ${rule}`);
  return sampleNode(node, grammar, random);
}

function sampleNode(node: Node, grammar: Grammar, random: Random): string {
  switch (node.kind) {
    case "literal":
      return node.text;
    case "class":
      return sampleClass(node, random);
    case "rule":
      return sample(grammar, random, node.name);
    case "sequence":
      return node.parts.map((part) => sampleNode(part, grammar, random)).join("");
    case "choice": {
      const option = node.options[Math.floor(random() * node.options.length)];
      return option ? sampleNode(option, grammar, random) : "";
    }
    case "repeat": {
      const most = Math.min(node.most, node.least + 8);
      const count = node.least + Math.floor(random() * (most - node.least + 1));
      return Array.from({ length: count }, () => sampleNode(node.node, grammar, random)).join("");
    }
  }
}

/** Whether the grammar accepts exactly this text. */
export function accepts(grammar: Grammar, text: string): boolean {
  const characters = [...text];
  const known = new Map<string, ReadonlySet<number>>();
  const ends = (node: Node, at: number): ReadonlySet<number> => {
    switch (node.kind) {
      case "literal":
        return new Set(characters.slice(at, at + [...node.text].length).join("") === node.text ? [at + [...node.text].length] : []);
      case "class": {
        const code = characters[at]?.codePointAt(0);
        const inside = code !== undefined && node.ranges.some(([low, high]) => code >= low && code <= high);
        return new Set(code !== undefined && inside !== node.negated ? [at + 1] : []);
      }
      case "rule": {
        const key = `${node.name} ${at}`;
        const before = known.get(key);
        if (before) return before;
        const body = grammar.rules.get(node.name);
        const found = body ? ends(body, at) : new Set<number>();
        known.set(key, found);
        return found;
      }
      case "sequence":
        return node.parts.reduce<ReadonlySet<number>>((starts, part) => new Set([...starts].flatMap((start) => [...ends(part, start)])), new Set([at]));
      case "choice":
        return new Set(node.options.flatMap((option) => [...ends(option, at)]));
      case "repeat": {
        const found = new Set<number>(node.least === 0 ? [at] : []);
        let starts: ReadonlySet<number> = new Set([at]);
        for (let count = 1; count <= node.most && starts.size > 0; count += 1) {
          starts = new Set([...starts].flatMap((start) => [...ends(node.node, start)]));
          if (count >= node.least) for (const start of starts) found.add(start);
          if (count > characters.length + node.least) break;
        }
        return found;
      }
    }
  };
  return ends({ kind: "rule", name: "root" }, 0).has(characters.length);
}

const probes = [0x20, 0x22, 0x2f, 0x41, 0x5c, 0x7f, 0xe9, 0x2028, 0x4e2d, 0xfffd, 0x1f600, 0x10ffff];

function sampleClass(node: Extract<Node, { kind: "class" }>, random: Random): string {
  const inside = (code: number): boolean => node.ranges.some(([low, high]) => code >= low && code <= high);
  if (!node.negated) {
    const [low, high] = node.ranges[Math.floor(random() * node.ranges.length)] ?? [0x41, 0x41];
    return String.fromCodePoint(low + Math.floor(random() * (high - low + 1)));
  }
  for (;;) {
    const code = random() < 0.3 ? (probes[Math.floor(random() * probes.length)] ?? 0x41) : 0x20 + Math.floor(random() * 0x60);
    if (!inside(code)) return String.fromCodePoint(code);
  }
}

function checkReferences(node: Node, rules: Map<string, Node>): void {
  if (node.kind === "rule" && !rules.has(node.name)) throw new Error(`rule ${node.name} is not there`);
  if (node.kind === "sequence") for (const part of node.parts) checkReferences(part, rules);
  if (node.kind === "choice") for (const option of node.options) checkReferences(option, rules);
  if (node.kind === "repeat") checkReferences(node.node, rules);
}

class Parser {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  choice(): Node {
    const options = [this.#sequence()];
    while (this.#accept("|")) options.push(this.#sequence());
    return options.length === 1 && options[0] ? options[0] : { kind: "choice", options };
  }

  expectEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new Error(`unexpected at ${this.#at}: ${this.#text.slice(this.#at, this.#at + 40)}`);
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      this.#skipSpace();
      const next = this.#text[this.#at];
      if (next === undefined || next === "|" || next === ")") break;
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: "sequence", parts };
  }

  #atom(): Node {
    const next = this.#text[this.#at];
    if (next === '"') return this.#literal();
    if (next === "[") return this.#class();
    if (next === "(") {
      this.#at += 1;
      const node = this.choice();
      if (!this.#accept(")")) throw new Error("group without an end");
      return node;
    }
    const match = /^[a-zA-Z][a-zA-Z0-9-]*/.exec(this.#text.slice(this.#at));
    if (!match) throw new Error(`unexpected: ${this.#text.slice(this.#at, this.#at + 40)}`);
    this.#at += match[0].length;
    return { kind: "rule", name: match[0] };
  }

  #repeated(node: Node): Node {
    const rest = this.#text.slice(this.#at);
    const braces = /^\{(\d+)(,(\d*))?\}/.exec(rest);
    if (braces) {
      this.#at += braces[0].length;
      const least = Number(braces[1]);
      const most = braces[2] === undefined ? least : braces[3] === "" ? Infinity : Number(braces[3]);
      if (most < least) throw new Error(`repetition ${braces[0]}`);
      return { kind: "repeat", node, least, most };
    }
    const sign = rest[0];
    if (sign !== "*" && sign !== "+" && sign !== "?") return node;
    this.#at += 1;
    return { kind: "repeat", node, least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : Infinity };
  }

  #literal(): Node {
    let text = "";
    this.#at += 1;
    while (this.#text[this.#at] !== '"') text += String.fromCodePoint(this.#character());
    this.#at += 1;
    return { kind: "literal", text };
  }

  #class(): Node {
    this.#at += 1;
    const negated = this.#text[this.#at] === "^";
    if (negated) this.#at += 1;
    const ranges: [number, number][] = [];
    while (this.#text[this.#at] !== "]") {
      const low = this.#character();
      let high = low;
      if (this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]") {
        this.#at += 1;
        high = this.#character();
      }
      ranges.push([low, high]);
    }
    this.#at += 1;
    return { kind: "class", negated, ranges };
  }

  #character(): number {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw new Error("text without an end");
    this.#at += code > 0xffff ? 2 : 1;
    if (code !== 0x5c) return code;
    const escape = this.#text[this.#at] ?? "";
    this.#at += 1;
    const simple: Record<string, number> = { n: 10, r: 13, t: 9, '"': 0x22, "\\": 0x5c, "[": 0x5b, "]": 0x5d };
    if (escape in simple) return simple[escape] ?? 0;
    const width = { x: 2, u: 4, U: 8 }[escape];
    if (width === undefined) throw new Error(`escape \\${escape}`);
    const hex = this.#text.slice(this.#at, this.#at + width);
    if (!new RegExp(`^[0-9a-fA-F]{${width}}$`).test(hex)) throw new Error(`escape \\${escape}${hex}`);
    this.#at += width;
    return Number.parseInt(hex, 16);
  }

  #accept(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === " ") this.#at += 1;
  }
}
