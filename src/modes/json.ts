// The JSON event stream: header, events of each prompt, `agent_settled` (json-mode.md).
import { createJsonProjection } from "../wire/json/project.ts";
import type { SessionHeader } from "../wire/json/schema.ts";
import { encodeLine } from "../wire/lines.ts";
import { runPrompts, type Face, type PromptRunOptions } from "./prompt-run.ts";

export type { DrivenSession, PromptContent } from "./prompt-run.ts";

export interface JsonModeOptions extends Omit<PromptRunOptions, "face"> {
  header: SessionHeader;
  updates: "snapshot" | "delta";
}

/** Runs the whole stream and resolves with the exit status (9.5) when the last line has left. */
export async function runJsonMode({ header, updates, ...options }: JsonModeOptions): Promise<number> {
  const project = createJsonProjection({ updates });
  const face: Face = {
    begin: () => encodeLine(header),
    event: (event) => project(event).map(encodeLine).join(""),
    end: encodeLine,
    engine: { provider: header.provider ?? "", model: header.model ?? "" },
  };
  return runPrompts({ ...options, face });
}
