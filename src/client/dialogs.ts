// Questions that the sidecar asks: each is put to the host once, and closed when it is void.
import type { ApprovalResponsePayload, SidecarEventPayloads } from "../wire/sidecar/schema.ts";

export type ApprovalRequest = SidecarEventPayloads["approval_request"];
export type ApprovalAnswer = Omit<ApprovalResponsePayload, "approvalId">;

/**
 * Shows a question and resolves with the answer. The signal is aborted when the question is void (cancelled, expired, the
 * session or the process ended): then close the dialog; whatever is answered is not sent. To throw is to deny.
 */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => ApprovalAnswer | Promise<ApprovalAnswer>;

export class Dialogs {
  readonly #ask: AskApproval;
  readonly #open = new Map<string, AbortController>();

  constructor(ask: AskApproval = () => ({ approved: false, reason: "this host has nobody to ask" })) {
    this.#ask = ask;
  }

  /** @returns the answer to send; undefined when the question was void before there was one */
  async put(request: ApprovalRequest): Promise<ApprovalResponsePayload | undefined> {
    const controller = new AbortController();
    this.#open.set(request.approvalId, controller);
    const answer = await this.#answer(request, controller.signal);
    if (controller.signal.aborted) return undefined;
    this.#open.delete(request.approvalId);
    return { approvalId: request.approvalId, ...answer };
  }

  withdraw(approvalId: string, reason: string): void {
    this.#open.get(approvalId)?.abort(reason);
    this.#open.delete(approvalId);
  }

  closeAll(reason: string): void {
    for (const approvalId of this.#open.keys()) this.withdraw(approvalId, reason);
  }

  async #answer(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    try {
      return await this.#ask(request, signal);
    } catch (error) {
      return { approved: false, reason: `the host could not ask: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
}
