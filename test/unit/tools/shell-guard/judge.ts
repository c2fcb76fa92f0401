// The guard's verdict on one line, for tests: a user with a home, a folder in it, and a few variables.
import { judgeCommand, type Verdict } from "../../../../src/tools/shell-guard/guard.ts";

export const home = "/home/ann";
export const cwd = `${home}/code/app`;

export function judge(command: string, folder = cwd): Verdict {
  return judgeCommand(command, { home, cwd: folder, environment: { PATH: "/usr/bin:/bin", SAFE: "/tmp/x" } }, {
    isConfiguration: (path) => path === `${home}/.atomic-agent/config.json` || path === `${home}/.atomic-agent/.env`,
    isSkillScript: (path) => path.startsWith(`${home}/.atomic-agent/skills/pdf/scripts/`),
  });
}

/** The kind, and for a question its categories. */
export function short(command: string, folder = cwd): string {
  const verdict = judge(command, folder);
  return verdict.kind === "asked" ? verdict.categories.join(" ") + (verdict.dangerous ? " dangerous" : "") : verdict.kind;
}
