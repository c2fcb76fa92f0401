// Decides whether a call may run: the level first, then what was granted for the session, then a person, if one can be
// asked. A refusal is a tool error that names the category and the level that would allow it.
import { type ApprovalAnswer, type ApprovalLevel, type ApprovalNeed, type ApprovalRequest, approvalCategories, type Asker, type Binding, type Withdrawal } from "../../core/approval.ts";
import { ToolError } from "../../core/error.ts";
import { escapeControls, escapeLine } from "../../core/escape-controls.ts";
import type { Emit } from "../../core/event.ts";
import type { ToolCall } from "../../core/message.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { Tool, ToolContext } from "../../core/tool.ts";
import { canonicalJson, changedPath, commandHash } from "./command-hash.ts";
import { type ApprovalOutcome, PendingApprovals } from "./pending.ts";

export interface ApprovalsOptions {
  level: ApprovalLevel;
  /** Absent = nobody can be asked: what needs a question is refused at once. */
  asker?: Asker | undefined;
  /** Milliseconds after which a question expires; 0 = never. */
  timeoutMs: number;
  /** Takes the reading of a folder that was granted for the session. */
  allowRead?: ((folder: string) => void) | undefined;
  emit: Emit;
  runtime: Pick<Runtime, "now" | "id">;
}

export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #pending = new PendingApprovals();
  readonly #granted = new Set<string>();
  /** Calls that were denied in this turn. */
  readonly #denied = new Set<string>();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
  }

  /**
   * Returns when the call may run, just now and as it was judged.
   * @throws ToolError with `details {denied, category, level}` when it may not, and when it is no longer what was approved.
   */
  async check(call: ToolCall, tool: Tool, args: Record<string, unknown>, context: ToolContext): Promise<void> {
    const { level, asker } = this.#options;
    const needs = (await tool.needs(args, context)).filter((need) => level < need.silentFrom);
    if (needs.length === 0) return;
    const bind = async (): Promise<Binding> => (await tool.binding?.(args, context)) ?? { cwd: context.workspace, files: resourcesOf(needs).map((path) => ({ path })) };
    const binding = await bind();
    const hash = commandHash(call.name, args, binding);
    const open = needs.filter((need) => !this.#granted.has(grantKey(need, hash)));
    const need = strongest(open);
    if (need === undefined) return;
    if (!asker) throw denied(need, `${escapeLine(need.reason)}: not allowed at approval level ${level} (${need.category} needs level ${need.silentFrom})`);
    const same = canonicalJson([call.name, args]);
    if (this.#denied.has(same)) throw denied(need, `approval denied for ${call.name}: the same call was denied before in this turn, so it was not asked for again`);
    const outcome = await this.#ask(asker, this.#request(call, need, open, hash), context.signal);
    if (!("approved" in outcome) || !outcome.approved) {
      if (!("withdrawn" in outcome) || outcome.withdrawn === "expired") this.#denied.add(same);
      throw denied(need, refusal(call, outcome));
    }
    if (outcome.grant === "session" && need.grant !== undefined) this.#grant(need, hash);
    const changed = changedPath(binding, await bind());
    if (changed !== undefined) throw new ToolError(`changed after approval: ${changed}`);
    await tool.approved?.(args, context);
  }

  /** The first answer wins. @returns what was granted; undefined when nothing of that id is open. */
  answer(id: string, answer: ApprovalAnswer): { grant?: "once" | "session" } | undefined {
    const request = this.#pending.answer(id, answer);
    if (request === undefined) return undefined;
    if (!answer.approved) return {};
    return { grant: request.need.grant === undefined ? "once" : answer.grant };
  }

  /** Makes every open question void. */
  withdraw(reason: Withdrawal): void {
    this.#pending.withdraw(reason);
  }

  /** The open questions, in the order of asking. */
  pending(): ApprovalRequest[] {
    return this.#pending.list();
  }

  /** What was denied may be asked for again: a turn begins, or the user said something in between. */
  forgetDenials(): void {
    this.#denied.clear();
  }

  #request(call: ToolCall, need: ApprovalNeed, open: readonly ApprovalNeed[], hash: string): ApprovalRequest {
    const { timeoutMs, runtime } = this.#options;
    const affectedResources = resourcesOf(open).map(escapeLine);
    const preview = need.preview === undefined ? {} : { preview: escapeControls(need.preview) };
    return {
      id: runtime.id(),
      call,
      need: { ...need, reason: escapeLine(need.reason), ...preview, affectedResources },
      commandHash: hash,
      ...(timeoutMs > 0 ? { expiresAt: runtime.now() + timeoutMs } : {}),
    };
  }

  /** Open before it is told, since the answer may come while it is being told. */
  async #ask(asker: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalOutcome> {
    const { emit, timeoutMs } = this.#options;
    if (signal.aborted) return { withdrawn: "cancelled" };
    const closed = new AbortController();
    const onAbort = (): void => this.#pending.withdraw("cancelled", request.id);
    signal.addEventListener("abort", onAbort, { once: true });
    const answered = this.#pending.open(request, timeoutMs);
    try {
      await emit({ type: "approval_requested", request });
      if (asker !== "reader") {
        // An asker that fails denies.
        const answer = asker(request, closed.signal).catch((error: unknown): ApprovalAnswer => ({ approved: false, reason: String(error) }));
        void answer.then((given) => this.#pending.answer(request.id, given));
      }
      const outcome = await answered;
      if ("withdrawn" in outcome) await emit({ type: "approval_withdrawn", approvalId: request.id, reason: outcome.withdrawn });
      return outcome;
    } finally {
      this.#pending.withdraw("cancelled", request.id);
      closed.abort();
      signal.removeEventListener("abort", onAbort);
    }
  }

  #grant(need: ApprovalNeed, hash: string): void {
    this.#granted.add(grantKey(need, hash));
    if (need.category === "fs_read_outside" && typeof need.grant === "object") this.#options.allowRead?.(need.grant.root);
  }
}

/** The highest level wins; then a narrower category over `shell`, then the order of the table. */
export function strongest(needs: readonly ApprovalNeed[]): ApprovalNeed | undefined {
  const rank = ({ category }: ApprovalNeed): number => (category === "shell" ? approvalCategories.length : approvalCategories.indexOf(category));
  return needs.toSorted((a, b) => b.silentFrom - a.silentFrom || rank(a) - rank(b))[0];
}

function resourcesOf(needs: readonly ApprovalNeed[]): string[] {
  return [...new Set(needs.flatMap((need) => need.affectedResources))];
}

function grantKey({ category, grant }: ApprovalNeed, hash: string): string {
  const covers = grant === "call" ? hash : typeof grant === "object" ? grant.root : (grant ?? "nothing");
  return `${category}\n${covers}`;
}

function refusal(call: ToolCall, outcome: ApprovalOutcome): string {
  if ("withdrawn" in outcome) return outcome.withdrawn === "expired" ? `approval expired for ${call.name}` : `cancelled: the approval for ${call.name} was withdrawn`;
  const reason = outcome.approved ? undefined : outcome.reason;
  return `approval denied for ${call.name}${reason ? `: ${reason}` : ""}`;
}

function denied(need: ApprovalNeed, message: string): ToolError {
  return new ToolError(message, { details: { denied: true, category: need.category, level: need.silentFrom } });
}
