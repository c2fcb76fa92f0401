// What one step offers a model: the tools, without those it is going in circles with; for a text engine also the names that
// exist, the arguments it may use and the calls it must not make again.
import { contentText, type AgentMessage } from "../core/message.ts";
import type { Tool, ToolSpec, WorkspaceNames } from "../core/tool.ts";
import type { ForbiddenObject } from "./grammar.ts";
import type { LoopGuard } from "./loop-guard.ts";
import type { OfferOptions } from "./offer.ts";

export interface StepOffer {
  tools: readonly ToolSpec[];
  /** Arguments, by tool, that a text engine must not write. */
  forbidden: ReadonlyMap<string, readonly ForbiddenObject[]>;
  options: OfferOptions;
}

/** Lists what is in the workspace; undefined when that is too much to offer. */
export type ListNames = () => Promise<WorkspaceNames | undefined>;

export const replyOnly: StepOffer = { tools: [], forbidden: new Map(), options: {} };

export async function stepOffer(tools: readonly Tool[], guard: LoopGuard, messages: readonly AgentMessage[], listNames: ListNames | undefined): Promise<StepOffer> {
  const offered = tools.filter((tool) => !guard.excluded.has(tool.name));
  const listed = await listNames?.();
  const named = listed ? messages.flatMap((message) => (message.role === "user" ? pathsIn(contentText(message.content)) : [])) : [];
  const names = listed && { files: [...listed.files, ...named], folders: [...listed.folders, ...named] };
  const options: OfferOptions = { revealed: guard.revealed, ...(names ? { names } : {}) };
  return { tools: offered, forbidden: guard.forbidden(options), options };
}

/** Paths outside the workspace that a user wrote: the only ones that a listing can't know. */
function pathsIn(text: string): string[] {
  const found = text.match(/(?<![\w/.~])(?:~|\.\.)?\/[^\s'"`<>|:*?]*[^\s'"`<>|:*?.,;)]/g) ?? [];
  return [...new Set(found)];
}
