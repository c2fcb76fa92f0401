// What of the workspace a step's grammar knows: names that exist or are wanted, columns, settings, texts that may be quoted or replaced.
import { mentionedFiles } from "../core/named-files.ts";
import { saidReplacements } from "../core/said-replacements.ts";
import { contentText, type AgentMessage } from "../core/message.ts";
import type { Tool, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import type { LoopGuard } from "./loop-guard.ts";
import type { OfferOptions } from "./offer.ts";
import type { KnownFiles, StepState } from "./step-offer.ts";

/** @param isQuoting whether something is offered that quotes a file */
export async function offeredNames(state: StepState, { changeable, names, seen }: KnownFiles, view: WorkspaceView, isQuoting: boolean): Promise<OfferOptions> {
  const { guard, messages, missing = [], tools, work } = state;
  const request = requestIn(messages);
  const free: OfferOptions = {
    revealed: guard.revealed,
    wanted: work?.isChange === true && !guard.isStuck && names ? newPaths(missing, names, request) : [],
    mayMake: work === undefined || guard.isStuck || work.kinds.has("create"),
    shared: await sharedIn(state, view),
    isAtTop: topWord.test(request),
    replaced: work?.isChange === true && work.kinds.has("replace") && !guard.isStuck ? saidReplacements(request) : [],
    quotes: await quotesFor(tools, guard, view),
  };
  if (!names) return free;
  const known = { ...names, columns: await columnsOf(seen, names, request, view), ...(await settingsOf(seen, request, view)) };
  return { ...free, names: known, seen: changeable, quotable: await quotable(isQuoting ? changeable : [], view) };
}

/** The user's last message. */
export function requestIn(messages: readonly AgentMessage[]): string {
  const request = messages.findLast((message) => message.role === "user");
  return request ? contentText(request.content) : "";
}

const topWord = /\b(?:first|top|begin\w*|start|anfang|erste\w*|oben)\b/i;
const foldersMax = 60;
/** In a few languages: a request that speaks of none wants none made. */
export const folderWord = /folder|director|ordner|verzeichnis|dossier|r[ée]pertoire|carpeta|cartella/i;

/** Of missing files: in a folder that is there, or that the request may be about. */
export function newPaths(missing: readonly string[], { folders }: WorkspaceNames, request: string): string[] {
  const said = !folderWord.test(request) ? [] : request.match(/(?<![\w./-])[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_-]+)*(?![\w/-]|\.\w)/gu) ?? [];
  const places = [...new Set([...folders, ...said])].filter((folder) => folder !== ".").slice(0, foldersMax);
  const files = missing.filter((name) => /\.[^./]+$/.test(name));
  return files.flatMap((name) => [name, ...(name.includes("/") ? [] : places.map((folder) => `${folder}/${name}`))]);
}

async function quotesFor(tools: readonly Tool[], guard: LoopGuard, view: WorkspaceView): Promise<Map<string, { file: string; texts: readonly string[] }>> {
  const quotes = new Map<string, { file: string; texts: readonly string[] }>();
  for (const { name, quotes: quoting } of tools) {
    const file = quoting && guard.failedCall(name)?.arguments[quoting.file];
    const texts = typeof file === "string" ? await view.lines(file) : undefined;
    if (typeof file === "string" && texts) quotes.set(name, { file, texts });
  }
  return quotes;
}

const quotableCharsMax = 6000;

/** Of files beyond the limit any text can be quoted: a grammar of all of them would be slow. */
async function quotable(files: readonly string[], view: WorkspaceView): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  let left = quotableCharsMax;
  for (const file of files) {
    const text = await view.text(file);
    if (text === undefined || text.length > left) continue;
    texts.set(file, text);
    left -= text.length;
  }
  return texts;
}

/** The columns of the files that were seen or are named; none where one of these can't be looked into: any may be written then. */
async function columnsOf(seen: readonly string[], names: WorkspaceNames, request: string, view: WorkspaceView): Promise<string[]> {
  const files = new Set([...seen, ...mentionedFiles(request, names.files)]);
  const columns = await Promise.all([...files].map((file) => view.columns(file)));
  const known = new Set(columns.flat());
  return known.has(undefined) || known.size > columnsMax ? [] : [...known].filter((column) => column !== undefined);
}

const columnsMax = 40;
const settingsMax = 100;

/** For a replacement that names no file. Once something was changed, what is left is looked at file by file. */
async function sharedIn({ existing, guard, messages, work }: StepState, view: WorkspaceView): Promise<readonly string[]> {
  const request = requestIn(messages);
  const isWide = work?.isChange === true && work.kinds.has("replace") && !guard.hasChanged && !guard.isStuck && existing && mentionedFiles(request, existing.files).length === 0;
  return isWide ? view.shared(existing.files, request) : [];
}

/** Those that the request names by their last part, where it names some: behind a name a small model writes on. */
async function settingsOf(seen: readonly string[], request: string, view: WorkspaceView): Promise<{ settings?: string[] }> {
  const known = new Set((await Promise.all(seen.map((file) => view.settings(file)))).flat());
  if (known.has(undefined) || known.size > settingsMax) return {};
  const settings = [...known].filter((key) => key !== undefined);
  const said = settings.filter((key) => new RegExp(`(?<![\\p{L}\\p{N}_])${RegExp.escape(key.slice(key.lastIndexOf(".") + 1))}(?![\\p{L}\\p{N}_])`, "iu").test(request));
  return { settings: said.length > 0 ? said : settings };
}
