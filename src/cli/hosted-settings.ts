// How the turns of a sidecar run, from the configuration.
import type { Config } from "../config/schema.ts";
import type { TurnSettings } from "../session/session.ts";
import { providerWaitMs, turnSettings } from "./turn-settings.ts";

/** Steps of a turn are `agent.maxSteps` unless a message says otherwise; more of them come in legs of so many. */
export function hostedSettings(config: Config): TurnSettings {
  const { maxSteps, task } = config.agent;
  return {
    ...turnSettings(config, {}, { thinking: "medium" }),
    maxSteps,
    parkMaxMs: providerWaitMs(config),
    steeringContinues: false,
    hosted: {
      leg: { steps: maxSteps, autoContinue: task.autoContinue },
      durationMaxMs: task.maxDurationMs,
    },
  };
}
