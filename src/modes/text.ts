// `atomic run`: the reply on stdout, everything else for people on stderr.
import { runPrompts, type Face, type PromptRunOptions } from "./prompt-run.ts";
import { createTextView, type TextViewOptions } from "./text-view.ts";

export interface TextModeOptions extends Omit<PromptRunOptions, "face"> {
  view: TextViewOptions;
}

/** Runs all prompts and resolves with the exit status, that of json-mode.md 9.5. */
export async function runTextMode({ view, ...options }: TextModeOptions): Promise<number> {
  const show = createTextView(view);
  const face: Face = {
    begin: () => "",
    event: show,
    end: ({ outcome }) => {
      const note = outcomeNotes[outcome];
      if (note !== undefined) view.write(`atomic: ${note}\n`);
      return "";
    },
    engine: { provider: "", model: "" },
  };
  return runPrompts({ ...options, face });
}

/** What the messages themselves don't say. */
const outcomeNotes: Partial<Record<string, string>> = {
  empty: "the prompt is empty: nothing was done",
  length: "the reply was cut at the output limit (localModels.completionMaxTokens)",
  max_steps: "stopped at the step limit before the job was done (--max-steps)",
  timeout: "stopped by --timeout",
};
