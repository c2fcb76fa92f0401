// One turn at a time, in order of arrival (sidecar.md 3.4). Each has an abort of its own, so that the session outlives it;
// one that is cancelled while it waits is answered in its place without ever beginning.
import type { AbortReason } from "./session.ts";

interface Job {
  /** Never rejects: who asked gets the answer. */
  settle: () => Promise<void>;
  abort: AbortController;
}

export class TurnQueue {
  readonly #jobs: Job[] = [];
  #draining: Promise<void> | undefined;
  #isRunning = false;

  /** Something runs or waits. */
  get isBusy(): boolean {
    return this.#jobs.length > 0;
  }

  /** @param unstarted what is answered when it is cancelled before it begins */
  add<Result>(run: (signal: AbortSignal) => Promise<Result>, unstarted: () => Result): Promise<Result> {
    const answer = Promise.withResolvers<Result>();
    const abort = new AbortController();
    const settle = async (): Promise<void> => {
      try {
        answer.resolve(abort.signal.aborted ? unstarted() : await run(abort.signal));
      } catch (error) {
        answer.reject(error);
      }
    };
    this.#jobs.push({ settle, abort });
    this.#draining ??= this.#drain();
    return answer.promise;
  }

  /** Ends the running turn and takes all that wait from the queue; `queued` is their number. */
  cancel(reason: AbortReason): { wasRunning: boolean; queued: number } {
    const waiting = this.#jobs.filter(({ abort }, index) => !(this.#isRunning && index === 0) && !abort.signal.aborted);
    const wasRunning = this.#isRunning;
    for (const { abort } of this.#jobs) abort.abort(reason);
    return { wasRunning, queued: waiting.length };
  }

  /** Resolves when nothing runs and nothing waits, and all answers are out. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    for (let job = this.#jobs[0]; job !== undefined; job = this.#jobs[0]) {
      this.#isRunning = !job.abort.signal.aborted;
      await job.settle();
      this.#isRunning = false;
      this.#jobs.shift();
      // Its answer is written before anything of the next turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#draining = undefined;
  }
}
