// What one compaction would do: which messages it may shorten, which lines the planner lets go, and whether what is left is
// worth it. Changes nothing: compactor.ts commits.
import { usageOf, type AgentMessage, type Usage } from "../../core/message.ts";
import { compactedTextOf } from "./boundary.ts";
import { Candidates, type Candidate } from "./candidates.ts";
import type { CompactionRun, CompactorOptions } from "./compactor.ts";
import { isSent } from "./measure.ts";
import { planDeletion } from "./planner.ts";
import { regionLines, regionLinesMin, type RegionLine } from "./region.ts";
import type { Sizes } from "./sizes.ts";

export interface Region {
  /** The messages that the lines come from, with the last boundary. */
  older: readonly AgentMessage[];
  lines: RegionLine[];
  /** What stays as it is. */
  tail: readonly AgentMessage[];
  /** What the user wants, while it is being worked on. */
  request: string | undefined;
}

export interface Proposal {
  candidate?: Candidate;
  /** Why there is no candidate; both are absent when the signal fired. */
  message?: string;
  usage: Usage;
  calls: number;
}

export function regionOf({ midTurn, retries }: CompactionRun, { conversation, entryIdOf, settings }: CompactorOptions, sizes: Sizes): Region {
  const { messages } = conversation;
  const first = compactedTextOf(messages[0]) === undefined ? 0 : 1;
  let start = messages.length;
  for (let kept = 0; start > first && (kept < settings.preserveRecent || (kept > 0 && !canBegin(messages[start], entryIdOf))); ) {
    start--;
    const message = messages[start];
    if (message && isSent(message)) kept++;
  }
  const request = midTurn === true || retries === true ? conversation.request : undefined;
  const older = messages.slice(0, start);
  return { older, lines: linesOf(older, request, sizes), tail: messages.slice(start), request };
}

/** @param tokens the measure that triggered it */
export async function propose(run: CompactionRun, tokens: number, sizes: Sizes, options: CompactorOptions): Promise<Proposal> {
  const { conversation, settings } = options;
  const { lines, older, request, tail } = regionOf(run, options, sizes);
  const isLoadBearing = run.reason === "overflow" || (run.midTurn === true && run.reason === "threshold");
  if (lines.length < regionLinesMin && !isLoadBearing) {
    return { message: `nothing to compact: the older part of the conversation has ${lines.length} lines, fewer than ${regionLinesMin}`, usage: usageOf({}), calls: 0 };
  }
  const query = settings.query ?? (conversation.request || "the latest user request");
  const candidates = new Candidates({ ...options, sizes, query, tokensBefore: tokens });
  const planned = lines.length < regionLinesMin ? undefined : await planDeletion(lines, candidates.target(lines, tail), query, { ...options, sizes, signal: run.signal, reason: run.reason });
  const { usage, calls } = planned ?? { usage: usageOf({}), calls: 0 };
  if (run.signal.aborted) return { usage, calls };
  let candidate = planned && candidates.make(lines, planned.gone, tail, { rung: "planned", planner: planned.planner });
  if (candidate && isEnough(candidate) && !(isLoadBearing && candidate.requestTokens > sizes.hardLimit)) return { candidate, usage, calls };
  // A server that says overflow knows better than an estimate below the limit.
  if (isLoadBearing && (run.reason === "overflow" || tokens > sizes.hardLimit)) {
    const all = linesOf([...older, ...tail], request, sizes);
    candidate = candidates.fresh({ lines, tail, all }) ?? candidate;
  }
  if (candidate && isEnough(candidate)) return { candidate, usage, calls };
  return { message: tooLittle(candidate, tokens, sizes), usage, calls };
}

/** G1; a fresh one has passed its own test (C2). */
function isEnough({ isProgress, result }: Candidate): boolean {
  return isProgress || result.rung === "fresh";
}

function tooLittle(candidate: Candidate | undefined, tokens: number, { hardLimit, progressMin, window }: Sizes): string {
  const freed = candidate ? candidate.result.stats.tokensBefore - candidate.result.stats.tokensAfter : 0;
  const found = tokens > hardLimit ? `the request has ${tokens} tokens, the model's window ${window}, of which ${hardLimit} may be used; ` : "";
  return `${found}a compaction would free ${Math.max(0, freed)} of ${tokens} tokens, fewer than ${progressMin}: nothing was changed`;
}

const charsPerToken = 4;

function linesOf(messages: readonly AgentMessage[], request: string | undefined, { window }: Sizes): RegionLine[] {
  return regionLines(messages, request === undefined ? undefined : { text: request, charsMax: Math.floor(window / 4) * charsPerToken });
}

/** A tail begins with a message that has an entry of its own and is no result of a call before it. */
function canBegin(message: AgentMessage | undefined, entryIdOf: (message: AgentMessage) => string | undefined): boolean {
  return message !== undefined && message.role !== "toolResult" && entryIdOf(message) !== undefined;
}
