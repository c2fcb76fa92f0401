// A local engine that can't serve (no library for this machine, weights refused, too little memory) gives way to a server,
// once, before anything was generated, and says so.
import type { Engine, TextEngine, TextEvent, TextRequest } from "../core/engine.ts";
import type { Log } from "../core/runtime.ts";

/** `second` is asked for only when the first engine failed before it took a prompt. */
export function withFallback(first: TextEngine, second: () => Promise<TextEngine>, log: Log): Engine {
  let active = first;
  let settled = false;

  async function replacement(request: TextRequest, reason: string): Promise<TextEngine | undefined> {
    const server = await second();
    try {
      await server.open(request.signal, () => {});
    } catch {
      // Nothing there: the first engine's own failure is what the user has to know.
      await server.close();
      return undefined;
    }
    log("warn", `${reason} The llama-server at ${server.info().baseUrl} is used instead.`);
    return server;
  }

  async function* complete(request: TextRequest): AsyncGenerator<TextEvent, void, void> {
    for await (const event of active.complete(request)) {
      if (event.type === "prompt_accepted") settled = true;
      const failedToOpen = event.type === "failed" && !settled && event.failure.kind === "engine" && !request.signal.aborted;
      const server = failedToOpen ? await replacement(request, event.failure.message) : undefined;
      settled ||= failedToOpen;
      if (server) {
        await active.close();
        active = server;
        return yield* active.complete(request);
      }
      yield event;
    }
  }

  return {
    kind: "text",
    info: () => active.info(),
    openState: () => active.openState?.(),
    answersApart: () => active.answersApart?.() === true,
    traits: () => active.traits?.() ?? {},
    countTokens: (text) => active.countTokens?.(text),
    open: (signal, onProgress) => active.open(signal, onProgress),
    complete,
    close: () => active.close(),
  };
}
