// Decides whether a call may run: the level first, then what was granted for the session, then a person, if one can be
// asked. A refusal is a tool error that names the category and the level that would allow it.
import type { ApprovalLevel, ApprovalNeed, AskApproval } from "../core/approval.ts";
import { ToolError } from "../core/error.ts";
import type { ToolCall } from "../core/message.ts";

export class Approvals {
  readonly #level: ApprovalLevel;
  readonly #ask: AskApproval | undefined;
  readonly #granted = new Set<string>();

  constructor(level: ApprovalLevel, ask?: AskApproval) {
    this.#level = level;
    this.#ask = ask;
  }

  /** @throws ToolError with `details {denied, category, level}` when the call may not run. */
  async check(call: ToolCall, needs: readonly ApprovalNeed[], signal: AbortSignal): Promise<void> {
    for (const need of needs) {
      if (this.#level >= need.silentFrom || this.#granted.has(grantOf(need))) continue;
      if (!this.#ask) throw denied(need, `${need.reason}: not allowed at approval level ${this.#level} (${need.category}${levelHint(need)})`);
      const answer = await this.#ask(need, { id: call.id, name: call.name }, signal);
      if (!answer.approved) throw denied(need, `approval denied for ${call.name}${answer.reason ? `: ${answer.reason}` : ""}`);
      if (answer.grant === "session" && need.grantKey !== undefined) this.#granted.add(grantOf(need));
    }
  }
}

function grantOf(need: ApprovalNeed): string {
  return `${need.category}\n${need.grantKey ?? ""}`;
}

function levelHint(need: ApprovalNeed): string {
  return need.silentFrom <= 5 ? ` needs level ${need.silentFrom}` : " always has to be asked for, and nobody can be asked here";
}

function denied(need: ApprovalNeed, message: string): ToolError {
  return new ToolError(message, { details: { denied: true, category: need.category, level: need.silentFrom } });
}
