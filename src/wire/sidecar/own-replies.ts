// What the product itself says where the model did not reply (sidecar.md 5.9).

/** @param stepCount steps of the turn */
export function pausedText(cause: string | undefined, stepCount: number): string {
  const steps = `${stepCount} ${stepCount === 1 ? "step" : "steps"}`;
  const why: Readonly<Record<string, string>> = {
    time_ceiling: `the time for one task was used up after ${steps}`,
    no_progress: `${steps} brought nothing`,
  };
  return `(paused: ${why[cause ?? ""] ?? `${steps} without a reply`}; send a message to go on)`;
}

export const brokenText = "(stopped: the same was tried again and again without anything new; tell me how to go on)";

/** Stands in the transcript of a session where a turn failed. */
export function failedText(message: string): string {
  return `[the turn failed: ${message}]`;
}
