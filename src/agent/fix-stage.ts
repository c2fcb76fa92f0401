// How something that does not work is mended: what the request names is read and run, one place is changed, and it is run again,
// as long as it fails. Left to itself a small model changes what it did not run, and looks elsewhere when it still fails.
import { isTestName } from "../core/named-files.ts";
import type { Tool } from "../core/tool.ts";
import type { LoopGuard } from "./loop-guard.ts";
import type { Work } from "./work-plan.ts";

/** What is to be done next. */
export type FixStage = "run" | "look" | "edit";

export function isFix({ isChange, kinds }: Work): boolean {
  return isChange && kinds.has("run") && kinds.has("edit");
}

export interface FixState {
  guard: LoopGuard;
  work: Work | undefined;
  /** Files that the request names and nothing looked at. */
  missed: readonly string[];
  /** Files that were looked at. */
  seen: readonly string[];
}

/** About five tries. */
const stepsMax = 14;

/** undefined where nothing is to be mended, where it works, and after some tries. */
export function fixStage({ guard, missed, seen, work }: FixState): FixStage | undefined {
  if (work === undefined || !isFix(work) || missed.length > 0 || guard.steps >= stepsMax) return undefined;
  if (!guard.hasRun) return "run";
  if (!guard.hasFailedRun) return undefined;
  return seen.some((file) => !isTestName(file)) ? "edit" : "look";
}

/** The tools for it; none where it has to be done in another way. */
export function fixTools(stage: FixStage, tools: readonly Tool[]): Tool[] {
  if (stage === "run") return tools.filter((tool) => tool.class === "shell");
  if (stage === "look") return tools.filter((tool) => tool.serves?.includes("read"));
  return tools.filter((tool) => tool.quotes !== undefined && tool.serves?.includes("edit") === true && tool.takesFolder !== true);
}
