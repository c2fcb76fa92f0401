// The questions that wait for a person: opened by a call, closed by the first answer, by a withdrawal or by time.
import type { ApprovalAnswer, ApprovalRequest, Withdrawal } from "../../core/approval.ts";

export type ApprovalOutcome = ApprovalAnswer | { withdrawn: Withdrawal };

export class PendingApprovals {
  readonly #open = new Map<string, { request: ApprovalRequest; settle: (outcome: ApprovalOutcome) => void }>();

  /** Waits for an answer; without one for `timeoutMs` (0 = no limit) the question expires. */
  open(request: ApprovalRequest, timeoutMs: number): Promise<ApprovalOutcome> {
    const { promise, resolve } = Promise.withResolvers<ApprovalOutcome>();
    const timer = timeoutMs > 0 ? setTimeout(() => settle({ withdrawn: "expired" }), Math.min(timeoutMs, timerMax)) : undefined;
    const settle = (outcome: ApprovalOutcome): void => {
      clearTimeout(timer);
      this.#open.delete(request.id);
      resolve(outcome);
    };
    this.#open.set(request.id, { request, settle });
    return promise;
  }

  /** The first answer wins. @returns what was asked, undefined when nothing of that id is open. */
  answer(id: string, answer: ApprovalAnswer): ApprovalRequest | undefined {
    const entry = this.#open.get(id);
    entry?.settle(answer);
    return entry?.request;
  }

  /** Makes one question void, or all of them. */
  withdraw(reason: Withdrawal, id?: string): void {
    const entries = [...this.#open.values()];
    for (const { request, settle } of entries) if (id === undefined || request.id === id) settle({ withdrawn: reason });
  }

  /** In the order of asking. */
  list(): ApprovalRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }
}

const timerMax = 2 ** 31 - 1;
