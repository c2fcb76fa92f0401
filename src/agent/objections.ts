// Why a call of a small model must not run as it is: it would do something else than the model means. What may be meant after
// all is said once and then runs.
import type { ToolCall } from "../core/message.ts";
import { isTestName, mentionedFiles } from "../core/named-files.ts";
import type { Tool, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";
import { fileObjection } from "./file-objections.ts";
import { isFix } from "./fix-stage.ts";
import { asListItem } from "./list-form.ts";
import { markedArguments } from "./offer.ts";
import { folderWord } from "./offered-names.ts";
import { rootedName } from "./rooted-name.ts";
import type { Work } from "./work-plan.ts";

export interface ObjectionsState {
  request: string;
  names: WorkspaceNames | undefined;
  work: Work | undefined;
  /** Something was changed in this turn. */
  hasChanged: boolean;
}

export class Objections {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #view: WorkspaceView;
  /** Files that the model may write anew: made in this turn, or it was told what would be lost. */
  readonly #ownFiles = new Set<string>();
  readonly #doubted = new Set<string>();
  #otherRuns = 0;
  /** The request spoke of what an earlier call was about. */
  #hasBeenSaid = false;
  /** The last call was about something that the request does not speak of, after others that it does. */
  isStray = false;
  /** Files that were written as a whole in this turn. */
  readonly #wholeFiles = new Set<string>();
  /** What was put in the place of something, by file. */
  readonly #written = new Map<string, string[]>();
  /** Ids of calls that were refused with what to write instead. */
  readonly advised = new Set<string>();

  constructor(tools: readonly Tool[], view: WorkspaceView) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#view = view;
  }

  /** undefined when it may run. */
  async to(call: ToolCall, state: ObjectionsState): Promise<string | undefined> {
    this.isStray = false;
    const tool = this.#tools.get(call.name);
    const advice = tool && (tool.class === "shell" ? (rootedName(call, state.names, state.request) ?? vainCommand(call, state) ?? this.#otherRun(call, state)) : await this.#toChange(call, tool, state));
    if (advice !== undefined) this.advised.add(call.id);
    return advice;
  }

  async #toChange(call: ToolCall, tool: Tool, state: ObjectionsState): Promise<string | undefined> {
    const stray = this.#rewrite(call, tool, state) ?? (await this.#stray(call, tool, state));
    if (stray !== undefined) return stray;
    return this.#once(doubtOf(call, tool, state.names) ?? fileObjection(call, tool, state.request, state.names) ?? folderAsFile(call, tool, state) ?? testChanged(call, tool, state) ?? (await this.#plainItem(call, tool)) ?? (await this.#misplaced(call, tool, state)) ?? (await this.#ambiguous(call, tool, state)));
  }

  /** Of places that read the same a small model names none: the line above tells which one the request speaks of. */
  async #ambiguous({ arguments: args }: ToolCall, tool: Tool, { request }: ObjectionsState): Promise<string | undefined> {
    const [path, text] = tool.quotes && !tool.takesFolder ? [args[tool.quotes.file], args[tool.quotes.text]] : [];
    if (typeof path !== "string" || typeof text !== "string" || text.includes("\n") || text.trim() === "") return undefined;
    const lines = (await this.#view.exact(path))?.split(/\r?\n/) ?? [];
    const places = lines.flatMap((line, index) => (line.includes(text) ? [{ line, above: lines[index - 1] ?? "" }] : []));
    const shared = places.map(({ above }) => sharedWords(above, request));
    const most = Math.max(0, ...shared);
    if (places.length < 2 || most === 0 || shared.filter((count) => count === most).length > 1) return undefined;
    const meant = places[shared.indexOf(most)];
    return meant && `nothing was changed: this stands in ${path} ${places.length} times. For the one that the request speaks of write "oldText":${JSON.stringify(`${meant.above}\n${meant.line}`)}`;
  }

  /** Asked why a test fails a small model runs the code that it tests, which says nothing. */
  #otherRun({ arguments: args }: ToolCall, { names, request, work }: ObjectionsState): string | undefined {
    const test = mentionedFiles(request, names?.files ?? []).find(isTestName);
    const stem = test?.slice(test.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
    const isMeant = Object.values(args).some((value) => typeof value === "string" && (value.includes(stem ?? "") || /\btests?\b/.test(value)));
    if (test === undefined || isMeant || !work || !isFix(work) || this.#otherRuns >= otherRunsMax) return undefined;
    this.#otherRuns += 1;
    return `nothing was run: what is wrong is told by ${test}. Run ${test}`;
  }

  /** The whole of the file was before the model when it was asked for its new text. */
  allowRewrite(path: string): void {
    this.#ownFiles.add(path);
  }

  /** Takes a change that was made. */
  noteMade(call: ToolCall): void {
    const { arguments: args, name } = call;
    const tool = this.#tools.get(name);
    const parsed = tool?.rewrites && tool.schema.safeParse(args);
    const whole = parsed?.success ? tool?.rewrites?.(parsed.data) : undefined;
    if (whole) this.#wholeFiles.add(whole.path);
    const { quotes } = tool ?? {};
    const [path, text] = [quotes && args[quotes.file], args["newText"]];
    if (typeof path === "string" && typeof text === "string" && text.trim().length >= writtenCharsMin) this.#written.set(path, [...(this.#written.get(path) ?? []), text.trim()]);
  }

  /** A small model that has done what was asked changes it back. What is to be mended may need that. */
  #rewrite(call: ToolCall, tool: Tool, { work }: ObjectionsState): string | undefined {
    const { path: file } = call.arguments;
    if (typeof file === "string" && this.#wholeFiles.has(file) && tool.class === "write" && !tool.rewrites && work !== undefined && !isFix(work)) return this.#once(`nothing more was changed: you wrote the whole of ${file} in this turn. If it is as it is to be, tell the user what you did`);
    const [path, text] = tool.quotes ? [call.arguments[tool.quotes.file], call.arguments[tool.quotes.text]] : [];
    if (typeof path !== "string" || typeof text !== "string" || work === undefined || isFix(work)) return undefined;
    if (!this.#written.get(path)?.some((written) => text.includes(written) && !String(call.arguments["newText"]).includes(written))) return undefined;
    const objection = this.#once(`nothing more was changed: you wrote this in ${path} yourself. When all is done, tell the user what you did`);
    this.isStray = objection !== undefined;
    return objection;
  }

  /** A small model that has done what was asked goes on with what is next to it, or takes the wrong line at first. */
  async #stray(call: ToolCall, tool: Tool, { hasChanged, request }: ObjectionsState): Promise<string | undefined> {
    const about = markedArguments(tool, "asked").map((argument) => String(call.arguments[argument] ?? "")).find((value) => value.trim() !== "");
    if (about === undefined) return undefined;
    if (sharedWords(about, request) > 0 || speaksOf(request, about)) {
      this.#hasBeenSaid = true;
      return undefined;
    }
    if (hasChanged) return this.#hasBeenSaid ? this.#strayed(about) : undefined;
    const file = tool.quotes && call.arguments[tool.quotes.file];
    const near = typeof file === "string" ? spokenOf((await this.#view.lines(file)) ?? [], request.replaceAll(file, " ")) : [];
    return near.length === 0 ? undefined : this.#once(`nothing was changed: the request says nothing of this line. It speaks of what stands here: ${near.join(" / ")}`);
  }

  /** A small model adds the bare words of an item to a list. */
  async #plainItem({ arguments: { path, text } }: ToolCall, tool: Tool): Promise<string | undefined> {
    if (!tool.serves?.includes("append") || tool.isSpecial || typeof path !== "string" || typeof text !== "string") return undefined;
    const written = asListItem((await this.#view.lines(path)) ?? [], text);
    return written === undefined ? undefined : `nothing was added: ${path} ends with a list. To go on with it write ${JSON.stringify(written)}; for a text of its own write the same again`;
  }

  /** Asked for a first or last line a small model puts it below the first one of its kind. */
  async #misplaced({ arguments: { below, path } }: ToolCall, tool: Tool, { request }: ObjectionsState): Promise<string | undefined> {
    if (!tool.serves?.includes("insert") || typeof path !== "string" || typeof below !== "string") return undefined;
    if (below !== "" && /\b(?:first|top) line\b|\b(?:at|to) the (?:very )?(?:top|beginning|start)\b/i.test(request)) return 'nothing was added: it would not be first. For the top of the file write "below":""';
    if (!/\blast\b|\b(?:at|to) the end\b/i.test(request)) return undefined;
    const lines = (await this.#view.text(path))?.split("\n") ?? [];
    const at = lines.findIndex((line) => below.trim() !== "" && line.includes(below.trim()));
    const end = lines.findIndex((line, index) => index > at && line.trim() === "");
    const last = at < 0 ? undefined : lines.slice(0, end < 0 ? lines.length : end).at(-1);
    return last === undefined || last.includes(below.trim()) ? undefined : `nothing was added: it would not be last. The last line there is ${JSON.stringify(last)}`;
  }

  #strayed(about: string): string | undefined {
    const objection = this.#once(`nothing more was changed: the request says nothing of ${about}. Tell the user what you did before that`);
    this.isStray = objection !== undefined;
    return objection;
  }

  #once(doubt: string | undefined): string | undefined {
    if (doubt === undefined || this.#doubted.has(doubt)) return undefined;
    this.#doubted.add(doubt);
    return doubt;
  }

  /** A small model that should change a part of a file writes it anew and leaves out the rest. */
  async toLoss(call: ToolCall): Promise<string | undefined> {
    const tool = this.#tools.get(call.name);
    const parsed = tool?.schema.safeParse(call.arguments);
    const rewrite = parsed?.success ? tool?.rewrites?.(parsed.data) : undefined;
    if (!rewrite || this.#ownFiles.has(rewrite.path)) return undefined;
    this.#ownFiles.add(rewrite.path);
    const lines = (await this.#view.lines(rewrite.path)) ?? [];
    const kept = new Set(rewrite.content.split("\n").map((line) => line.trim()));
    const lost = lines.filter((line) => !kept.has(line.trim())).length;
    return lines.length < 2 || lost * 2 <= lines.length ? undefined : `nothing was written: ${lost} of the ${lines.length} lines that ${rewrite.path} has would be gone. To change a part of it use another tool; to replace it all write it again.`;
  }
}

const otherRunsMax = 3;
/** Shorter texts may stand anywhere. */
const writtenCharsMin = 3;

/** Without anything that the shell puts in. */
const printsOnly = /^\s*(?:echo|printf)\b[^|&;<>`$]*$/;

/** To answer a question by a command a small model has its own answer printed. */
function vainCommand({ arguments: args }: ToolCall, { request, work }: ObjectionsState): string | undefined {
  const isPrinting = Object.values(args).some((value) => typeof value === "string" && printsOnly.test(value));
  if (!isPrinting || work?.isChange !== false || /\b(?:echo|printf)\b/.test(request)) return undefined;
  return "nothing was run: it would print what you wrote yourself. Look into the files, or reply";
}

function doubtOf(call: ToolCall, tool: Tool, names: WorkspaceNames | undefined): string | undefined {
  const parsed = tool.schema.safeParse(call.arguments);
  return parsed.success && names ? tool.doubt?.(parsed.data, names) : undefined;
}

/** How many words of the text the request has too, whatever their endings; those that say nothing do not count. */
function sharedWords(text: string, request: string): number {
  const said = new Set(wordsOf(request).map(stemOf));
  return wordsOf(text).filter((word) => !isCommonWord(word) && said.has(stemOf(word))).length;
}

/** The lines that share most words with the request; none where they are many. */
function spokenOf(lines: readonly string[], request: string): string[] {
  const counts = lines.map((line) => ({ line: line.trim(), shared: sharedWords(line, request) }));
  const most = Math.max(0, ...counts.map(({ shared }) => shared));
  const near = counts.filter(({ shared }) => most > 0 && shared === most).map(({ line }) => line);
  return near.length > nearMax ? [] : near;
}

const nearMax = 3;

/** A sign or a short name, as it is written; of a line also the sign that it begins with. */
function speaksOf(request: string, text: string): boolean {
  const [, sign] = /^\s*([#;/*%@>!$&~|=+]+)/.exec(text) ?? [];
  return (sign !== undefined && request.includes(sign)) || new RegExp(`(?<![\\p{L}\\p{N}_])${RegExp.escape(text.trim())}(?![\\p{L}\\p{N}_])`, "u").test(request);
}

/** Asked for a folder a small model makes a file of that name. */
function folderAsFile({ arguments: { path } }: ToolCall, tool: Tool, { names, request }: ObjectionsState): string | undefined {
  if (tool.class !== "write" || typeof path !== "string" || names?.files.includes(path) || !isCalledFolder(path, request)) return undefined;
  return `nothing was written: the request calls ${path} a folder. What is put into it is moved or written to ${path}/NAME`;
}

function isCalledFolder(path: string, request: string): boolean {
  const name = `["'\`]?${RegExp.escape(path.replace(/\/$/, ""))}(?![\\w/-]|\\.\\w)["'\`]?`;
  return new RegExp(`\\b(?:${folderWord.source})\\w*\\s+(?:called\\s+|named\\s+)?${name}|(?<![\\w./-])${name}\\s+(?:${folderWord.source})`, "i").test(request);
}


/** A small model that should make a test pass changes the test. */
function testChanged({ arguments: args }: ToolCall, tool: Tool, { names, request, work }: ObjectionsState): string | undefined {
  const { path } = args;
  if (tool.class !== "write" || typeof path !== "string" || !isTestName(path) || !work || !isFix(work)) return undefined;
  const other = mentionedFiles(request, names?.files ?? []).find((file) => !isTestName(file));
  return other === undefined || !names?.files.includes(path) ? undefined : `nothing was changed: ${path} is the test, and it tells what is right. Change ${other}`;
}
