// Runs a Jinja template with bounds: steps, characters and list lengths. A template comes with a model file, so it is
// foreign code: it may loop, print without end, or be wrong. Must not know what a chat is.
import { Environment, Interpreter, parse, tokenize } from "@huggingface/jinja";
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";

type Program = ReturnType<typeof parse>;
type Value = ReturnType<Interpreter["evaluate"]>;

const rangeMax = 10_000;
const programs = new Map<string, Program | UselessTemplate>();
const programsMax = 8;

/** A bound was met, or the template can't be read: another chat would not help. */
export class UselessTemplate extends Error {}

/** @throws UselessTemplate, or Error with what the template has against this chat; one line: the template's own complaint, its syntax error with the line, or the bound it met */
export function runTemplate(template: string, variables: Record<string, unknown>): string {
  const environment = new Environment();
  const globals = { false: false, true: true, none: null, False: false, True: true, None: null };
  for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value);
  environment.set("raise_exception", (message: unknown) => {
    throw new Error(`it says: ${messageOf(message)}`);
  });
  environment.set("range", boundedRange);
  environment.set("strftime_now", (format: string) => formatDate(new Date(), format));
  const result = new BoundedInterpreter(environment).run(compile(template)).value;
  if (typeof result !== "string") throw new Error("it renders no text");
  return result;
}

class BoundedInterpreter extends Interpreter {
  private steps = 0;
  private depth = 0;
  private characters = 0;
  private readonly deadline = performance.now() + limits.templateMs;
  private readonly cpuAtStart = process.cpuUsage();

  override evaluate(...[statement, environment]: Parameters<Interpreter["evaluate"]>): Value {
    if (++this.steps > limits.templateStepsMax) throw new UselessTemplate(`it takes more than ${limits.templateStepsMax} steps`);
    if (performance.now() > this.deadline && this.cpuMs() > limits.templateMs) throw new UselessTemplate(`it takes longer than ${limits.templateMs} ms`);
    if (++this.depth > limits.templateDepthMax) throw new UselessTemplate(`it is nested more than ${limits.templateDepthMax} deep`);
    const value = super.evaluate(statement, environment);
    this.depth--;
    // A loop over a list that was made may have an empty body, so that the list is all that shows of it.
    if (statement?.type === "CallExpression" && Array.isArray(value.value)) this.steps += value.value.length;
    if (typeof value.value === "string") this.characters += value.value.length;
    if (this.characters > limits.templateCharsMax) throw new UselessTemplate(`it makes more than ${limits.templateCharsMax} characters`);
    return value;
  }

  /** Time that was worked: a template is not to blame for a machine that is busy with something else. */
  private cpuMs(): number {
    const { system, user } = process.cpuUsage(this.cpuAtStart);
    return (system + user) / 1000;
  }
}

function compile(template: string): Program {
  let program = programs.get(template);
  if (program === undefined) {
    program = parseTemplate(template);
    if (programs.size >= programsMax) programs.clear();
    programs.set(template, program);
  }
  if (program instanceof UselessTemplate) throw program;
  return program;
}

function parseTemplate(template: string): Program | UselessTemplate {
  if (template.length > limits.templateCharsMax) return new UselessTemplate(`it is longer than ${limits.templateCharsMax} characters`);
  const seen = { furthest: 0 };
  try {
    // The parser tells no places: which token it looked at last tells the line.
    const tokens = new Proxy(lex(template), {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) seen.furthest = Math.max(seen.furthest, Number(key));
        return Reflect.get(target, key) as unknown;
      },
    });
    return parse(tokens);
  } catch (error) {
    return new UselessTemplate(`syntax error in line ${lineOf(template, seen.furthest, messageOf(error))}: ${messageOf(error)}`);
  }
}

function lex(template: string): ReturnType<typeof tokenize> {
  return tokenize(template, { lstrip_blocks: true, trim_blocks: true });
}

/** First line at whose end the tokens up to `token` are there, or the lexer complains as it does about the whole. */
function lineOf(template: string, token: number, complaint: string): number {
  const lines = template.split("\n");
  const linesTried = Math.min(lines.length, 1000);
  for (let line = 1; line < linesTried; line++) {
    try {
      if (token > 0 && lex(lines.slice(0, line).join("\n")).length > token) return line;
    } catch (error) {
      if (token === 0 && messageOf(error) === complaint) return line;
    }
  }
  return lines.length;
}

function boundedRange(...bounds: number[]): number[] {
  const [start, stop, step] = bounds.length < 2 ? [0, bounds[0] ?? 0, 1] : [bounds[0] ?? 0, bounds[1] ?? 0, bounds[2] ?? 1];
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= rangeMax)) throw new UselessTemplate(`it makes a list of more than ${rangeMax} numbers`);
  return Array.from({ length }, (_, index) => start + index * step);
}

function formatDate(date: Date, format: string): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const named = (options: Intl.DateTimeFormatOptions): string => new Intl.DateTimeFormat("en", options).format(date);
  const parts: Record<string, string> = {
    Y: String(date.getFullYear()),
    m: two(date.getMonth() + 1),
    d: two(date.getDate()),
    H: two(date.getHours()),
    M: two(date.getMinutes()),
    S: two(date.getSeconds()),
    b: named({ month: "short" }),
    B: named({ month: "long" }),
    a: named({ weekday: "short" }),
    A: named({ weekday: "long" }),
    "%": "%",
  };
  return format.replace(/%-?([A-Za-z%])/g, (whole, key: string) => (whole.startsWith("%-") ? parts[key]?.replace(/^0/, "") : parts[key]) ?? whole);
}
