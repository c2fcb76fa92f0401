// How turns run, from the configuration and the command line.
import type { ThinkingLevel } from "../core/message.ts";
import type { OutputContract, TurnSettings } from "../session/session.ts";
import type { Config } from "../config/schema.ts";
import type { PromptArguments } from "./arguments.ts";

/** Shares of `localModels.reasoningBudgetTokens`. */
const thinkingShares: Record<ThinkingLevel, number> = { off: 0, minimal: 0.25, low: 0.5, medium: 1, high: 2, xhigh: 2, max: 2 };

/** Most tokens of thinking before each answer. */
export function thinkingTokens(level: ThinkingLevel, { thinking, reasoningBudgetTokens }: Pick<Config["localModels"], "thinking" | "reasoningBudgetTokens">): number {
  const asked = thinking === "off" ? "off" : thinking === "on" && level === "off" ? "medium" : level;
  return Math.round(reasoningBudgetTokens * thinkingShares[asked]);
}

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
    thinkingTokensMax: thinkingTokens(thinking, localModels),
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
