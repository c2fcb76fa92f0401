// Whether a question was looked into enough: something was found with a tool for it, and what came after brings nothing that
// is. A very small model never thinks so itself, and takes the last thing that it saw for the answer: it replies to the first that
// fits. A larger one has replied before this tells.
import { contentText, type ToolCall, type ToolResultMessage } from "../core/message.ts";
import { importedFiles, mentionedFiles, mentionedFolders } from "../core/named-files.ts";
import type { Tool, WorkspaceNames } from "../core/tool.ts";
import type { Conversation } from "./conversation.ts";
import { isKnown } from "./known-files.ts";
import { foundNothing } from "./loop-guard.ts";
import { fileArguments } from "./offer.ts";
import { isFor, isOnly, isTalk, type Work } from "./work-plan.ts";

interface Known {
  conversation: Pick<Conversation, "messages" | "request">;
  names: WorkspaceNames | undefined;
  /** The files that the question is about where it names none. */
  unnamed: readonly string[];
}

const never = (_result: ToolResultMessage): boolean => false;

/** Steps behind a fitting one that find something else. */
const straysMax = 2;

export class Looking {
  readonly #tools: ReadonlyMap<string, Tool>;
  /** Results so far: the same once more is nothing new. */
  readonly #texts = new Set<string>();
  readonly #straysMax: number;
  #hasFound = false;
  #strays = 0;
  #leadsOn = false;
  /** All that the request names was looked at: what is near it only leads away. */
  #hasAll = false;

  /** @param isVerySmall whether the first thing that fits is enough */
  constructor(tools: readonly Tool[], isVerySmall: boolean) {
    this.#straysMax = isVerySmall ? 0 : straysMax;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get isOver(): boolean {
    return this.#hasFound && !this.#leadsOn && (this.#hasAll || this.#strays >= this.#straysMax);
  }

  /** Takes a step: also what of the request's files it showed, and where these lead. */
  take(work: Work, calls: readonly ToolCall[], results: readonly ToolResultMessage[], { conversation, names, unnamed }: Known): void {
    const { messages, request } = conversation;
    const tools = [...this.#tools.values()];
    const files = names?.files ?? [];
    const named = new Set(mentionedFiles(request, files));
    const shownBy = ({ toolCallId, toolName }: ToolResultMessage): unknown[] => {
      const tool = this.#tools.get(toolName);
      const call = calls.find(({ id }) => id === toolCallId);
      return tool?.class === "read" ? fileArguments(tool).map((argument) => call?.arguments[argument]) : [];
    };
    const isNew = (file: string, shown: readonly unknown[]): boolean => !shown.includes(file) && !isKnown(file, messages, tools);
    this.record(
      work,
      results,
      (result) => shownBy(result).some((file) => named.has(String(file))),
      (result) => shownBy(result).length > 0 && [...mentionedFiles(contentText(result.content), files), ...importedFiles(contentText(result.content), files)].some((file) => isNew(file, shownBy(result))),
    );
    const done = results.filter(({ isError }) => !isError);
    const shown = new Set(done.flatMap(shownBy));
    const asked = named.size > 0 ? [...named] : unnamed;
    const isRead = asked.length > 0 && asked.every((file) => shown.has(file) || isKnown(file, messages, tools));
    // What was searched for before is not searched for once more, in other words, behind the file itself.
    const isAboutFiles = isOnly(work, "read") || isOnly(work, "search");
    if (isAboutFiles ? isRead : isOnly(work, "list") && this.#isListed(calls, done, mentionedFolders(request, names?.folders ?? []))) this.#hasAll = true;
  }

  /** A folder that the request names was listed. */
  #isListed(calls: readonly ToolCall[], results: readonly ToolResultMessage[], named: readonly string[]): boolean {
    return results.some(({ toolCallId, toolName }) => this.#tools.get(toolName)?.serves?.includes("list") && named.includes(String(calls.find(({ id }) => id === toolCallId)?.arguments["path"])));
  }

  /**
   * Takes the results of a step.
   * @param isNamed whether a result shows a file that the request names, which fits whatever it asks for
   * @param leadsOn whether a result shows a file that speaks of another one, which was not looked at
   */
  record(work: Work, results: readonly ToolResultMessage[], isNamed = never, leadsOn = never): void {
    if (work.isChange || isTalk(work)) return;
    const found = results.filter((result) => !result.isError && !foundNothing(result) && !this.#texts.has(contentText(result.content)));
    this.#leadsOn = found.some(leadsOn);
    for (const { content } of results) this.#texts.add(contentText(content));
    const fits = found.some((result) => {
      const tool = this.#tools.get(result.toolName);
      return (tool !== undefined && isFor(tool, work)) || isNamed(result);
    });
    if (fits) this.#strays = 0;
    else if (this.#hasFound) this.#strays += found.length > 0 ? 1 : this.#straysMax;
    this.#hasFound ||= fits;
  }
}
