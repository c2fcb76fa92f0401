// What a compaction would leave, worked out before anything is changed: text, numbers, and the request that would follow.
import type { VerbatimCompactionResult } from "../../core/compaction.ts";
import type { Engine } from "../../core/engine.ts";
import type { AgentMessage, CustomMessage } from "../../core/message.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ToolSpec } from "../../core/tool.ts";
import type { Conversation } from "../conversation.ts";
import type { SystemText } from "../prompt.ts";
import { compactionMessage } from "./boundary.ts";
import { requestTokens, textTokens } from "./measure.ts";
import { unprotectedLines } from "./plan.ts";
import { rebuild } from "./rebuild.ts";
import { regionLines, type RegionLine } from "./region.ts";
import { ratioOf, type CompactionSettings, type Sizes } from "./sizes.ts";

export interface CandidatesOptions {
  engine: Engine;
  conversation: Conversation;
  system: SystemText;
  tools: readonly ToolSpec[];
  settings: CompactionSettings;
  sizes: Sizes;
  query: string;
  /** The measure that triggered the compaction. */
  tokensBefore: number;
  entryIdOf: (message: AgentMessage) => string | undefined;
  runtime: Runtime;
}

export interface Candidate {
  result: VerbatimCompactionResult;
  boundary: CustomMessage;
  /** Messages that stay behind the boundary. */
  tailLength: number;
  /** Of the request that follows. */
  requestTokens: number;
  /** It frees enough (G1). */
  isProgress: boolean;
}

type Chosen = { rung: "planned"; planner: "model" | "mechanical" } | { rung: "fresh" };

export class Candidates {
  readonly #options: CandidatesOptions;

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  /** Lines to keep: the wanted share, fewer when half the window is less, never fewer than are protected. */
  target(lines: readonly RegionLine[], tail: readonly AgentMessage[]): number {
    const { engine, settings, sizes } = this.#options;
    const room = Math.floor(sizes.window / 2) - this.#requestTokens(this.#boundary(""), tail.length);
    const lineTokens = textTokens(engine, textOf(lines)) / lines.length;
    const most = Math.max(0, Math.floor(room / lineTokens));
    const protectedCount = lines.filter(({ isProtected }) => isProtected).length;
    return Math.max(protectedCount, Math.min(Math.round(lines.length * ratioOf(settings)), most));
  }

  make(lines: readonly RegionLine[], gone: ReadonlySet<number>, tail: readonly AgentMessage[], chosen: Chosen): Candidate {
    const { engine, entryIdOf, query, settings, sizes, tokensBefore } = this.#options;
    const { text, linesDeleted, rangeCount } = rebuild(lines, gone);
    const tailTokens = textTokens(engine, textOf(regionLines(tail)));
    const before = textTokens(engine, textOf(lines)) + tailTokens;
    const after = textTokens(engine, text) + tailTokens;
    const [first] = tail;
    const boundary = this.#boundary(text);
    const result: VerbatimCompactionResult = {
      compactedText: text,
      firstKeptEntryId: (first && entryIdOf(first)) ?? null,
      tokensBefore,
      stats: {
        linesBefore: lines.length,
        linesDeleted,
        linesKept: lines.length - linesDeleted,
        rangeCount,
        tokensBefore: before,
        tokensAfter: after,
        percentReduction: before === 0 ? 0 : Math.round(1000 * (1 - after / before)) / 10,
      },
      parameters: { compression_ratio: ratioOf(settings), preserve_recent: settings.preserveRecent, query },
      promptVersion: 3,
      rung: chosen.rung,
      ...(chosen.rung === "planned" ? { planner: chosen.planner } : {}),
    };
    return { result, boundary, tailLength: tail.length, requestTokens: this.#requestTokens(boundary, tail.length), isProgress: before - after >= sizes.progressMin };
  }

  /**
   * Every unprotected line goes, and the tail with them when it does not fit by itself.
   * @param all lines of region and tail
   * @returns undefined when neither frees enough or makes the request fit
   */
  fresh({ lines, tail, all }: { lines: readonly RegionLine[]; tail: readonly AgentMessage[]; all: readonly RegionLine[] }): Candidate | undefined {
    const { sizes: { hardLimit }, tokensBefore } = this.#options;
    const helps = ({ isProgress, requestTokens }: Candidate): boolean => isProgress || (tokensBefore > hardLimit && requestTokens <= hardLimit);
    const withTail = this.make(lines, unprotectedLines(lines), tail, { rung: "fresh" });
    if (helps(withTail) && withTail.requestTokens <= hardLimit) return withTail;
    const withoutTail = this.make(all, unprotectedLines(all), [], { rung: "fresh" });
    if (helps(withoutTail) && withoutTail.requestTokens < withTail.requestTokens) return withoutTail;
    return helps(withTail) ? withTail : undefined;
  }

  #boundary(text: string): CustomMessage {
    return compactionMessage(text, this.#options.runtime.now());
  }

  #requestTokens(boundary: CustomMessage, tailLength: number): number {
    return requestTokens({ ...this.#options, conversation: this.#options.conversation.compacted(boundary, tailLength) });
  }
}

function textOf(lines: readonly RegionLine[]): string {
  return lines.map(({ text }) => text).join("\n");
}
