// The skills of the session that runs, as the sidecar's requests see them (sidecar.md section 9).
import type { ResponsePayloads, SkillSummary } from "../../wire/sidecar/schema.ts";

export interface SkillDesk {
  /** Reads the folders again; true when the list is not the one that was told last. A broken skill is warned of. */
  read(workingDir: string, warn: (message: string) => void): Promise<boolean>;
  /** As read last, by name. */
  list(): SkillSummary[];
  /** @throws AgentError that says what is wrong with the source */
  install(sourcePath: string, force: boolean): Promise<ResponsePayloads["skill_install"]>;
  uninstall(name: string): Promise<boolean>;
}
