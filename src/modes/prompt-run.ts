// The JSON event stream (json-mode.md): header, the events of each prompt, `agent_settled`. How a run goes is prompt-run's.
import type { AgentEvent } from "../core/event.ts";
import { createJsonProjection } from "../wire/json/project.ts";
import type { SessionHeader } from "../wire/json/schema.ts";
import { encodeLine } from "../wire/lines.ts";
import { type PromptRunOptions, runPrompts } from "./prompt-run.ts";

export interface JsonModeOptions extends PromptRunOptions {
  header: SessionHeader;
  updates: "snapshot" | "delta";
}

/**
 * Writes the whole stream and resolves with the exit status when its last line has left. Failures before the header are the
 * caller's: then stdout stays empty.
 */
export async function runJsonMode(options: JsonModeOptions): Promise<number> {
  const { header, updates } = options;
  const project = createJsonProjection({ updates });
  return await runPrompts(options, { provider: header.provider ?? "", model: header.model ?? "" }, (write) => ({
    begin: () => void write(encodeLine(header)),
    show(event: AgentEvent) {
      let room: Promise<void> | undefined;
      for (const frame of project(event)) room = write(encodeLine(frame));
      return room;
    },
    settle: (end) => void write(encodeLine({ type: "agent_settled", ...end })),
  }));
}
