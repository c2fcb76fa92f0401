// How a key is called: in the file (`agent.maxSteps`), in the environment (`ATOMIC_AGENT_AGENT_MAX_STEPS`), and what
// somebody may have meant who wrote it wrong.
import { nearest } from "../core/nearest.ts";
import { keysByName } from "./schema.ts";

export const variablePrefix = "ATOMIC_AGENT_";
export const stateDirVariable = "ATOMIC_AGENT_STATE_DIR";

/** The variable that sets a key: the path in upper case, words of camelCase split. */
export function variableOf(name: string): string {
  return variablePrefix + name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll(".", "_").toUpperCase();
}

/** Keys by the variable that sets them. */
export function keyNamesByVariable(): Map<string, string> {
  return new Map([...keysByName.keys()].map((name) => [variableOf(name), name]));
}

/** The key or group that was probably meant: the same last word elsewhere, else the fewest edits. */
export function nearestKey(name: string): string | undefined {
  const keys = [...keysByName.keys()];
  const lastWord = name.slice(name.lastIndexOf(".") + 1);
  return keys.find((key) => key.endsWith(`.${lastWord}`)) ?? nearest(name, [...keys, ...groupNames()]);
}

/** The names of all groups of keys, such as `agent.loop`. */
export function groupNames(): Set<string> {
  const groups = new Set<string>();
  for (const name of keysByName.keys()) {
    for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) groups.add(name.slice(0, dot));
  }
  return groups;
}

export function didYouMean(candidate: string | undefined): string {
  return candidate === undefined ? "" : `; did you mean ${candidate}?`;
}
