// How turns run, from the configuration and the command line.
import type { TurnSettings } from "../session/session.ts";
import type { Config } from "../config/schema.ts";
import type { PromptArguments } from "./arguments.ts";

/** Temperature where nobody asks for another: small models do jobs best without chance. */
const defaultTemperature = 0;

export function turnSettings(config: Config, parsed: PromptArguments): TurnSettings {
  const { agent, llm, localModels } = config;
  return {
    maxSteps: parsed.maxSteps ?? agent.task.maxSteps,
    sampling: {
      temperature: parsed.temperature ?? defaultTemperature,
      ...(parsed.seed === undefined ? {} : { seed: parsed.seed }),
      maxTokens: localModels.completionMaxTokens,
    },
    thinking: parsed.thinking ?? "medium",
    retry: llm.retry,
    loop: { repeatsMax: agent.loop.stopAfterVetoes },
    parallelMax: agent.maxParallelToolCalls,
    toolTimeoutMs: agent.toolTimeoutMs,
    batchResultBytesMax: agent.batchResultMaxChars,
    steeringContinues: true,
  };
}
