// How turns run, from the configuration and the command line.
import type { ThinkingLevel } from "../core/message.ts";
import type { OutputContract, TurnSettings } from "../session/session.ts";
import type { Config } from "../config/schema.ts";
import type { PromptArguments } from "./arguments.ts";

/** Temperature where nobody asks for another: small models do jobs best without chance. */
const defaultTemperature = 0;

/** Longest wait for a provider that went away; JSON mode has none. */
export function providerWaitMs({ agent: { providerWait } }: Config): number {
  return providerWait.enabled ? providerWait.maxWaitMs : 0;
}

export function turnSettings(config: Config, parsed: Pick<PromptArguments, "maxSteps" | "temperature" | "seed">, { thinking, output }: { thinking: ThinkingLevel; output?: OutputContract | undefined }): TurnSettings {
  const { agent, llm, localModels } = config;
  return {
    maxSteps: parsed.maxSteps ?? agent.task.maxSteps,
    sampling: {
      temperature: parsed.temperature ?? defaultTemperature,
      ...(parsed.seed === undefined ? {} : { seed: parsed.seed }),
      maxTokens: localModels.completionMaxTokens,
    },
    thinking,
    retry: llm.retry,
    compaction: agent.compaction,
    loop: { repeatsMax: agent.loop.stopAfterVetoes },
    loopLimits: agent.loop,
    parallelMax: agent.maxParallelToolCalls,
    toolTimeoutMs: agent.toolTimeoutMs,
    batchResultBytesMax: agent.batchResultMaxChars,
    steeringContinues: true,
    ...(output ? { output } : {}),
  };
}
